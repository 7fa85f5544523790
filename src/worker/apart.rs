//! Heavy work on a thread of its own.

use tokio::{
    runtime::Handle,
    task::{JoinError, spawn_blocking},
};
use tokio_util::sync::CancellationToken;
use tracing::Span;

/// Runs a future on a thread of its own: a fold or a report computes for seconds on end, and on a small machine nothing
/// else would be answered meanwhile. Where `stop` comes first, the future is dropped and there is no result.
///
/// # Errors
/// The future panicked.
pub async fn apart<T, F>(
    stop: CancellationToken,
    make: impl FnOnce() -> F + Send + 'static,
) -> Result<Option<T>, JoinError>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let (runtime, span) = (Handle::current(), Span::current());
    spawn_blocking(move || span.in_scope(|| runtime.block_on(stop.run_until_cancelled(make())))).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_result_a_stop_and_a_panic_come_back() {
        let stop = CancellationToken::new();
        assert_eq!(apart(stop.clone(), || async { 7 }).await.unwrap(), Some(7));
        let panicked = apart(stop.clone(), || async { panic!("on purpose") }).await;
        assert!(panicked.map(|_: Option<()>| ()).unwrap_err().is_panic());
        stop.cancel();
        assert_eq!(apart(stop, std::future::pending::<()>).await.unwrap(), None);
    }
}
