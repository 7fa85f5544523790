//! What the script of a limit's page works on.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{
    Words,
    chart::{Known, grid},
};
use crate::{
    report::{Detail, HourView, PeakView},
    time::{Algorithm, Window},
};

/// JSON to stand in a page: no `<` could end the element that it stands in.
pub(super) fn data(
    detail: &Detail,
    exact: bool,
    period: (DateTime<Utc>, DateTime<Utc>),
    percent: u32,
    words: Words,
) -> String {
    let limit = &detail.limit;
    let grid = grid(detail, period);
    let peak = |value: fn(&PeakView) -> u64| -> Vec<Value> {
        let of = |(_, hour): &(Known, Option<&HourView>)| {
            hour.as_ref()
                .and_then(|hour| hour.peak.as_ref())
                .map_or(Value::Null, |peak| count(value(peak)))
        };
        grid.iter().map(of).collect()
    };
    let histogram: Vec<[Value; 2]> = detail
        .histogram
        .iter()
        .map(|(value, windows)| [count(*value), count(*windows)])
        .collect();
    let value = json!({
        "start": period.0.timestamp(),
        "zone": words.zone.name(),
        "language": words.language.tag(),
        "peaks": peak(PeakView::least),
        "uppers": peak(PeakView::most),
        "known": grid.iter().map(|(known, hour)| letter(*known, hour.is_some_and(|hour| hour.ignored))).collect::<String>(),
        "limit": limit.limit.map(count),
        "alertAt": limit.alert_at.map(count),
        "percent": percent,
        "peak": limit.peak.as_ref().and_then(|peak| peak.value).map(count),
        "fixed": is_fixed(detail),
        "exact": exact,
        "histogram": histogram,
        "words": {
            "peak": words.text("peak"),
            "upper": words.text("upper"),
            "hour": words.text("cursor"),
            "gap": words.text("legend-gap"),
            "limit": words.text("legend-limit"),
            "alert": words.text("legend-alert"),
        },
    });
    value.to_string().replace('<', "\\u003c")
}

/// Windows of a day are fixed whatever their limiter is called.
fn is_fixed(detail: &Detail) -> bool {
    let day = Window::LocalDay.to_string();
    detail.limit.algorithm == Algorithm::Fixed || detail.limit.window == day
}

const fn letter(known: Known, ignored: bool) -> char {
    match known {
        _ if ignored => 'i',
        Known::Whole => 'w',
        Known::Part => 'p',
        Known::Gap => 'g',
        Known::Ahead => ' ',
    }
}

/// A count; as a text where a script's numbers could not hold it.
fn count(count: u64) -> Value {
    if count < 1 << 53 {
        count.into()
    } else {
        count.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_scripts_can_not_hold_are_texts() {
        assert_eq!(count(9_007_199_254_740_991), json!(9_007_199_254_740_991_u64));
        assert_eq!(count(9_007_199_254_740_993), json!("9007199254740993"));
    }
}
