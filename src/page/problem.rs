//! The page in place of one that can't be shown.

use askama::Template;

use super::Frame;
use crate::report::printable;

/// What is wrong, and the remedy.
#[derive(Debug, Template)]
#[template(path = "problem.html")]
pub struct ProblemPage {
    frame: Frame,
    title: String,
    detail: String,
    /// Whether the detail is English on a page in another language.
    english: bool,
}

impl ProblemPage {
    /// A page with a title and a detail of the page's own texts.
    #[must_use]
    pub fn new(frame: Frame, title: &str, detail: &str) -> Self {
        let title = frame.text(title);
        Self {
            frame,
            title,
            detail: printable(detail),
            english: false,
        }
    }

    /// A page with a detail as the API has it.
    #[must_use]
    pub fn of_api(frame: Frame, title: &str, detail: &str) -> Self {
        Self {
            english: true,
            ..Self::new(frame, title, detail)
        }
    }
}
