//! Which hours a report is about.

use chrono::{DateTime, Days, Utc};
use chrono_tz::Tz;

use crate::{
    catalog::Refusal,
    time::{Day, Hour, day_of, day_start},
};

/// Days of a report where nothing is said.
const DEFAULT_DAYS: u32 = 30;

/// Whole hours, from the first one up to, not including, the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The first hour.
    pub from: Hour,
    /// The first hour after it.
    pub to: Hour,
}

/// What somebody asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct PeriodChoice<'a> {
    /// The last so many full local days.
    pub days: Option<u32>,
    /// The first instant, as RFC 3339.
    pub from: Option<&'a str>,
    /// The first instant after it, as RFC 3339.
    pub to: Option<&'a str>,
}

impl Period {
    /// The hours that somebody asked for: the last 30 full local days where they said nothing. Instants are rounded
    /// down to the start of their UTC hour, both ends alike, so that adjacent periods stay adjacent. An hour belongs
    /// to the local day that holds its start.
    ///
    /// # Errors
    /// A choice that contradicts itself, an instant that is none, an end before its start, a period longer than
    /// aggregates are kept.
    pub fn choose(
        choice: PeriodChoice<'_>,
        now: DateTime<Utc>,
        zone: Tz,
        retention_days: u32,
    ) -> Result<Self, Refusal> {
        match choice {
            PeriodChoice {
                days,
                from: None,
                to: None,
            } => Self::of_days(
                days.unwrap_or(DEFAULT_DAYS.min(retention_days)),
                now,
                zone,
                retention_days,
            ),
            PeriodChoice {
                days: None,
                from: Some(from),
                to: Some(to),
            } => Self::of_instants(instant("from", from)?, instant("to", to)?, retention_days),
            PeriodChoice { days: Some(_), .. } => Err(Refusal::new(
                "a period is given by days or by from and to, not by both",
                "leave out one or the other",
            )),
            PeriodChoice { from: Some(_), .. } => {
                Err(Refusal::new("from is given without to", "give to as well"))
            }
            PeriodChoice { to: Some(_), .. } => {
                Err(Refusal::new("to is given without from", "give from as well"))
            }
        }
    }

    fn of_days(days: u32, now: DateTime<Utc>, zone: Tz, retention_days: u32) -> Result<Self, Refusal> {
        if days == 0 || days > retention_days {
            return Err(Refusal::new(
                format!("{days} days can't be reported"),
                format!("ask for 1 to {retention_days} days, as long as aggregates are kept"),
            ));
        }
        let today = day_of(now, zone);
        let first = today.checked_sub_days(Days::new(days.into())).unwrap_or(today);
        Ok(Self {
            from: first_hour(first, zone),
            to: first_hour(today, zone),
        })
    }

    fn of_instants(from: DateTime<Utc>, to: DateTime<Utc>, retention_days: u32) -> Result<Self, Refusal> {
        if from > to {
            return Err(Refusal::new(
                format!("from ({}) lies after to ({})", from.to_rfc3339(), to.to_rfc3339()),
                "swap them",
            ));
        }
        let period = Self {
            from: Hour::containing(from),
            to: Hour::containing(to),
        };
        // Local days that clocks make an hour longer fit in.
        if period.to.index() - period.from.index() > i64::from(retention_days) * 24 + 1 {
            return Err(Refusal::new(
                format!("the period is longer than {retention_days} days"),
                "aggregates are kept no longer: choose a shorter period",
            ));
        }
        Ok(period)
    }

    /// Whether it has no hours.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.from >= self.to
    }
}

/// The first hour that starts in a local day.
#[must_use]
pub fn first_hour(day: Day, zone: Tz) -> Hour {
    let start = day_start(day, zone);
    let hour = Hour::containing(start);
    if hour.start() < start { hour.next() } else { hour }
}

fn instant(name: &str, text: &str) -> Result<DateTime<Utc>, Refusal> {
    DateTime::parse_from_rfc3339(text).map(|instant| instant.to_utc()).map_err(|_| {
        Refusal::new(
            format!("{name} is no instant: {text:?}"),
            "write it as 2025-03-10T12:00:00Z, or with an offset as 2025-03-10T09:00:00-03:00 (in a URL, + is %2B)",
        )
    })
}

#[cfg(test)]
mod tests {
    use chrono_tz::{America::Sao_Paulo, Asia::Kolkata, UTC};

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn choose(choice: PeriodChoice<'_>, zone: Tz) -> Result<[String; 2], Refusal> {
        let period = Period::choose(choice, at("2025-03-10T12:31:00Z"), zone, 90)?;
        let text = |hour: Hour| hour.start().format("%m-%dT%H:%M").to_string();
        Ok([text(period.from), text(period.to)])
    }

    fn chosen(choice: PeriodChoice<'_>, zone: Tz) -> [String; 2] {
        choose(choice, zone).unwrap()
    }

    fn days(days: u32) -> PeriodChoice<'static> {
        PeriodChoice {
            days: Some(days),
            ..PeriodChoice::default()
        }
    }

    fn between<'a>(from: &'a str, to: &'a str) -> PeriodChoice<'a> {
        PeriodChoice {
            days: None,
            from: Some(from),
            to: Some(to),
        }
    }

    #[test]
    fn days_are_full_and_local() {
        // Sao Paulo is UTC-3: today began at 03:00Z. 30 days before 10 March is 8 February.
        assert_eq!(
            chosen(PeriodChoice::default(), Sao_Paulo),
            ["02-08T03:00", "03-10T03:00"]
        );
        assert_eq!(chosen(days(1), UTC), ["03-09T00:00", "03-10T00:00"]);
        // Kolkata's day began at 18:30Z: its first hour is 19:00Z.
        assert_eq!(chosen(days(1), Kolkata), ["03-08T19:00", "03-09T19:00"]);
    }

    #[test]
    fn instants_are_rounded_down_to_their_hour() {
        let noon = "2025-03-10T12:00:00Z";
        assert_eq!(
            chosen(between("2025-03-10T09:59:59-03:00", "2025-03-10T14:30:00Z"), UTC),
            ["03-10T12:00", "03-10T14:00"]
        );
        assert_eq!(chosen(between(noon, noon), UTC), ["03-10T12:00", "03-10T12:00"]);
        assert_eq!(
            chosen(between("2024-12-10T00:00:00Z", "2025-03-10T00:00:00Z"), UTC),
            ["12-10T00:00", "03-10T00:00"]
        );
    }

    #[test]
    fn what_makes_no_period_is_refused_with_the_remedy() {
        let noon = "2025-03-10T12:00:00Z";
        for (choice, remedy) in [
            (days(0), "ask for 1 to 90 days, as long as aggregates are kept"),
            (days(91), "ask for 1 to 90 days, as long as aggregates are kept"),
            (between(noon, "2025-03-10T11:59:00Z"), "swap them"),
            (
                between("2015-03-10T12:00:00Z", noon),
                "aggregates are kept no longer: choose a shorter period",
            ),
            (
                PeriodChoice {
                    from: Some(noon),
                    ..days(3)
                },
                "leave out one or the other",
            ),
            (
                PeriodChoice {
                    from: Some(noon),
                    ..PeriodChoice::default()
                },
                "give to as well",
            ),
            (
                PeriodChoice {
                    to: Some(noon),
                    ..PeriodChoice::default()
                },
                "give from as well",
            ),
        ] {
            assert_eq!(choose(choice, UTC).unwrap_err().remedy, remedy);
        }
        let error = choose(between("yesterday", noon), UTC).unwrap_err();
        assert_eq!(error.what, "from is no instant: \"yesterday\"");
    }
}
