//! Answers that are kept until what they show changes, and told apart by a strong `ETag`.
//!
//! A writing transaction raises its environment's version, so an answer that was made at a version holds until the next
//! one. An answer that is asked for again is not made again, and one that the client has is not sent again. The tag is
//! a hash of the bytes: one tag never stands for two answers.

use std::{fmt::Write as _, future::Future, sync::Arc};

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use headers::{ETag, HeaderMapExt as _, IfNoneMatch};
use quick_cache::{Weighter, sync::Cache};
use sha2::{Digest as _, Sha256};

use super::{Site, asked, problem::Problem};
use crate::{
    report::Period,
    store::settings,
    time::{Hour, Minute},
    worker::Folga,
};

/// Answers that are kept at most, roughly, and their bytes.
const ANSWERS: usize = 500;
const BYTES: u64 = 32 << 20;

/// The answers that are kept.
pub(super) struct Kept(Cache<Key, Answer, Bulk>);

impl Default for Kept {
    fn default() -> Self {
        Self(Cache::with_weighter(ANSWERS, BYTES, Bulk))
    }
}

/// What an answer is about, and as of when.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The route and what it was asked.
    what: String,
    /// The environment's version.
    version: Option<String>,
    /// Coverage is looked up as far back as it is kept, counted from this hour.
    hour: Hour,
    /// The first minute of the period that has not closed, for each source.
    open: Vec<Minute>,
}

#[derive(Clone)]
struct Answer {
    body: Bytes,
    tag: Arc<str>,
}

#[derive(Clone)]
struct Bulk;

impl Weighter<Key, Answer> for Bulk {
    fn weight(&self, key: &Key, answer: &Answer) -> u64 {
        (key.what.len() + answer.body.len()) as u64
    }
}

/// A question about an environment, and where its answer comes from.
pub(super) struct Question<'a> {
    pub(super) environment: &'a str,
    pub(super) period: Period,
    /// The route and everything that was asked.
    pub(super) what: String,
    pub(super) content_type: &'static str,
}

/// Answers with what is kept, or else makes it; only says so where the client has it already.
pub(super) async fn answer<F>(
    site: &Site,
    headers: &HeaderMap,
    question: Question<'_>,
    make: impl FnOnce(Folga) -> F + Send + 'static,
) -> Result<Response, Problem>
where
    F: Future<Output = Result<String, Problem>>,
{
    // Read before the answer is made: what is written in between makes it newer than its version, never older.
    let key = Key::of(&site.folga, &question).await?;
    let fresh = async {
        let body = asked::work_out(site, make).await?;
        let hash: [u8; 32] = Sha256::digest(body.as_bytes()).into();
        let mut tag = String::from("\"");
        for byte in &hash[..16] {
            // Writing to a text can't fail.
            let _ = write!(tag, "{byte:02x}");
        }
        tag.push('"');
        Ok::<_, Problem>(Answer {
            tag: tag.into(),
            body: body.into(),
        })
    };
    let Answer { body, tag } = site.kept.0.get_or_insert_async(&key, fresh).await?;

    let tag_value = HeaderValue::from_str(&tag).map_err(|_| Problem::Internal)?;
    let tag: ETag = tag.parse().map_err(|_| Problem::Internal)?;
    let wanted: Option<IfNoneMatch> = headers.typed_get();
    let mut response = if wanted.is_some_and(|known| !known.precondition_passes(&tag)) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, question.content_type)], body).into_response()
    };
    let own = response.headers_mut();
    own.insert(header::ETAG, tag_value);
    own.insert(header::VARY, HeaderValue::from_static("Accept"));
    own.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, no-cache"),
    );
    Ok(response)
}

impl Key {
    async fn of(folga: &Folga, question: &Question<'_>) -> Result<Self, Problem> {
        let mut tx = folga.store.begin().await?;
        let version = settings::version(&mut tx, question.environment).await?;
        tx.rollback().await?;
        let (now, end) = (folga.clock.now(), question.period.to.first_minute());
        let sources = folga.catalog.sources.iter();
        Ok(Self {
            what: question.what.clone(),
            version,
            hour: Hour::containing(now),
            open: sources
                .map(|source| Minute::containing(now - source.grace).min(end))
                .collect(),
        })
    }
}
