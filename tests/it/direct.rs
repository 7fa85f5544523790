//! Reports against a direct count of the definitions, over samples that look random.

mod count;

use std::collections::{BTreeMap, HashMap};

use chrono::DateTime;
use serde_json::json;

use self::count::{Direct, series};
use super::support::{
    Bench, at,
    catalogs::{HEAD, MESSAGES, drain, limit, limits, report_at},
};

/// What was counted: endpoint, identity, minute since 1970.
type Counts = BTreeMap<(&'static str, String, i64), u64>;

struct World {
    zone: &'static str,
    /// No count is before this.
    first: &'static str,
    now: &'static str,
    /// Two local days, and hours that begin and end within days.
    periods: [[&'static str; 2]; 2],
}

/// Beginning some hours before the first day, and ending in the third one.
const WORLDS: [World; 3] = [
    World {
        zone: "UTC",
        first: "2025-03-07T20:00:00Z",
        now: "2025-03-10T14:07:20Z",
        periods: [
            ["2025-03-08T00:00:00Z", "2025-03-10T00:00:00Z"],
            ["2025-03-08T05:00:00Z", "2025-03-10T15:00:00Z"],
        ],
    },
    // The second day begins at 01:00 and has 23 hours.
    World {
        zone: "America/Sao_Paulo",
        first: "2018-11-02T22:00:00Z",
        now: "2018-11-05T16:07:20Z",
        periods: [
            ["2018-11-03T03:00:00Z", "2018-11-05T02:00:00Z"],
            ["2018-11-03T09:00:00Z", "2018-11-05T17:00:00Z"],
        ],
    },
    // Days begin at 18:30Z.
    World {
        zone: "Asia/Kolkata",
        first: "2025-03-07T12:00:00Z",
        now: "2025-03-10T08:37:20Z",
        periods: [
            ["2025-03-07T19:00:00Z", "2025-03-09T19:00:00Z"],
            ["2025-03-08T01:00:00Z", "2025-03-10T09:00:00Z"],
        ],
    },
];

/// A window, how many minutes it has, and a limit that some of the samples pass. Five seconds are counted by minutes.
const WINDOWS: [(&str, i64, u64); 8] = [
    ("5s", 1, 40),
    ("1m", 1, 25),
    ("15m", 15, 50),
    ("30m", 30, 60),
    ("1h", 60, 80),
    ("6h", 360, 120),
    ("24h", 1440, 250),
    ("1d", 1440, 250),
];

/// Endpoints of limits, by turns, and what they match.
const ENDPOINTS: [(&str, fn(&str) -> bool); 3] = [
    ("send-a", |endpoint| endpoint == "send-a"),
    ("send-*", |endpoint| endpoint.starts_with("send-")),
    ("*", |_| true),
];

struct Limit {
    id: String,
    window: &'static str,
    width: i64,
    value: u64,
    algorithm: &'static str,
    shared: bool,
    endpoints: (&'static str, fn(&str) -> bool),
}

fn all_limits() -> Vec<Limit> {
    let mut all = Vec::new();
    for (window, width, value) in WINDOWS {
        for algorithm in ["anchored", "sliding", "fixed"] {
            for shared in [false, true] {
                if window == "1d" && algorithm != "fixed" {
                    continue;
                }
                all.push(Limit {
                    id: format!("{window}.{algorithm}.{shared}"),
                    window,
                    width,
                    value: if shared { value * 3 } else { value },
                    algorithm,
                    shared,
                    endpoints: ENDPOINTS[all.len() % ENDPOINTS.len()],
                });
            }
        }
    }
    all
}

fn catalog(zone: &str, all: &[Limit]) -> String {
    let lines = |limit: &Limit| {
        format!(
            "endpoints = [{:?}]\nlimit = {}\nwindow = {:?}\nalgorithm = {:?}\nshared = {}",
            limit.endpoints.0, limit.value, limit.window, limit.algorithm, limit.shared
        )
    };
    let lines: Vec<_> = all.iter().map(|limit| (&*limit.id, lines(limit))).collect();
    let lines: Vec<_> = lines.iter().map(|(id, lines)| (*id, &**lines)).collect();
    let catalog = [HEAD, MESSAGES, &limits(&lines)].concat();
    catalog
        .replace("\"UTC\"", &format!("{zone:?}"))
        .replace("\"2h\"", "\"96h\"")
}

fn minute_of(instant: &str) -> i64 {
    at(instant).timestamp().div_euclid(60)
}

/// Numbers below an end that look random: xorshift (Marsaglia, 2003).
fn below(state: &mut u64, end: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) % end
}

/// Most of them in bursts about full hours, the rest anywhere.
fn samples(first: i64, end: i64, seed: u64) -> Counts {
    let mut state = seed;
    let mut counts = Counts::new();
    let hours = (end - first).cast_unsigned() / 60;
    let bursts: Vec<i64> = (0..12)
        .map(|_| first + below(&mut state, hours).cast_signed() * 60)
        .collect();
    while counts.len() < 400 {
        let minute = if below(&mut state, 10) < 7 {
            let burst = bursts[usize::try_from(below(&mut state, 12)).unwrap()];
            burst + below(&mut state, 40).cast_signed() - 20
        } else {
            first + below(&mut state, hours * 60).cast_signed()
        };
        if (first..end).contains(&minute) {
            let endpoint = ["send-a", "send-b", "read"][usize::try_from(below(&mut state, 3)).unwrap()];
            let who = format!("esc-{}", below(&mut state, 8));
            counts.insert((endpoint, who, minute), 1 + below(&mut state, 30));
        }
    }
    counts
}

async fn write(bench: &Bench, counts: &Counts) {
    let mut pipe = redis::pipe();
    for ((endpoint, who, minute), count) in counts {
        let minute = DateTime::from_timestamp(minute * 60, 0)
            .unwrap()
            .format("%Y%m%d%H%M");
        let key = bench.key(&format!("m:{endpoint}:{minute}"));
        pipe.hset(&key, who, count).ignore().expire(&key, 3600).ignore();
    }
    pipe.exec_async(&mut bench.redis().await).await.expect("HSET");
}

async fn agrees(world: &World, seed: u64) {
    let all = all_limits();
    let bench = Bench::new(&catalog(world.zone, &all)).await;
    // A minute is closed five seconds after its end, and nothing is read before.
    let closed_before = minute_of(world.now);
    let counts = samples(minute_of(world.first), closed_before, seed);
    write(&bench, &counts).await;
    drain(&bench, world.now).await.succeeded();
    let ids: Vec<(String, i64)> = sqlx::query_as("SELECT label, id FROM labels")
        .fetch_all(&bench.pool)
        .await
        .unwrap();
    let ids: HashMap<String, i64> = ids.into_iter().collect();
    for [from, to] in world.periods {
        let report = report_at(&bench, from, to, world.now).await;
        for own in &all {
            let direct = Direct {
                limit: own,
                zone: world.zone.parse().unwrap(),
                series: series(own, &counts, &ids),
                from: minute_of(from),
                to: minute_of(to),
                closed_before,
                first: counts.keys().map(|(_, _, minute)| *minute).min().unwrap(),
            };
            let names = [
                "peak",
                "total",
                "would_block",
                "percentiles",
                "top_identities",
                "by_hour",
                "status",
            ];
            let found = json!(names.map(|name| limit(&report, &own.id)[name].clone()));
            let expected = direct.expected();
            for (place, name) in names.iter().enumerate() {
                assert_eq!(
                    found[place], expected[place],
                    "{name} of {} {from} {to} {seed}",
                    own.id
                );
            }
        }
    }
}

#[tokio::test]
async fn reports_agree_with_a_direct_count() {
    agrees(&WORLDS[0], 1).await;
    agrees(&WORLDS[0], 2).await;
}

#[tokio::test]
async fn reports_agree_with_a_direct_count_where_midnight_is_skipped() {
    agrees(&WORLDS[1], 3).await;
    agrees(&WORLDS[1], 4).await;
}

#[tokio::test]
async fn reports_agree_with_a_direct_count_where_days_begin_at_half_past() {
    agrees(&WORLDS[2], 5).await;
    agrees(&WORLDS[2], 6).await;
}
