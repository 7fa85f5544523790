//! The demo, as `make demo ARGS=--once` runs it.

use super::support::{Folga, SERVERS};

#[tokio::test]
async fn the_demo_plays_and_prints_the_report() {
    let ran = Folga::new(&["demo", "--once"], SERVERS.postgres.folder())
        .run()
        .await
        .succeeded();
    let line = |limit: &str| {
        let line = ran
            .stdout
            .lines()
            .find(|line| line.trim_start().starts_with(limit));
        line.unwrap_or_else(|| panic!("no line for {limit}:\n{}", ran.stdout))
    };
    // 24 logins from one address within an hour where 20 are allowed; 8 of them within 15 minutes where 10 are.
    let over = line("send-otp.ip ");
    assert!(over.contains("120.0 %") && over.contains("over"), "{over}");
    let near = line("verify.ip ");
    assert!(near.contains("80.0 %") && near.contains("near"), "{near}");
    // The gateway is covered without a gap: the traffic begins in the morning of the first of 35 days.
    assert!(
        ran.stdout
            .contains("43200 of 43200 minutes covered, 34 full days in a row"),
        "{}",
        ran.stdout
    );
}
