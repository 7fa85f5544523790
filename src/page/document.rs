//! The report as a document that stands alone: no links, no script, its style inside.

use askama::Template;
use chrono_tz::Tz;

use super::{Words, assets, overview::Summary};
use crate::{language::Language, report::Report};

#[derive(Template)]
#[template(path = "document.html")]
struct Document {
    summary: Summary,
    style: &'static str,
}

/// A report as a whole HTML document. A policy lets its style hold by [`super::style_hash`].
#[must_use]
pub fn document(report: &Report, zone: Tz, language: Language) -> String {
    let document = Document {
        summary: Summary::new(report, Words { language, zone }, None),
        style: assets::STYLE,
    };
    super::html(&document)
}
