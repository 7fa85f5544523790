//! Whether Redis and Postgres are there, said at once whatever hangs.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use tokio::task::AbortHandle;

use crate::{catalog::RedisSettings, source::Session, store::Probe, worker::Folga};

/// Somebody who asks waits no longer.
const ANSWER_WITHIN: Duration = Duration::from_millis(700);
/// A question itself may wait longer: the first one opens a connection, perhaps over an ocean.
const ASK_FOR: Duration = Duration::from_secs(3);
/// An answer holds this long.
const FRESH: Duration = Duration::from_secs(1);

/// The two servers.
pub(super) struct Pulses {
    redis: Pulse,
    postgres: Pulse,
}

impl Pulses {
    pub(super) fn new(folga: &Folga) -> Self {
        let settings = folga.catalog.redis.clone();
        let session = Arc::new(tokio::sync::Mutex::new(None));
        let probe = Arc::new(tokio::sync::Mutex::new(Probe::new(&folga.store)));
        Self {
            redis: Pulse::new(move || {
                let (settings, session) = (settings.clone(), Arc::clone(&session));
                async move { ask_redis(&settings, &mut *session.lock().await).await }
            }),
            postgres: Pulse::new(move || {
                let probe = Arc::clone(&probe);
                async move { probe.lock().await.ask().await.is_ok() }
            }),
        }
    }

    /// Whether Redis and Postgres are up, in this order.
    pub(super) async fn are_up(&self) -> (bool, bool) {
        tokio::join!(self.redis.is_up(), self.postgres.is_up())
    }
}

/// A kept session may have been broken by a restart that is over, so another one is tried.
async fn ask_redis(settings: &RedisSettings, kept: &mut Option<Session>) -> bool {
    // Taken, so that one which was given up half-way is never used again.
    if let Some(session) = kept.take()
        && session.ping().await.is_ok()
    {
        *kept = Some(session);
        return true;
    }
    let Ok(session) = Session::open(settings).await else {
        return false;
    };
    *kept = Some(session);
    true
}

type Answer = Shared<BoxFuture<'static, bool>>;

/// One server. However many ask at once, it is asked once.
struct Pulse {
    ask: Box<dyn Fn() -> BoxFuture<'static, bool> + Send + Sync>,
    asked: Mutex<Option<(Instant, AbortHandle, Answer)>>,
}

impl Pulse {
    fn new<F>(ask: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = bool> + Send + 'static,
    {
        let ask = move || {
            tokio::time::timeout(ASK_FOR, ask())
                .map(|answer| answer.unwrap_or(false))
                .boxed()
        };
        Self {
            ask: Box::new(ask),
            asked: Mutex::new(None),
        }
    }

    async fn is_up(&self) -> bool {
        tokio::time::timeout(ANSWER_WITHIN, self.answer())
            .await
            .unwrap_or(false)
    }

    fn answer(&self) -> Answer {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, task, answer)) = &*asked
            && (!task.is_finished() || at.elapsed() < FRESH)
        {
            return answer.clone();
        }
        // A task of its own: it goes on when whoever asked has given up.
        let task = tokio::spawn((self.ask)());
        let handle = task.abort_handle();
        let answer = task.map(|answer| answer.unwrap_or(false)).boxed().shared();
        *asked = Some((Instant::now(), handle, answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn many_ask_once() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let pulse = Pulse::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            async { true }
        });
        for _ in 0..20 {
            assert!(pulse.is_up().await);
        }
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn silence_is_down_in_time() {
        let pulse = Pulse::new(std::future::pending);
        let start = Instant::now();
        assert!(!pulse.is_up().await);
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}
