//! A small catalog for this stage's unit tests.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use chrono::TimeDelta;

use crate::{
    catalog::{
        Catalog, Constants, Counts, Environment, Find, HttpSettings, Pattern, PostgresSettings,
        RedisSettings, Schedule, Scope, Secret, Source, SourceKind,
    },
    time::MinuteFormat,
};

/// The environments prod (`olp:`) and staging (`olp-stg:`), the scopes `usuario_id`, `ip` and `escola_id` (public), and these
/// sources.
pub fn catalog(sources: Vec<Source>) -> Catalog {
    let environment = |name: &str, prefix: &str| Environment {
        name: name.to_owned(),
        prefix: prefix.to_owned(),
    };
    let scope = |name: &str, ip, public| (name.to_owned(), Scope { ip, public });
    Catalog {
        path: PathBuf::from("folga.toml"),
        timezone: chrono_tz::UTC,
        alert_percent: 70,
        retention_days: 90,
        minute_retention: TimeDelta::days(8),
        retention_schedule: schedule(),
        required_days: 28,
        hourly_limits_after_days: 30,
        redis: RedisSettings {
            url: Secret::new("redis://127.0.0.1".to_owned()),
            username: None,
            password: None,
            ca_file: None,
            connect_timeout: Duration::from_secs(2),
            response_timeout: Duration::from_secs(10),
            daily_commands: 500_000,
            tariff: None,
        },
        postgres: PostgresSettings {
            url: None,
            max_connections: 5,
            data_dir: PathBuf::from("folga-data"),
        },
        ntfy: None,
        http: HttpSettings {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            base_url: None,
            api_token: None,
        },
        identity_key: None,
        environments: vec![environment("prod", "olp:"), environment("staging", "olp-stg:")],
        scopes: [
            scope("usuario_id", false, false),
            scope("ip", true, false),
            scope("escola_id", false, true),
        ]
        .into(),
        members: Vec::new(),
        sources,
        groups: Vec::new(),
        ignored: Vec::new(),
    }
}

/// A source of hashes with a life of two hours, found by scan.
pub fn hashes(name: &str, key: &str, field: &str) -> Source {
    Source {
        name: name.to_owned(),
        kind: SourceKind::Hash,
        key: pattern(key),
        field: Some(pattern(field)),
        constants: Constants::default(),
        minute: MinuteFormat::Compact,
        ttl: TimeDelta::hours(2),
        schedule: schedule(),
        grace: TimeDelta::seconds(5),
        lateness: TimeDelta::minutes(10),
        find: Find::Scan,
        environments: vec!["prod".to_owned(), "staging".to_owned()],
        counts: Counts::Attempts,
        rejected: Vec::new(),
    }
}

/// A source of counters, otherwise the same.
pub fn counters(name: &str, key: &str, constants: Constants) -> Source {
    Source {
        kind: SourceKind::Counter,
        field: None,
        constants,
        ..hashes(name, key, "unused")
    }
}

pub fn pattern(text: &str) -> Pattern {
    Pattern::parse(text).unwrap()
}

fn schedule() -> Schedule {
    Schedule::parse("0 */5 * * * *").unwrap()
}
