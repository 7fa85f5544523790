//! What an alert is about. A limit's key is its id; the names of everything else have a colon, which no id has.

/// Redis itself, whatever the environment.
pub const REDIS: &str = "service:redis";
/// Postgres itself.
pub const POSTGRES: &str = "service:postgres";
/// The daily budget of Redis commands.
pub const COMMANDS: &str = "service:commands";
/// What concerns no environment in particular.
pub const EVERYWHERE: &str = "";

/// What may be wrong with a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Its drains fail, though Redis can be reached.
    Failing,
    /// No drain has succeeded for too long.
    Overdue,
    /// Minutes were lost.
    Gap,
    /// Keys or fields of it are refused.
    Rejects,
    /// Keys of it outlive their time.
    Immortal,
}

/// The key of what may be wrong with a source.
#[must_use]
pub fn of_source(source: &str, trouble: Trouble) -> String {
    let what = match trouble {
        Trouble::Failing => "failing",
        Trouble::Overdue => "overdue",
        Trouble::Gap => "gap",
        Trouble::Rejects => "rejects",
        Trouble::Immortal => "no-ttl",
    };
    format!("source:{source}:{what}")
}

/// The key of a limit's refused requests.
#[must_use]
pub fn refused(limit: &str) -> String {
    format!("{limit}:refused")
}

/// The source that a key is about, where it is about one.
#[must_use]
pub fn source(key: &str) -> Option<&str> {
    let (source, _) = key.strip_prefix("source:")?.rsplit_once(':')?;
    Some(source)
}

/// Where Redis notes that an alert was told: the users' own place for that, under the prefix of an environment.
#[must_use]
pub fn noted(prefix: &str, key: &str, what: &str) -> String {
    format!("{prefix}ac:folga:{key}:{what}")
}

/// The limit that a key is about, where it is about one.
#[must_use]
pub fn limit(key: &str) -> Option<&str> {
    let id = key.strip_suffix(":refused").unwrap_or(key);
    (!id.contains(':')).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_of_limits_name_a_limit() {
        assert_eq!(limit("send-otp.ip"), Some("send-otp.ip"));
        assert_eq!(limit(&refused("send-otp.ip")), Some("send-otp.ip"));
        for key in [REDIS, COMMANDS, &of_source("gateway", Trouble::Gap)] {
            assert_eq!(limit(key), None);
        }
        assert_eq!(source(&of_source("gateway", Trouble::Gap)), Some("gateway"));
        assert_eq!(source(REDIS), None);
    }
}
