//! What is wrong with a catalog, each problem with its place and its remedy.

use std::{fmt, ops::Range, path::Path};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Refusal, mask::masked};

/// Where a value was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Bytes of the file.
    Span(Range<usize>),
    /// A variable of the environment.
    Variable(&'static str),
    /// Nowhere: it is missing from the file as a whole.
    File,
}

/// A value and where it was given.
#[derive(Clone, Debug)]
pub(super) struct Located<T> {
    pub value: T,
    pub place: Place,
}

/// Collects problems, so that a reader sees all of them at once.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<(Place, Refusal)>);

impl Problems {
    /// Notes what is wrong at a place, and what to write instead.
    pub fn add(&mut self, place: &Place, what: impl Into<String>, remedy: impl Into<String>) {
        self.refused(place, Refusal::new(what, remedy));
    }

    /// Notes a value that was refused at a place.
    pub fn refused(&mut self, place: &Place, refusal: Refusal) {
        self.0.push((place.clone(), refusal));
    }

    /// Nothing where there are no problems.
    pub fn into_result(self, path: &Path, text: &str) -> Result<(), CatalogError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(CatalogError::new(path, text, self.0))
        }
    }
}

/// A catalog that the service can't run on. Its text shows every problem with its line and its remedy, and no secret.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{report}")]
pub struct CatalogError {
    report: String,
}

impl fmt::Debug for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report)
    }
}

impl CatalogError {
    /// Renders all problems, in the order of the file.
    pub(super) fn new(path: &Path, text: &str, mut problems: Vec<(Place, Refusal)>) -> Self {
        // In the order of the file; what the environment gave comes first.
        problems.sort_by_key(|(place, _)| match place {
            Place::Variable(_) | Place::File => 0,
            Place::Span(span) => span.start,
        });
        let path = path.display().to_string();
        let text = masked(text);
        let groups: Vec<Group<'_>> = problems
            .iter()
            .map(|(place, refusal)| group(&path, &text, place, refusal))
            .collect();
        // Each in a report of its own, so that none is taken for a note on the one before.
        let reports: Vec<String> = groups
            .into_iter()
            .map(|group| Renderer::plain().render(&[group]))
            .collect();
        Self {
            report: reports.join("\n\n"),
        }
    }
}

fn group<'a>(path: &'a str, text: &'a str, place: &Place, refusal: &'a Refusal) -> Group<'a> {
    let help = Level::HELP.message(&refusal.remedy);
    match place {
        Place::Variable(name) => Level::ERROR
            .primary_title(format!("{name}: {}", refusal.what))
            .element(help),
        Place::File => Level::ERROR
            .primary_title(&refusal.what)
            .element(Origin::path(path))
            .element(help),
        Place::Span(span) => {
            let snippet = Snippet::source(text).path(path);
            let mark = AnnotationKind::Primary.span(span.start.min(text.len())..span.end.min(text.len()));
            Level::ERROR
                .primary_title(&refusal.what)
                .element(snippet.annotation(mark))
                .element(help)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_show_file_line_mark_and_remedy() {
        let text = "a = 1\r\nbé = \"x\"\r\n";
        let mut problems = Problems::default();
        // `"x"` is at bytes 7 + 6 = 13 to 16: é has two.
        problems.add(&Place::Span(13..16), "x is wrong", "write y");
        problems.add(
            &Place::Variable("FOLGA_LISTEN"),
            "no address",
            "write 127.0.0.1:8080",
        );
        problems.add(&Place::File, "nothing there", "write something");
        let report = problems
            .into_result(Path::new("dir/folga.toml"), text)
            .unwrap_err()
            .to_string();
        let expected = "\
error: FOLGA_LISTEN: no address
  |
  = help: write 127.0.0.1:8080

error: nothing there
--> dir/folga.toml
 = help: write something

error: x is wrong
 --> dir/folga.toml:2:6
  |
2 | bé = \"x\"
  |      ^^^
  |
  = help: write y";
        let plain = |text: &str| {
            text.lines()
                .map(|line| line.trim().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(plain(&report), plain(expected));
    }
}
