//! `folga serve`: the schedule and the HTTP side, until a signal ends both.

use std::{future::IntoFuture as _, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, bail};
use axum::serve::ListenerExt as _;
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
    time::timeout,
};
use tokio_util::task::TaskTracker;

use crate::{
    catalog::HttpSettings,
    http::{Site, router},
    store::{in_words, runs},
    worker::{
        Folga,
        alerting::Alerting,
        board::Board,
        post::{Post, PostStanding},
        schedule::{Stop, Worker},
    },
};

/// Work that is running when a signal comes may take this long to end by itself; orchestrators kill after ten seconds.
const PATIENCE: Duration = Duration::from_secs(7);
/// And this long to drop what it holds when it is not let.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Takes the address, so that one which is taken is told before anything else begins.
///
/// # Errors
/// The address is taken or not this machine's, or may not be served without a token.
pub async fn listen(settings: &HttpSettings) -> Result<TcpListener> {
    settings.check_serving()?;
    let remedy = "is another folga running? `listen` in [http] or FOLGA_LISTEN names another address";
    TcpListener::bind(settings.listen)
        .await
        .with_context(|| format!("listening on {}: {remedy}", settings.listen))
}

/// Runs the schedule and answers over HTTP until SIGTERM or SIGINT. Then nothing new begins, and what is running has
/// seven seconds to end before it is dropped with its open transaction; a second signal drops it at once.
///
/// # Errors
/// The database fails at the start, or a part of the service ends by itself.
pub async fn serve(folga: &Folga, listener: TcpListener) -> Result<()> {
    let mut signals = Signals::new()?;
    let address = listener.local_addr()?;
    let (board, post) = notes(folga).await.map_err(|error| in_words(&error))?;
    let (stop, tracker) = (Stop::default(), TaskTracker::new());

    let site = router(Site::new(folga.clone(), Arc::clone(&board), Arc::clone(&post)));
    let listener = listener.tap_io(|connection| _ = connection.set_nodelay(true));
    let server = axum::serve(listener, site).with_graceful_shutdown(stop.soon.clone().cancelled_owned());
    let mut server = tracker.spawn(server.into_future());
    tracing::info!(%address, "listening");
    let worker = Worker {
        folga: folga.clone(),
        board,
        tracker: tracker.clone(),
        stop: stop.clone(),
        drained: Arc::default(),
    };
    let alerting = Alerting::new(&worker, post)?;
    let mut alerting = tracker.spawn(alerting.run(worker.clone()));
    let mut scheduler = worker.start().await.context("starting the schedule")?;

    let result = tokio::select! {
        name = signals.next() => {
            tracing::info!(signal = name, "stopping");
            Ok(())
        }
        ended = &mut server => Err(match ended {
            Ok(Err(error)) => anyhow::Error::from(error).context("the HTTP side ended"),
            _ => anyhow::anyhow!("the HTTP side ended"),
        }),
        // Better no service than one that alerts nobody and looks well.
        _ = &mut alerting => Err(anyhow::anyhow!("the watch over alerts ended")),
    };
    stop.soon.cancel();
    tracker.close();
    scheduler.shutdown().await.context("stopping the schedule")?;
    let in_haste = tokio::select! {
        ended = timeout(PATIENCE, tracker.wait()) => {
            if ended.is_err() {
                tracing::warn!("stopping what is still running");
            }
            false
        }
        _ = signals.next() => true,
    };
    stop.now.cancel();
    _ = timeout(LAST_MOMENT, tracker.wait()).await;
    if in_haste {
        bail!(
            "a second signal came before all work had ended: what was running is done again after the next start"
        );
    }
    result
}

/// What drains and deliveries are noted on, beginning with how earlier processes left them.
async fn notes(folga: &Folga) -> Result<(Arc<Board>, Arc<Post>), sqlx::Error> {
    let now = folga.clock.now();
    let mut tx = folga.store.begin().await?;
    let successes = runs::last_successes(&mut tx).await?;
    let post = PostStanding::read(&mut tx, folga.catalog.ntfy.as_ref(), now).await?;
    tx.rollback().await?;
    let board = Board::new(&folga.catalog, now, &successes);
    Ok((Arc::new(board), Arc::new(Post::new(post))))
}

/// Waits for SIGTERM or SIGINT, and tells which came.
///
/// # Errors
/// The system lets no one wait for signals.
pub async fn interrupted() -> Result<&'static str> {
    Ok(Signals::new()?.next().await)
}

/// The signals that mean: end.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        let [terminate, interrupt] = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
        Ok(Self {
            terminate: terminate?,
            interrupt: interrupt?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
