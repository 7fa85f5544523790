//! Reads a catalog file from top to bottom.

use std::{fs, io::ErrorKind, path::Path};

use chrono::TimeDelta;
use chrono_tz::Tz;
use toml::de::{DeTable, Error};

use super::{
    Catalog, HttpSettings, Members, NtfySettings, PostgresSettings, RedisSettings, Refusal, Schedule,
    durations::spelt,
    environments::{Names, read_environments, read_ignored, read_scopes},
    limits::{Fed, read_groups},
    members::check_members,
    overrides::Overrides,
    problem::{CatalogError, Located, Place, Problems},
    section::Section,
    settings::identity_key,
    sources::{Declared, read_sources},
};

impl Catalog {
    /// Reads a file. `env` gives variables of the environment; the demo alone needs no identity key.
    ///
    /// # Errors
    /// A file that can't be read, or everything that is wrong with it.
    pub fn load(
        path: &Path,
        env: &dyn Fn(&str) -> Option<String>,
        needs_identity_key: bool,
    ) -> Result<Self, CatalogError> {
        let unreadable = |what: String| {
            let refusal = Refusal::new(what, "name the catalog file with --config FILE or FOLGA_CONFIG");
            CatalogError::new(path, "", vec![(Place::File, refusal)])
        };
        let bytes = fs::read(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => unreadable("there is no such file".to_owned()),
            _ => unreadable(format!("the file can't be read: {error}")),
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => Self::parse(&text, path, env, needs_identity_key),
            Err(error) => {
                let start = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes());
                // In the lossy text a replacement character of three bytes stands there.
                let place = Place::Span(start..start + 3);
                let refusal = Refusal::new("the file is not UTF-8", "save it as UTF-8");
                Err(CatalogError::new(path, &text, vec![(place, refusal)]))
            }
        }
    }

    /// Reads the text of a file; the path is for messages.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(
        text: &str,
        path: &Path,
        env: &dyn Fn(&str) -> Option<String>,
        needs_identity_key: bool,
    ) -> Result<Self, CatalogError> {
        let mut problems = Problems::default();
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            syntax(error, text, &mut problems);
        }
        // The tables of a file that is no TOML are guesses: to judge them would only confuse.
        problems.into_result(path, text)?;

        let mut problems = Problems::default();
        let over = Overrides::read(env, &mut problems);
        let catalog = read(
            Section::root(table.into_inner()),
            path,
            over,
            needs_identity_key,
            &mut problems,
        );
        problems.into_result(path, text)?;
        Ok(catalog)
    }
}

fn syntax(error: &Error, text: &str, problems: &mut Problems) {
    let span = error.span().unwrap_or(0..0);
    let remedy = match error.message() {
        "duplicate key" => "write each key once in its table",
        message if message.contains("quoted") => "write texts in quotes: key = \"text\"",
        _ => "write key = value on a line of its own, texts in quotes, tables in [brackets]",
    };
    let what = if error.message() == "duplicate key" {
        format!("`{}` stands twice", text.get(span.clone()).unwrap_or_default())
    } else {
        format!("this is no TOML: {}", error.message())
    };
    problems.add(&Place::Span(span), what, remedy);
}

fn read(
    mut root: Section<'_>,
    path: &Path,
    mut over: Overrides,
    needs_identity_key: bool,
    problems: &mut Problems,
) -> Catalog {
    let p = problems;
    let timezone = root.or("timezone", Tz::UTC, p);
    let alert_percent = root.optional::<u32>("alert_percent", p);
    if let Some(percent) = alert_percent.as_ref().filter(|percent| percent.value > 100) {
        p.add(
            &percent.place,
            format!("{} % is more than a limit", percent.value),
            "write 1 to 100",
        );
    }
    let retention_days = root.or("retention_days", 90, p);
    let minute_retention = root.optional::<TimeDelta>("minute_retention", p);
    let retention_schedule = root.optional::<Schedule>("retention_schedule", p);
    let required_days = root.or("required_days", 28, p);
    let hourly_limits_after_days = root.or("hourly_limits_after_days", 30, p);
    let (redis, postgres, ntfy, http) = (
        root.table("redis", p),
        root.table("postgres", p),
        root.table("ntfy", p),
        root.table("http", p),
    );
    let environments = root.tables("environment", "[[environment]]", p);
    let scopes = root.named_tables("scope", p);
    let sources = root.tables("source", "[[source]]", p);
    let groups = root.tables("group", "[[group]]", p);
    let ignored = root.tables("ignore", "[[ignore]]", p);
    root.finish(p);

    let (environments, environment_names) = read_environments(environments, p);
    let (scopes, members) = read_scopes(scopes, p);
    let scope_names: Names = scopes.keys().cloned().collect();
    let declared = Declared {
        environments: &environments,
        environment_names: &environment_names,
        scopes: &scope_names,
    };
    let (sources, source_names) = read_sources(sources, &declared, p);
    if sources.len() == source_names.len() {
        check_members(&members, &sources, p);
    }
    let members: Vec<Members> = members.into_iter().map(|located| located.value).collect();
    let fed = Fed {
        environments: &environments,
        environment_names: &environment_names,
        scopes: &scope_names,
        members: &members,
        sources: &sources,
        source_names: &source_names,
    };
    let groups = read_groups(groups, &fed, p);
    let ignored = read_ignored(ignored, &environment_names, p);
    let catalog = Catalog {
        path: path.to_owned(),
        timezone,
        alert_percent: alert_percent.map_or(70, |percent| percent.value),
        retention_days,
        minute_retention: minute_retention
            .as_ref()
            .map_or(TimeDelta::days(8), |span| span.value),
        retention_schedule: retention_schedule.map_or_else(nightly, |schedule| schedule.value),
        required_days,
        hourly_limits_after_days,
        redis: RedisSettings::read(redis, &mut over, p),
        postgres: PostgresSettings::read(postgres, &mut over, p),
        ntfy: NtfySettings::read(ntfy, &mut over, p),
        http: HttpSettings::read(http, &mut over, p),
        identity_key: identity_key(&mut over, needs_identity_key, p),
        environments,
        scopes,
        members,
        sources,
        groups,
        ignored,
    };
    check_minute_retention(&catalog, minute_retention, p);
    catalog
}

/// Every night at half past three, UTC.
fn nightly() -> Schedule {
    Schedule::parse("0 30 3 * * *").expect("six fields in range")
}

/// A minute must stay in the store while its keys live and while a window reaches back to it.
fn check_minute_retention(catalog: &Catalog, given: Option<Located<TimeDelta>>, problems: &mut Problems) {
    let ttl = catalog
        .sources
        .iter()
        .map(|source| source.ttl)
        .max()
        .unwrap_or_default();
    let reach = catalog
        .limits()
        .map(|(_, limit)| limit.window.reach_minutes())
        .max()
        .unwrap_or_default();
    let least = ttl + TimeDelta::minutes(reach) + TimeDelta::hours(2);
    if catalog.minute_retention < least {
        let place = given.map_or(Place::File, |given| given.place);
        problems.add(
            &place,
            format!(
                "minutes are kept {}, shorter than the longest TTL ({}) + the longest window ({}) + 2h",
                spelt(catalog.minute_retention),
                spelt(ttl),
                spelt(TimeDelta::minutes(reach))
            ),
            format!("write minute_retention = \"{}\" or longer", spelt(least)),
        );
    }
}
