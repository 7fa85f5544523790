//! The part of an address behind the `?`.

use std::borrow::Cow;

use url::form_urlencoded;

use super::problem::Problem;

/// Parameters, each known and given once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Query<'a> {
    /// Reads it. A parameter that is not known is refused, since whoever wrote it would take the answer for another.
    pub(super) fn read(raw: Option<&'a str>, known: &[&str]) -> Result<Self, Problem> {
        let mut pairs: Vec<(Cow<'a, str>, Cow<'a, str>)> = Vec::new();
        for (name, value) in form_urlencoded::parse(raw.unwrap_or_default().as_bytes()) {
            if !known.contains(&&*name) {
                let known = if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                };
                return Err(Problem::BadRequest(format!(
                    "there is no parameter {name:?} here; known: {known}"
                )));
            }
            if pairs.iter().any(|pair| pair.0 == name) {
                return Err(Problem::BadRequest(format!(
                    "{name} is given twice: give it once"
                )));
            }
            pairs.push((name, value));
        }
        Ok(Self(pairs))
    }

    /// The value of a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|pair| pair.0 == name).map(|pair| &*pair.1)
    }

    /// An instant, as it was meant: the + before its offset means a blank in an address, and is often written all the
    /// same.
    pub(super) fn instant(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name).map(with_plus)
    }
}

/// Turns the blank before an offset back into a +: `…T09:00:00 03:00`.
fn with_plus(text: &str) -> Cow<'_, str> {
    let clock = |text: &str| {
        let bytes = text.as_bytes();
        bytes.len() == 5 && bytes[2] == b':' && [0, 1, 3, 4].iter().all(|at| bytes[*at].is_ascii_digit())
    };
    match text.rsplit_once(' ') {
        Some((local, offset)) if local.contains(':') && clock(offset) => format!("{local}+{offset}").into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_known_and_given_once() {
        let query = Query::read(Some("env=prod&group=A%20b"), &["env", "group", "days"]).unwrap();
        assert_eq!(
            (query.get("env"), query.get("group"), query.get("days")),
            (Some("prod"), Some("A b"), None)
        );
        assert_eq!(Query::read(None, &[]), Ok(Query(Vec::new())));
        for (raw, detail) in [
            ("end=1", "there is no parameter \"end\" here; known: env"),
            ("env=1&env=1", "env is given twice: give it once"),
        ] {
            assert_eq!(
                Query::read(Some(raw), &["env"]),
                Err(Problem::BadRequest(detail.to_owned()))
            );
        }
    }

    #[test]
    fn an_offset_keeps_its_plus() {
        let read = |raw| {
            let query = Query::read(Some(raw), &["from"]).unwrap();
            query.instant("from").unwrap().into_owned()
        };
        let east = "2025-03-10T12:00:00+03:00";
        assert_eq!(read("from=2025-03-10T12:00:00+03:00"), east);
        assert_eq!(read("from=2025-03-10T12%3A00%3A00%2B03%3A00"), east);
        assert_eq!(
            read("from=2025-03-10T12:00:00-03:00"),
            "2025-03-10T12:00:00-03:00"
        );
        assert_eq!(
            read("from=2025-03-10+12:00:00%2B03:00"),
            "2025-03-10 12:00:00+03:00"
        );
        // A date with a time and no offset is no instant, and must not become one.
        assert_eq!(read("from=2025-03-10+12:00"), "2025-03-10 12:00");
    }
}
