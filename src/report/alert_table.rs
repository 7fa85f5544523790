//! How alerts stand, for a terminal.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use comfy_table::{CellAlignment, Table, presets::NOTHING};

use super::{
    alerts::{Alerts, DeliveryView},
    words::printable,
};
use crate::store::{
    alerts::{Alert, Alerted},
    silences::Silence,
};

/// Prints what is alerted now, the silences that hold, how deliveries go, and the newest alerts.
#[must_use]
pub fn alerts_table(alerts: &Alerts, zone: Tz) -> String {
    let mut lines = vec![format!("times of {zone}")];
    if alerts.standings.is_empty() {
        lines.push("nothing is alerted".to_owned());
    } else {
        lines.push("\nalerted now".to_owned());
        let mut table = table(&["environment", "what", "level", "since", "peak", "at", "silenced"]);
        table.add_rows(alerts.standings.iter().map(|own| standing(alerts, own, zone)));
        if let Some(peak) = table.column_mut(4) {
            peak.set_cell_alignment(CellAlignment::Right);
        }
        lines.push(table.to_string());
    }
    if !alerts.silences.is_empty() {
        lines.push(format!("\n{}", silences_table(&alerts.silences, zone).trim_end()));
    }
    lines.push(format!("\n{}", delivery(&alerts.delivery, zone)));
    if !alerts.alerts.is_empty() {
        lines.push("\nnewest alerts".to_owned());
        let mut table = table(&[
            "created",
            "environment",
            "what",
            "kind",
            "level",
            "state",
            "sent at",
            "held by",
        ]);
        table.add_rows(alerts.alerts.iter().map(|alert| told(alert, zone)));
        lines.push(table.to_string());
    }
    lines.join("\n") + "\n"
}

/// Prints the silences that hold.
#[must_use]
pub fn silences_table(silences: &[Silence], zone: Tz) -> String {
    if silences.is_empty() {
        return "nothing is silenced\n".to_owned();
    }
    let mut table = table(&["environment", "limit", "until", "reason"]);
    table.add_rows(silences.iter().map(|silence| {
        [
            printable(&silence.environment),
            printable(&silence.limit),
            time(silence.until, zone),
            printable(&silence.reason),
        ]
    }));
    format!("silenced\n{table}\n")
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    table
}

fn time(instant: DateTime<Utc>, zone: Tz) -> String {
    instant.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string()
}

fn none() -> String {
    "–".to_owned()
}

/// What concerns no environment in particular concerns all of them.
fn environment(name: &str) -> String {
    if name.is_empty() {
        "all".to_owned()
    } else {
        printable(name)
    }
}

fn standing(alerts: &Alerts, own: &Alerted, zone: Tz) -> [String; 7] {
    let time = |instant| time(instant, zone);
    let silence = alerts.silence_of(own);
    [
        environment(&own.environment),
        printable(&own.key),
        own.level.to_string(),
        own.since.map_or_else(none, time),
        own.peak.map_or_else(none, |peak| peak.count.to_string()),
        own.peak.map_or_else(none, |peak| time(peak.at)),
        silence.map_or_else(none, |silence| format!("until {}", time(silence.until))),
    ]
}

fn told(alert: &Alert, zone: Tz) -> [String; 8] {
    let held_by = alert.held_by.as_deref().filter(|_| alert.state == "pending");
    [
        time(alert.created_at, zone),
        environment(&alert.environment),
        printable(&alert.key),
        alert.kind.to_string(),
        alert.level.to_string(),
        alert.state.clone(),
        alert.sent_at.map_or_else(none, |sent| time(sent, zone)),
        held_by.map_or_else(none, printable),
    ]
}

fn delivery(delivery: &DeliveryView, zone: Tz) -> String {
    if !delivery.configured {
        return "alerts are only recorded: the catalog has no [ntfy]".to_owned();
    }
    let mut parts = vec![match delivery.waiting {
        0 => "no alert waits to be sent".to_owned(),
        1 => "1 alert waits to be sent".to_owned(),
        waiting => format!("{waiting} alerts wait to be sent"),
    }];
    let closed = delivery.closed_until;
    parts.extend(closed.map(|until| format!("the server is not asked before {}", time(until, zone))));
    let error = delivery.error.as_deref().map(printable);
    parts.extend(error.map(|error| format!("{} failed in a row: {error}", delivery.failures)));
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{alert::Kind, alert::Level, store::alerts::AlertPeak};

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn alerts() -> Alerts {
        Alerts {
            standings: vec![
                Alerted {
                    environment: String::new(),
                    key: "service:redis".to_owned(),
                    limit: None,
                    level: Level::Critical,
                    since: None,
                    peak: None,
                    last_high: None,
                },
                Alerted {
                    environment: "prod".to_owned(),
                    key: "login.ip:refused".to_owned(),
                    limit: Some("login.ip".to_owned()),
                    level: Level::Refused,
                    since: Some(at("2025-03-10T15:05:00Z")),
                    peak: Some(AlertPeak {
                        count: 7,
                        at: at("2025-03-10T15:06:00Z"),
                    }),
                    last_high: None,
                },
            ],
            silences: vec![Silence {
                environment: "prod".to_owned(),
                limit: "login.ip".to_owned(),
                until: at("2025-03-11T03:00:00Z"),
                reason: "load\ttest".to_owned(),
            }],
            delivery: DeliveryView {
                configured: true,
                waiting: 1,
                closed_until: Some(at("2025-03-10T15:30:00Z")),
                failures: 2,
                error: Some("no answer".to_owned()),
            },
            alerts: vec![Alert {
                id: 1,
                environment: "prod".to_owned(),
                key: "login.ip".to_owned(),
                kind: Kind::Raised,
                level: Level::Near,
                title: String::new(),
                message: String::new(),
                created_at: at("2025-03-10T15:05:30Z"),
                state: "pending".to_owned(),
                sent_at: None,
                next_attempt_at: None,
                held_by: Some("cooldown".to_owned()),
            }],
        }
    }

    #[test]
    fn everything_is_said_in_the_catalogs_time() {
        let shown = alerts_table(&alerts(), chrono_tz::America::Sao_Paulo);
        let lines: Vec<String> = shown
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        for expected in [
            "times of America/Sao_Paulo",
            "all service:redis critical – – – –",
            "prod login.ip:refused refused 2025-03-10 12:05 7 2025-03-10 12:06 until 2025-03-11 00:00",
            r"prod login.ip 2025-03-11 00:00 load\ttest",
            "1 alert waits to be sent; the server is not asked before 2025-03-10 12:30; 2 failed in a row: no answer",
            "2025-03-10 12:05 prod login.ip raised near pending – cooldown",
        ] {
            assert!(
                lines.iter().any(|line| line == expected),
                "`{expected}` is not in\n{shown}"
            );
        }
    }

    #[test]
    fn nothing_is_said_where_there_is_nothing() {
        assert_eq!(
            alerts_table(&Alerts::default(), chrono_tz::UTC),
            "times of UTC\nnothing is alerted\n\nalerts are only recorded: the catalog has no [ntfy]\n"
        );
        assert_eq!(silences_table(&[], chrono_tz::UTC), "nothing is silenced\n");
    }
}
