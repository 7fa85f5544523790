//! What a catalog comes to, in words: the text of `folga check`. What servers have to say of it is in [`Live`].

mod cost;
mod finding;
mod live;
mod personal;

use std::fmt::Write as _;

use chrono::{DateTime, SecondsFormat, Utc};
use comfy_table::{Table, presets::NOTHING};

pub use live::Live;

use crate::catalog::{Catalog, Environment, Limit, Mode, NtfySettings, Source, SourceKind, alert_at, spelt};
use cost::cost;

/// Environments, sources with their schedules, and limits with their alert values, as seen at an instant.
#[must_use]
pub fn summary(catalog: &Catalog, now: DateTime<Utc>) -> String {
    let mut text = format!("{} is sound. Times are UTC.\n", catalog.path.display());
    section(&mut text, "Environments", &environments(catalog));
    section(&mut text, "Sources", &sources(catalog, now));
    for source in &catalog.sources {
        let _ = writeln!(text, "  {}: {}", source.name, cost(source, now));
    }
    let title = format!("Limits, and the count that reaches {} %", catalog.alert_percent);
    section(&mut text, &title, &limits(catalog));
    let _ = writeln!(text, "\n{}", alerts(catalog.ntfy.as_ref()));
    let retention = catalog.retention_schedule.next_after(now);
    let _ = writeln!(
        text,
        "Minutes are kept {}, aggregates {} days; retention runs next at {}.",
        spelt(catalog.minute_retention),
        catalog.retention_days,
        instant(retention)
    );
    text
}

fn section(text: &mut String, title: &str, table: &Table) {
    let _ = writeln!(text, "\n{title}");
    for line in table.lines() {
        let _ = writeln!(text, " {}", line.trim_end());
    }
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    table
}

fn environments(catalog: &Catalog) -> Table {
    let mut table = table(&["name", "prefix", "sources"]);
    for environment in &catalog.environments {
        let here = |source: &&Source| source.environments.contains(&environment.name);
        let sources: Vec<&str> = catalog
            .sources
            .iter()
            .filter(here)
            .map(|source| source.name.as_str())
            .collect();
        table.add_row([
            environment.name.as_str(),
            &environment.prefix,
            &sources.join(", "),
        ]);
    }
    table
}

fn sources(catalog: &Catalog, now: DateTime<Utc>) -> Table {
    let mut table = table(&["name", "next run", "longest gap", "keys live", "alert delay"]);
    for source in &catalog.sources {
        let gap = source.longest_gap();
        table.add_row([
            source.name.clone(),
            instant(source.schedule.next_after(now)),
            spelt(gap),
            match source.kind {
                SourceKind::Gauge => "sampled".to_owned(),
                SourceKind::Hash | SourceKind::Counter => spelt(source.ttl),
            },
            // A minute that closes just after a run waits for the next one.
            format!("up to {}", spelt(gap + source.wait())),
        ]);
    }
    table
}

fn limits(catalog: &Catalog) -> Table {
    let names = catalog
        .environments
        .iter()
        .map(|environment| environment.name.as_str());
    let header: Vec<&str> = ["group", "limit", "window", "scope"]
        .into_iter()
        .chain(names)
        .collect();
    let mut table = table(&header);
    for (group, limit) in catalog.limits() {
        let mut row = vec![
            group.id.clone(),
            limit.id.clone(),
            limit.window.to_string(),
            limit.scope.clone(),
        ];
        let cell =
            |environment: &Environment| in_environment(limit, &environment.name, catalog.alert_percent);
        row.extend(catalog.environments.iter().map(cell));
        table.add_row(row);
    }
    table
}

fn in_environment(limit: &Limit, environment: &str, percent: u32) -> String {
    if !limit.exists_in(environment) {
        return "-".to_owned();
    }
    let mode = limit.mode_in(environment);
    match (mode, limit.value_in(environment), limit.watch_alert) {
        (Mode::Watch, _, Some(count)) => format!("watch, alert at {count}"),
        (Mode::Observe | Mode::Block, Some(value), _) => {
            format!("{mode} {value}, alert at {}", alert_at(value, percent))
        }
        _ => mode.to_string(),
    }
}

/// Where alerts go.
fn alerts(ntfy: Option<&NtfySettings>) -> String {
    let Some(ntfy) = ntfy else {
        return "Alerts are only recorded: [ntfy] says where to send them.".to_owned();
    };
    format!(
        "Alerts go to topic {} on {}, at most {} messages a day and none of the same limit and level within {}; an \
         alert ends when its limit was low for {}.",
        ntfy.topic,
        ntfy.url,
        ntfy.daily_budget,
        spelt(ntfy.cooldown),
        spelt(ntfy.clear_after)
    )
}

fn instant(at: Option<DateTime<Utc>>) -> String {
    at.map_or_else(
        || "never".to_owned(),
        |at| at.to_rfc3339_opts(SecondsFormat::Secs, true),
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn the_summary_shows_schedules_and_alert_values() {
        let text = r#"
            [[environment]]
            name = "prod"
            prefix = "olp:"
            [[environment]]
            name = "dev"
            prefix = "olp-dev:"
            [scope.ip]
            [[source]]
            name = "gateway"
            kind = "hash"
            key = "{env}m:{endpoint}:{minute}"
            field = "{scope}:{identity}"
            ttl = "2h"
            schedule = "0 */5 * * * *"
            find = { endpoints = ["login", "me"] }
            [[group]]
            id = "A"
            name = "Group"
            [[group.limit]]
            id = "login.ip"
            endpoints = ["login"]
            scope = "ip"
            limit = { prod = 30 }
            window = "15m"
            mode = { dev = "watch" }
        "#;
        let catalog = Catalog::parse(text, Path::new("folga.toml"), &|_| None, false).unwrap();
        let shown = summary(&catalog, "2025-03-08T12:02:00Z".parse().unwrap());
        let lines: Vec<String> = shown
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        for expected in [
            "folga.toml is sound. Times are UTC.",
            "prod olp: gateway",
            // Five minutes and the default grace of 5 s: 305 s.
            "gateway 2025-03-08T12:05:00Z 5m 2h up to 305s",
            // Every 5 minutes in 2 environments: 576 runs. 2 names, 1440 minutes, 2 environments: 5760 keys, each
            // read when it closes, 5 and 10 minutes later: 17280, and two more a run: 1152.
            "gateway: 576 runs a day: about 18432 commands, 3 for each of 5760 keys",
            // 70 % of 30 is 21.
            "A login.ip 15m ip observe 30, alert at 21 watch",
            "Alerts are only recorded: [ntfy] says where to send them.",
            "Minutes are kept 8d, aggregates 90 days; retention runs next at 2025-03-09T03:30:00Z.",
        ] {
            assert!(
                lines.iter().any(|line| line == expected),
                "`{expected}` is not in\n{shown}"
            );
        }
    }

    #[test]
    fn the_summary_says_where_alerts_go() {
        let ntfy = NtfySettings {
            url: "https://ntfy.sh".to_owned(),
            topic: "limits".to_owned(),
            token: None,
            daily_budget: 250,
            cooldown: TimeDelta::minutes(15),
            clear_after: TimeDelta::minutes(20),
        };
        assert_eq!(
            alerts(Some(&ntfy)),
            "Alerts go to topic limits on https://ntfy.sh, at most 250 messages a day and none of the same limit and \
             level within 15m; an alert ends when its limit was low for 20m."
        );
    }
}
