//! What somebody is told of the service itself.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::{
    key::{self, Trouble},
    words::{Words, link, local},
};

/// What is told where Redis can't be reached.
#[must_use]
pub fn redis_down(error: &str) -> Words {
    Words {
        title: "folga can't reach Redis".to_owned(),
        text: format!(
            "{error}.\nNothing is read meanwhile, and limits are not watched. Minutes that are not read before their \
             keys expire are lost."
        ),
        link: Some("/".to_owned()),
    }
}

/// What is told when Redis can be reached again.
#[must_use]
pub fn redis_up(since: Option<DateTime<Utc>>, now: DateTime<Utc>, zone: Tz) -> Words {
    Words {
        title: "folga reaches Redis again".to_owned(),
        text: format!("{}.", span("It could not be reached", since, now, zone)),
        link: Some("/".to_owned()),
    }
}

/// What is told where Postgres can't be used.
#[must_use]
pub fn postgres_down(error: &str) -> Words {
    Words {
        title: "folga can't use its Postgres".to_owned(),
        text: format!("{error}.\nNothing is stored meanwhile, and limits are not watched."),
        link: None,
    }
}

/// What is told when Postgres can be used again.
#[must_use]
pub fn postgres_up(since: DateTime<Utc>, now: DateTime<Utc>, zone: Tz) -> Words {
    Words {
        title: "folga uses its Postgres again".to_owned(),
        text: format!("{}.", span("It could not be used", Some(since), now, zone)),
        link: None,
    }
}

/// A source of an environment.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The environment.
    pub environment: &'a str,
    /// The source.
    pub source: &'a str,
}

impl Place<'_> {
    fn words(&self, what: &str, text: String) -> Words {
        Words {
            title: format!("{}: {} {what}", self.environment, self.source),
            text,
            link: Some(link(self.environment, None)),
        }
    }

    /// What is told where its drains fail.
    #[must_use]
    pub fn failing(&self, error: &str) -> Words {
        self.words("can't be drained", format!("{error}."))
    }

    /// What is told where no drain has succeeded for too long.
    #[must_use]
    pub fn overdue(&self, last: Option<DateTime<Utc>>, zone: Tz) -> Words {
        let last = last.map_or_else(
            || "None has since folga started.".to_owned(),
            |last| format!("The last one that did ended at {}.", local(last, zone)),
        );
        self.words(
            "has not been drained",
            format!("Two runs were due and none succeeded. {last}"),
        )
    }

    /// What is told of minutes that can no longer be covered.
    #[must_use]
    pub fn gap(&self, gaps: &[(DateTime<Utc>, DateTime<Utc>)], zone: Tz) -> Words {
        let minutes: i64 = gaps.iter().map(|(from, to)| (*to - *from).num_minutes()).sum();
        let spans: Vec<_> = (gaps.iter())
            .map(|(from, to)| format!("{} to {}", local(*from, zone), local(*to, zone)))
            .collect();
        self.words(
            &format!("has a gap of {minutes} min"),
            format!(
                "These minutes were lost or never read, and can't be any more: {}.",
                spans.join("; ")
            ),
        )
    }

    /// What is told of keys and fields that are refused. Keys may name identities, so they are not told.
    #[must_use]
    pub fn rejects(&self, reasons: &BTreeSet<&str>) -> Words {
        let told: Vec<_> = reasons.iter().take(3).copied().collect();
        let more = match reasons.len().saturating_sub(told.len()) {
            0 => String::new(),
            more => format!("; and {more} other reasons"),
        };
        self.words(
            "has keys that are refused",
            format!(
                "{}{more}. The drain's record lists them (/v1/runs).",
                told.join("; ")
            ),
        )
    }

    /// What is told of keys that never expire. Keys may name identities, so they are not told.
    #[must_use]
    pub fn immortal(&self, count: usize) -> Words {
        self.words(
            "has keys without TTL",
            format!("At least {count} never expire. Whoever writes them has to set an expiry."),
        )
    }

    /// What is told when something is no longer wrong with it.
    #[must_use]
    pub fn well(
        &self,
        trouble: Trouble,
        since: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
        zone: Tz,
    ) -> Words {
        let (is, was) = match trouble {
            Trouble::Failing => ("can be drained again", "It could not be drained"),
            Trouble::Overdue => ("is drained again", "It was not drained"),
            Trouble::Rejects => ("has no more keys that are refused", "Keys of it were refused"),
            Trouble::Immortal => ("has no more keys without TTL", "Keys of it had no TTL"),
            Trouble::Gap => ("has no more gaps", "It had gaps"),
        };
        self.words(is, format!("{}.", span(was, since, now, zone)))
    }
}

/// What is told of an alert of a source or an environment that the catalog no longer has.
#[must_use]
pub fn gone(environment: &str, key: &str) -> Words {
    let what = key::source(key).or(key::limit(key)).unwrap_or(key);
    Words {
        title: format!("{environment}: {what} is no longer watched"),
        text: "The catalog has no such source or environment any more.".to_owned(),
        link: None,
    }
}

/// What is told where more commands were sent to Redis than a day should have.
#[must_use]
pub fn commands(own: u64, server: Option<u64>, budget: u64) -> Words {
    // The first look of a day has nothing to count from.
    let server = server
        .filter(|server| *server > 0)
        .map_or(String::new(), |server| {
            format!(" The server has answered {server} today, whoever sent them.")
        });
    Words {
        title: format!("More than {budget} Redis commands today"),
        text: format!("folga has sent {own} of them since midnight (UTC).{server}"),
        link: None,
    }
}

/// What is told to see whether it arrives.
#[must_use]
pub fn test() -> Words {
    Words {
        title: "folga can reach you".to_owned(),
        text: "This is a test. Alerts of limits and of the service itself come like this.".to_owned(),
        link: Some("/".to_owned()),
    }
}

fn span(what: &str, since: Option<DateTime<Utc>>, now: DateTime<Utc>, zone: Tz) -> String {
    let until = local(now, zone);
    match since {
        Some(since) => format!("{what} from {} to {until}", local(since, zone)),
        None => format!("{what} until {until}"),
    }
}
