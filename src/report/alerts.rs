//! How alerts stand: the view that the API, the page and the command line show.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::store::{
    alerts::{Alert, Alerted},
    silences::Silence,
};

/// How alerts stand now.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct Alerts {
    /// What is alerted now, the worst first.
    pub standings: Vec<Alerted>,
    /// The silences that hold, the first to end first.
    pub silences: Vec<Silence>,
    /// How deliveries go, whatever the environment.
    pub delivery: DeliveryView,
    /// The newest alerts, the last one first.
    pub alerts: Vec<Alert>,
}

/// How deliveries go.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = AlertDelivery)]
pub struct DeliveryView {
    /// Whether the catalog says where alerts go; they are only recorded where it does not.
    pub configured: bool,
    /// Alerts that wait to be sent.
    pub waiting: u64,
    /// The notification server is not asked before.
    pub closed_until: Option<DateTime<Utc>>,
    /// Failures in a row.
    pub failures: u32,
    /// What went wrong last.
    pub error: Option<String>,
}

impl Alerts {
    /// The silence that holds for something that is alerted.
    #[must_use]
    pub fn silence_of(&self, alerted: &Alerted) -> Option<&Silence> {
        self.silence(&alerted.environment, alerted.limit.as_deref()?)
    }

    /// The silence that holds for a limit.
    #[must_use]
    pub fn silence(&self, environment: &str, limit: &str) -> Option<&Silence> {
        let is_own = |silence: &&Silence| silence.environment == environment && silence.limit == limit;
        self.silences.iter().find(is_own)
    }
}
