//! The report against a direct count of the definitions, over random samples that go through Redis and Postgres.

mod count;
mod worlds;

use std::collections::BTreeMap;

use chrono_tz::Tz;
use serde_json::json;

use self::{
    count::{Algorithm, Counted, Limit, Window},
    worlds::{Sample, samples},
};
use crate::support::{
    Bench, at,
    catalogs::{HEAD, MESSAGES, drain, limit, limits, report_at},
};

/// A zone, and which of its hours are looked at. Samples begin 20 hours before the days, so that windows reach back.
struct World {
    seed: u64,
    zone: Tz,
    /// Whole local days.
    days: [&'static str; 2],
    /// A period that begins and ends within days, the last one after the drain.
    edges: [&'static str; 2],
    /// When everything is drained.
    now: &'static str,
}

const SECONDS: [u64; 7] = [5, 60, 900, 1800, 3600, 6 * 3600, 24 * 3600];

/// Every window with every algorithm, shared and not.
fn all_limits() -> Vec<Limit> {
    let mut all = Vec::new();
    for shared in [false, true] {
        for algorithm in [Algorithm::Anchored, Algorithm::Sliding, Algorithm::Fixed] {
            all.extend(SECONDS.map(|seconds| Limit {
                window: Window::Seconds(seconds),
                algorithm,
                shared,
            }));
        }
        all.push(Limit {
            window: Window::LocalDay,
            algorithm: Algorithm::Fixed,
            shared,
        });
    }
    all
}

/// A world with these samples in its Redis.
async fn bench(world: &World, own: &[Limit], samples: &BTreeMap<Sample, u64>) -> Bench {
    let own: Vec<_> = own.iter().map(|limit| (limit.id(), limit.lines())).collect();
    let own: Vec<_> = own.iter().map(|(id, lines)| (&**id, &**lines)).collect();
    let head = HEAD.replace("UTC", world.zone.name());
    // All of it can still be read when it is drained.
    let source = MESSAGES.replace("2h", "5d");
    let bench = Bench::new(&[&*head, &*source, &limits(&own)].concat()).await;
    let mut pipe = redis::pipe();
    for (sample, count) in samples {
        let minute = sample.start().format("%Y%m%d%H%M");
        let key = bench.key(&format!("m:{}:{minute}", sample.endpoint));
        pipe.hset(&key, sample.identity, count).ignore();
        pipe.expire(&key, 3600).ignore();
    }
    pipe.exec_async(&mut bench.redis().await).await.unwrap();
    bench
}

/// Drains a world once and compares both of its periods.
async fn agrees(world: World) {
    let (own, samples) = (all_limits(), samples(&world));
    let bench = bench(&world, &own, &samples).await;
    drain(&bench, world.now).await.succeeded();
    // Among equals the smallest identity comes first: these are the numbers they are compared by.
    let ids: Vec<(String, i64)> = sqlx::query_as("SELECT label, id FROM labels")
        .fetch_all(&bench.pool)
        .await
        .unwrap();
    let counted = Counted::new(&samples, &ids.into_iter().collect(), world.zone, at(world.now));
    for period in [world.days, world.edges] {
        let [from, to] = period.map(at);
        let report = report_at(&bench, period[0], period[1], world.now).await;
        for own in &own {
            let found = limit(&report, &own.id());
            let found = count::FIGURES.map(|name| (name, found[name].clone()));
            let expected = counted.figures(own, from, to);
            let expected = count::FIGURES.map(|name| (name, expected[name].clone()));
            assert_eq!(
                found,
                expected,
                "{} from {from} to {to}, seed {}",
                own.id(),
                world.seed
            );
        }
        assert_eq!(report["coverage"][0]["gaps"], json!([]));
    }
}

impl Limit {
    fn id(&self) -> String {
        let shared = if self.shared { "-shared" } else { "" };
        format!("{:?}-{:?}{shared}", self.window, self.algorithm)
            .replace(['(', ')'], "")
            .to_lowercase()
    }

    /// Small enough to be passed now and then.
    fn value(&self) -> u64 {
        let alone = match self.window {
            Window::Seconds(..=60) => 4,
            Window::Seconds(..=1800) => 8,
            Window::Seconds(_) | Window::LocalDay => 20,
        };
        if self.shared { 3 * alone } else { alone }
    }

    fn lines(&self) -> String {
        let window = match self.window {
            Window::Seconds(seconds @ ..60) => format!("{seconds}s"),
            Window::Seconds(seconds @ ..3600) => format!("{}m", seconds / 60),
            Window::Seconds(seconds) => format!("{}h", seconds / 3600),
            Window::LocalDay => "1d".to_owned(),
        };
        let algorithm = format!("{:?}", self.algorithm).to_lowercase();
        format!(
            "endpoints = [\"alpha\", \"beta\"]\nlimit = {}\nwindow = \"{window}\"\nalgorithm = \"{algorithm}\"\nshared = {}",
            self.value(),
            self.shared
        )
    }
}

#[tokio::test]
async fn days_of_utc_agree_with_a_direct_count() {
    agrees(World {
        seed: 1,
        zone: chrono_tz::UTC,
        days: ["2025-03-10T00:00:00Z", "2025-03-12T00:00:00Z"],
        edges: ["2025-03-10T13:00:00Z", "2025-03-12T20:00:00Z"],
        now: "2025-03-12T15:37:10Z",
    })
    .await;
}

#[tokio::test]
async fn a_day_of_23_hours_agrees_with_a_direct_count() {
    // The 3rd and the 4th of November, whose midnight is skipped.
    agrees(World {
        seed: 2,
        zone: chrono_tz::America::Sao_Paulo,
        days: ["2018-11-03T03:00:00Z", "2018-11-05T02:00:00Z"],
        edges: ["2018-11-03T22:00:00Z", "2018-11-05T13:00:00Z"],
        now: "2018-11-05T11:20:10Z",
    })
    .await;
}

#[tokio::test]
async fn a_day_of_25_hours_agrees_with_a_direct_count() {
    // The 17th of February, whose last hour comes twice, and the 18th.
    agrees(World {
        seed: 3,
        zone: chrono_tz::America::Sao_Paulo,
        days: ["2018-02-17T02:00:00Z", "2018-02-19T03:00:00Z"],
        edges: ["2018-02-18T02:00:00Z", "2018-02-19T17:00:00Z"],
        now: "2018-02-19T16:05:10Z",
    })
    .await;
}

#[tokio::test]
async fn days_that_end_within_an_hour_of_utc_agree_with_a_direct_count() {
    // The 10th and the 11th of March, by the hours of UTC that start in them.
    agrees(World {
        seed: 4,
        zone: chrono_tz::Asia::Kathmandu,
        days: ["2025-03-09T19:00:00Z", "2025-03-11T19:00:00Z"],
        edges: ["2025-03-10T18:00:00Z", "2025-03-12T11:00:00Z"],
        now: "2025-03-12T10:50:10Z",
    })
    .await;
}
