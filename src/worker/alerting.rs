//! Looks after the alerts of a service: what is overdue, what the database can't be told, and what is to be sent.

use std::time::Duration;

use super::{
    commands,
    deliver::{Round, Sender},
    emergency::Emergency,
    schedule::Worker,
    watch,
};
use crate::store::{Probe, StoreError, explain};

/// Between two looks, where no drain ends meanwhile.
const PAUSE: Duration = Duration::from_secs(15);
/// A round of sending ends after this long, and the next one goes on.
const PATIENCE: Duration = Duration::from_mins(1);

/// Everything that tells somebody of something.
pub struct Alerting {
    sender: Option<Sender>,
    emergency: Option<Emergency>,
    probe: Probe,
}

impl Alerting {
    /// Whatever the catalog asks for.
    ///
    /// # Errors
    /// The system has no certificates that could be trusted.
    pub fn new(worker: &Worker) -> anyhow::Result<Self> {
        Ok(Self {
            sender: Sender::new(&worker.folga)?,
            emergency: Emergency::new(&worker.folga.catalog)?,
            probe: Probe::new(&worker.folga.store),
        })
    }

    /// Goes on until the service is told to stop.
    pub async fn run(mut self, worker: Worker) {
        let mut failed_before = false;
        while !worker.stop.soon.is_cancelled() {
            let round = worker.stop.now.run_until_cancelled(self.round(&worker)).await;
            match round {
                None => return,
                Some(Ok(round)) => {
                    failed_before = false;
                    if let Some(emergency) = &self.emergency {
                        emergency.up(worker.folga.clock.now()).await;
                    }
                    if round.sent > 0 {
                        tracing::info!(messages = round.sent, "alerts sent");
                    }
                }
                Some(Err(error)) => {
                    // Twice in a row, and not for want of a connection while a drain has them all.
                    if failed_before && self.probe.ask().await.is_err() {
                        let reason = explain(&error);
                        if let Some(emergency) = &self.emergency {
                            emergency.down(&reason, worker.folga.clock.now()).await;
                        }
                    }
                    failed_before = true;
                }
            }
            tokio::select! {
                () = worker.stop.soon.cancelled() => {}
                () = worker.drained.notified() => {}
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    async fn round(&self, worker: &Worker) -> Result<Round, StoreError> {
        watch::overdue(&worker.folga, &worker.board).await?;
        commands::look(&worker.folga).await?;
        match &self.sender {
            Some(sender) => sender.round(PATIENCE).await,
            None => Ok(Round::default()),
        }
    }
}
