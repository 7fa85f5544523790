//! What a report is made of.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use chrono::{DateTime, Utc};

use super::Period;
use crate::{
    calibration::Vouched,
    catalog::{Catalog, Mode},
    fold::{Merged, Peak},
    time::Day,
};

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct ReportInput<'a> {
    /// The catalog.
    pub catalog: &'a Catalog,
    /// The environment.
    pub environment: &'a str,
    /// The one group to report, by id; all of them where absent.
    pub group: Option<&'a str>,
    /// The hours.
    pub period: Period,
    /// The present instant.
    pub generated_at: DateTime<Utc>,
    /// Figures by limit id, without ignored hours; a limit that is missing has none.
    pub limits: &'a HashMap<String, LimitData>,
    /// What was counted of endpoints that no limit names, where they are asked for.
    pub unlimited: &'a [UnlimitedData],
    /// Covered minutes by source name; a source that is missing has none. For days in a row they reach back before
    /// the period.
    pub sources: &'a BTreeMap<String, Vouched>,
    /// Labels of identities of public scopes, by scope and identity.
    pub labels: &'a HashMap<(String, i64), String>,
}

/// What was read of one limit.
#[derive(Clone, Debug, Default)]
pub struct LimitData {
    /// What its shape counted.
    pub counted: Arc<ShapeData>,
    /// The same of accepted requests alone, where its source tells outcomes and it counts refused ones too.
    pub accepted: Option<Arc<ShapeData>>,
    /// Which values were in force, from when on, ascending.
    pub in_force: Vec<InForce>,
}

/// What was read of a shape.
#[derive(Clone, Debug, Default)]
pub struct ShapeData {
    /// The figures of the period.
    pub merged: Merged,
    /// The figures of its local days, as far as they lie in the period; days without samples are missing.
    pub days: BTreeMap<Day, Merged>,
    /// Since when its counts are known: its sources' first sample, or later where the shape is younger.
    pub history_from: Option<DateTime<Utc>>,
}

/// A value that was in force from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The instant.
    pub from: DateTime<Utc>,
    /// The value; none where nothing was limited.
    pub value: Option<u64>,
    /// The mode; none where the limit was out of the catalog.
    pub mode: Option<Mode>,
}

/// What was counted in the minutes of an endpoint that no limit names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlimitedData {
    /// The source.
    pub source: String,
    /// The endpoint.
    pub endpoint: String,
    /// The scope.
    pub scope: String,
    /// All that was counted.
    pub total: u128,
    /// What of it was accepted, where the source tells.
    pub accepted: Option<u128>,
    /// Local days with traffic.
    pub active_days: u32,
    /// The largest minute of an identity, by outcome.
    pub peaks: Vec<Peak>,
}
