//! Pages for people: a page is a struct with its template beside it in `templates/`.
//!
//! Pages are pure: a [`Report`](crate::report::Report) or a [`Detail`](crate::report::Detail) goes in, with how
//! [`Alerts`](crate::report::Alerts) stand, and HTML comes out.
//! They need no script: what a script adds is what changes at once. Geometry stands in SVG attributes, so that no style
//! has to be allowed inside of a page.

mod address;
mod alerts;
mod assets;
mod bar;
mod calendar;
mod chart;
mod data;
mod distribution;
mod document;
mod fact;
mod filter;
mod frame;
mod limit;
mod overview;
mod problem;
mod profile;
mod row;
#[cfg(test)]
mod sample;
mod sign_in;
#[cfg(test)]
mod tests;
mod words;

pub use address::Address;
pub use assets::{Asset, asset, style_hash};
pub use document::document;
pub use filter::Filter;
pub use frame::Frame;
pub use limit::{LimitPage, Tried};
pub use overview::Overview;
pub use problem::ProblemPage;
pub use sign_in::SignInPage;
pub use words::Words;

use askama::Template;

/// Renders a page. Templates write into a text, which can't fail.
fn html(page: &impl Template) -> String {
    page.render().unwrap_or_default()
}

impl Overview {
    /// Renders it.
    #[must_use]
    pub fn html(&self) -> String {
        html(self)
    }
}

impl LimitPage {
    /// Renders it.
    #[must_use]
    pub fn html(&self) -> String {
        html(self)
    }
}

impl SignInPage {
    /// Renders it.
    #[must_use]
    pub fn html(&self) -> String {
        html(self)
    }
}

impl ProblemPage {
    /// Renders it.
    #[must_use]
    pub fn html(&self) -> String {
        html(self)
    }
}
