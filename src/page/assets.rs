//! Style, script and chart library, compiled in and served under names that hold their hash.

use std::{fmt::Write as _, sync::LazyLock};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha2::{Digest as _, Sha256};

/// The look of all pages.
pub(super) const STYLE: &str = include_str!("assets/folga.css");

/// A file that pages need.
#[derive(Debug)]
pub struct Asset {
    file: &'static str,
    href: String,
    /// Its type.
    pub content_type: &'static str,
    /// What is in it.
    pub body: &'static str,
}

static ASSETS: LazyLock<[Asset; 4]> = LazyLock::new(|| {
    const CSS: &str = "text/css; charset=utf-8";
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    [
        ("folga.css", CSS, STYLE),
        ("limit.js", SCRIPT, include_str!("assets/limit.js")),
        ("uplot.css", CSS, include_str!("assets/uplot.css")),
        ("uplot.js", SCRIPT, include_str!("assets/uplot.js")),
    ]
    .map(|(file, content_type, body)| {
        let mut hash = String::new();
        for byte in &Sha256::digest(body)[..8] {
            // Writing to a text can't fail.
            let _ = write!(hash, "{byte:02x}");
        }
        let href = format!("/assets/{}", file.replace('.', &format!("-{hash}.")));
        Asset {
            file,
            href,
            content_type,
            body,
        }
    })
});

/// The asset at a path; none where its name or its hash is another.
#[must_use]
pub fn asset(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.href == path)
}

/// Where a file of `assets/` is served.
pub(super) fn href(file: &str) -> &'static str {
    let asset = ASSETS.iter().find(|asset| asset.file == file);
    asset.map_or("", |asset| &asset.href)
}

/// What a policy names so that the style of a report that stands alone holds, and no other: `sha256-…`.
#[must_use]
pub fn style_hash() -> &'static str {
    static HASH: LazyLock<String> =
        LazyLock::new(|| format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(STYLE))));
    &HASH
}
