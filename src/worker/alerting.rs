//! Looks after the alerts of a service: what is overdue, what the database can't be told, and what is to be sent.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use tokio::time::timeout;

use super::{
    commands,
    deliver::{Round, Sender},
    emergency::Emergency,
    overdue::Overdue,
    post::{Post, PostCounts, PostStanding},
    schedule::Worker,
};
use crate::store::{Probe, StoreError, explain};

/// Between two looks, where no drain ends meanwhile.
const PAUSE: Duration = Duration::from_secs(15);
/// Where Postgres does not answer, it is looked at again so soon.
const SECOND_LOOK: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(3);
/// A round of sending ends after this long, and the next one goes on.
const PATIENCE: Duration = Duration::from_mins(1);

/// A round that hangs in a server that answers no more is given up, and the next one goes on.
const ROUND_LIMIT: Duration = Duration::from_secs(150);

/// Everything that tells somebody of something.
pub struct Alerting {
    sender: Option<Sender>,
    emergency: Option<Emergency>,
    probe: Probe,
    overdue: Overdue,
    /// When a look first found no Postgres.
    missing_since: Option<DateTime<Utc>>,
    post: Arc<Post>,
}

impl Alerting {
    /// Whatever the catalog asks for. How deliveries go is noted on `post`.
    ///
    /// # Errors
    /// The system has no certificates that could be trusted.
    pub fn new(worker: &Worker, post: Arc<Post>) -> anyhow::Result<Self> {
        Ok(Self {
            sender: Sender::new(&worker.folga)?,
            emergency: Emergency::new(&worker.folga.catalog)?,
            probe: Probe::new(&worker.folga.store),
            overdue: Overdue::new(worker.folga.clock.now()),
            missing_since: None,
            post,
        })
    }

    /// Goes on until the service is told to stop.
    pub async fn run(mut self, worker: Worker) {
        while !worker.stop.soon.is_cancelled() {
            let look = worker.stop.now.run_until_cancelled(self.look(&worker));
            let Some(is_there) = look.await else { return };
            tokio::select! {
                () = worker.stop.soon.cancelled() => {}
                () = worker.drained.notified(), if is_there => {}
                () = tokio::time::sleep(if is_there { PAUSE } else { SECOND_LOOK }) => {}
            }
        }
    }

    /// Does what there is to do, and says whether Postgres is there. That it is not is told when a second look finds the
    /// same.
    async fn look(&mut self, worker: &Worker) -> bool {
        let asked = timeout(ANSWER_WITHIN, self.probe.ask()).await;
        let missing = match asked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(explain(&error)),
            Err(_) => Some("Postgres does not answer: check that it runs and is reachable".to_owned()),
        };
        let now = worker.folga.clock.now();
        if let Some(reason) = missing {
            self.overdue.begin_anew(now);
            match (self.missing_since, &self.emergency) {
                (None, _) => self.missing_since = Some(now),
                (Some(since), Some(emergency)) => emergency.down(&reason, since, now).await,
                (Some(_), None) => {}
            }
            return false;
        }
        self.missing_since = None;
        if let Some(emergency) = &self.emergency {
            emergency.up(now).await;
        }
        match timeout(ROUND_LIMIT, self.round(worker)).await {
            Err(_) => tracing::warn!("alerts wait: a server answers no more; the next round sends them"),
            Ok(Ok(Round { sent: 0, .. })) => {}
            Ok(Ok(round)) => tracing::info!(messages = round.sent, "alerts sent"),
            // Drains hold all connections, say.
            Ok(Err(error)) => {
                tracing::warn!(error = explain(&error), "alerts wait: the next round sends them");
            }
        }
        true
    }

    async fn round(&mut self, worker: &Worker) -> Result<Round, StoreError> {
        let folga = &worker.folga;
        // What is there to be sent waits for nothing else.
        let round = match &self.sender {
            Some(sender) => sender.round(PATIENCE).await?,
            None => Round::default(),
        };
        self.overdue.look(folga, &worker.board).await?;
        commands::look(folga).await?;
        self.post.count(PostCounts {
            sent: round.sent.into(),
            failed: round.failed.into(),
        });
        let mut tx = folga.store.begin().await?;
        let standing = PostStanding::read(&mut tx, folga.catalog.ntfy.as_ref(), folga.clock.now()).await?;
        tx.rollback().await?;
        self.post.note(standing);
        Ok(round)
    }
}
