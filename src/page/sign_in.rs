//! Where a browser shows the API token.

use askama::Template;

use super::{Address, Frame, Words};

/// The form. It tells nothing of the catalog.
#[derive(Debug, Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage {
    frame: Frame,
    next: String,
    is_wrong: bool,
}

impl SignInPage {
    /// A form that leads on to `next`; `is_wrong` where another token was given.
    #[must_use]
    pub fn new(words: Words, next: String, is_wrong: bool) -> Self {
        let frame = Frame {
            words,
            address: Address::default(),
            environments: Vec::new(),
            most_days: 0,
            signed_in: false,
        };
        Self {
            frame,
            next,
            is_wrong,
        }
    }
}
