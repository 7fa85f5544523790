//! That Postgres can't be used is told without it: once, by one of all processes, and so is its return.

use folga::worker::emergency::Emergency;

use super::support::{
    Manner, Watch, at,
    catalogs::{THIRTY, messages},
};

const DOWN: &str = "folga can't use its Postgres";
const UP: &str = "folga uses its Postgres again";

async fn watch() -> Watch {
    Watch::new(&messages(&[("messages", THIRTY)]), "").await
}

/// A process of its own, which knows nothing of others but what Redis does.
fn process(watch: &Watch) -> Emergency {
    Emergency::new(watch.catalog()).unwrap().unwrap()
}

async fn down(process: &Emergency) {
    let noon = at("2025-03-10T12:00:00Z");
    process.down("it is gone", noon, noon).await;
}

async fn up(process: &Emergency) {
    process.up(at("2025-03-10T12:10:00Z")).await;
}

async fn forget_cooldown(watch: &Watch) {
    redis::cmd("DEL")
        .arg(watch.bench.key("ac:folga:service:postgres:critical"))
        .exec_async(&mut watch.bench.redis().await)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_outage_is_told_once_and_so_is_its_end() {
    let watch = watch().await;
    let own = process(&watch);
    up(&own).await;
    for _ in 0..3 {
        down(&own).await;
    }
    assert_eq!(watch.server.titles(), [DOWN]);
    for _ in 0..3 {
        up(&own).await;
    }
    assert_eq!(watch.server.titles(), [DOWN, UP]);
    assert_eq!(
        watch.server.taken()[1]["message"],
        "It could not be used from 12:00 on 10 Mar to 12:10 on 10 Mar."
    );
}

#[tokio::test]
async fn a_second_outage_is_told_once_the_cooldown_is_over() {
    let watch = watch().await;
    let own = process(&watch);
    down(&own).await;
    up(&own).await;
    // It flaps: nobody hears of it, nor of its ends.
    for _ in 0..3 {
        down(&own).await;
        up(&own).await;
    }
    let other = process(&watch);
    down(&other).await;
    up(&other).await;
    assert_eq!(watch.server.titles(), [DOWN, UP]);
    forget_cooldown(&watch).await;
    let third = process(&watch);
    down(&third).await;
    up(&third).await;
    assert_eq!(watch.server.titles(), [DOWN, UP, DOWN, UP]);
}

#[tokio::test]
async fn of_two_processes_one_tells() {
    let watch = watch().await;
    let (one, other) = (process(&watch), process(&watch));
    tokio::join!(down(&one), down(&other));
    assert_eq!(watch.server.titles(), [DOWN]);
    tokio::join!(up(&one), up(&other));
    tokio::join!(up(&one), up(&other));
    assert_eq!(watch.server.titles(), [DOWN, UP]);
}

#[tokio::test]
async fn a_process_tells_the_end_of_what_an_earlier_one_told() {
    let watch = watch().await;
    let earlier = process(&watch);
    earlier.at_start("it is gone", at("2025-03-10T12:00:00Z")).await;
    // One that is started over and over tells it once.
    process(&watch)
        .at_start("it is gone", at("2025-03-10T12:01:00Z"))
        .await;
    assert_eq!(watch.server.titles(), [DOWN]);
    up(&process(&watch)).await;
    up(&process(&watch)).await;
    assert_eq!(watch.server.titles(), [DOWN, UP]);
}

#[tokio::test]
async fn a_message_that_was_not_taken_is_tried_again_by_whoever_comes_next() {
    let mut watch = watch().await;
    watch.server.want("tk_right");
    let own = process(&watch);
    down(&own).await;
    assert_eq!(watch.server.taken().len(), 0);
    watch.show_token("tk_right");
    down(&process(&watch)).await;
    assert_eq!(watch.server.titles(), [DOWN]);
}

#[tokio::test]
async fn where_redis_may_only_be_read_a_process_remembers_by_itself() {
    let mut watch = Watch::with_own_redis(&messages(&[("messages", THIRTY)]), "").await;
    let user = "ACL SETUSER reader on >secret ~* +@read +@connection";
    let mut words = user.split(' ');
    let mut command = redis::cmd(words.next().unwrap());
    for word in words {
        command.arg(word);
    }
    command.exec_async(&mut watch.bench.redis().await).await.unwrap();
    watch.login("reader", "secret");
    let own = process(&watch);
    for _ in 0..2 {
        down(&own).await;
        down(&own).await;
        up(&own).await;
        up(&own).await;
    }
    assert_eq!(watch.server.titles(), [DOWN, UP]);
    // One that ends for it is told nowhere, as it may be started over and over.
    process(&watch)
        .at_start("it is gone", at("2025-03-10T12:00:00Z"))
        .await;
    assert_eq!(watch.server.taken().len(), 2);
}

#[tokio::test]
async fn where_redis_is_down_too_it_is_told_all_the_same() {
    let mut watch = Watch::with_own_redis(&messages(&[("messages", THIRTY)]), "").await;
    watch.bench.own_redis.as_mut().unwrap().stop().unwrap();
    let own = process(&watch);
    for _ in 0..2 {
        down(&own).await;
    }
    up(&own).await;
    up(&own).await;
    assert_eq!(watch.server.titles(), [DOWN, UP]);
}

#[tokio::test]
async fn an_end_is_told_although_redis_has_lost_its_notes() {
    let watch = Watch::with_own_redis(&messages(&[("messages", THIRTY)]), "").await;
    let own = process(&watch);
    down(&own).await;
    redis::cmd("FLUSHALL")
        .exec_async(&mut watch.bench.redis().await)
        .await
        .unwrap();
    up(&own).await;
    up(&own).await;
    assert_eq!(watch.server.titles(), [DOWN, UP]);
}

#[tokio::test]
async fn an_outage_that_could_not_be_told_is_told_once_it_is_over() {
    let watch = watch().await;
    watch.server.set(Manner::Status(500));
    let own = process(&watch);
    down(&own).await;
    watch.server.set(Manner::Proper);
    up(&own).await;
    up(&own).await;
    assert_eq!(watch.server.titles(), [UP]);
}
