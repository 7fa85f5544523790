//! What the tests share.

mod bench;
mod binary;
mod bouncer;
pub mod catalogs;
mod ntfy;
mod proxy;
mod serving;
mod tls;
mod upstash;
mod watch;

use std::{
    path::Path,
    process::Command,
    sync::LazyLock,
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};
use folga::servers::Private;

pub use bench::Bench;
pub use binary::{Folga, Ran};
pub use bouncer::Bouncer;
pub use ntfy::{Manner, NtfyServer};
pub use proxy::{Behaviour, Proxy};
pub use serving::Serving;
pub use tls::TlsRedis;
pub use upstash::UpstashFront;
pub use watch::Watch;

/// The servers of this run. They are ended by their watchdogs when the run ends.
pub static SERVERS: LazyLock<Private> = LazyLock::new(|| Private::start().expect("private servers start"));

/// An instant, as RFC 3339.
pub fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// Waits until something holds, and fails the test where it still does not after 20 s.
pub async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds().await {
        assert!(Instant::now() < deadline, "waited 20 s in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Sends a signal, STOP or CONT say, to a process.
pub fn signal(name: &str, pid: u32) {
    let status = Command::new("kill")
        .args(["-s", name, &pid.to_string()])
        .status()
        .expect("kill runs");
    assert!(status.success(), "kill -s {name} {pid}");
}

/// Whether a process is there and no zombie.
pub fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}/exe")).read_link().is_ok()
}
