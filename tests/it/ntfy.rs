//! The client of the notification server, against one that keeps ntfy's rules.

use chrono::{DateTime, TimeDelta, Utc};
use folga::{
    catalog::{NtfySettings, Secret},
    ntfy::{Delivered, Failure, Message, Ntfy, sequence},
};

use super::support::{Manner, NtfyServer, at};

fn now() -> DateTime<Utc> {
    at("2025-03-10T12:00:00Z")
}

fn client(server: &NtfyServer, token: Option<&str>) -> Ntfy {
    let section = server.section("");
    let url = section.split('"').nth(1).unwrap().to_owned();
    Ntfy::new(&NtfySettings {
        url,
        topic: "limits".to_owned(),
        token: token.map(|token| Secret::new(token.to_owned())),
        daily_budget: 250,
        cooldown: NtfySettings::QUARTER,
        clear_after: NtfySettings::QUARTER,
    })
    .unwrap()
}

fn message(title: &str, text: &str) -> Message {
    Message {
        title: title.to_owned(),
        text: text.to_owned(),
        priority: 4,
        tags: vec!["warning".to_owned()],
        click: Some("https://folga.example.org/limits/áudio".to_owned()),
        sequence: sequence("prod", "send-otp.ip"),
    }
}

#[tokio::test]
async fn whatever_is_written_arrives_in_one_request_whose_headers_are_ascii() {
    let server = NtfyServer::start().await;
    let written = message(
        "⚠ Limite próximo: 72 %",
        "Escola São João 🏫\nmensagens/áudio \"0x7\"",
    );
    let delivered = client(&server, Some("tk_é"))
        .publish(&written, now())
        .await
        .unwrap();
    assert!(delivered.updates);
    let [taken] = &server.taken()[..] else { panic!() };
    assert_eq!(taken["title"], "⚠ Limite próximo: 72 %");
    assert_eq!(taken["message"], "Escola São João 🏫\nmensagens/áudio \"0x7\"");
    let [request] = &server.requests()[..] else {
        panic!()
    };
    assert_eq!((&*request.method, &*request.path), ("POST", "/"));
    for (name, value) in request.headers.iter().filter(|(name, _)| name != "authorization") {
        assert!(value.is_ascii(), "{name}");
    }
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&request.body).unwrap(),
        *taken
    );
}

#[tokio::test]
async fn line_breaks_in_titles_and_texts_of_any_size_are_taken() {
    let server = NtfyServer::start().await;
    let ntfy = client(&server, None);
    for text in [
        "é".repeat(5000),
        "\"".repeat(5000),
        "\u{1}".repeat(5000),
        "🔥".repeat(2000),
    ] {
        ntfy.publish(&message("one\r\ntwo", &text), now()).await.unwrap();
    }
    assert_eq!(server.titles(), ["one  two"; 4]);
}

#[tokio::test]
async fn every_refusal_is_told_apart_and_holds_no_token() {
    type Is = fn(&Failure) -> bool;
    let server = NtfyServer::start().await;
    let ntfy = client(&server, Some("tk_S3NTINEL"));
    let cases: [(Manner, Is); 9] = [
        (Manner::Status(500), |failure| {
            matches!(failure, Failure::Server { status: 500, .. })
        }),
        (Manner::Status(502), |failure| {
            matches!(failure, Failure::Server { status: 502, .. })
        }),
        (Manner::Status(401), |failure| {
            matches!(failure, Failure::Refused { status: 401, .. })
        }),
        (Manner::Status(403), |failure| {
            matches!(failure, Failure::Refused { status: 403, .. })
        }),
        (Manner::Status(413), |failure| {
            matches!(failure, Failure::Message { status: 413, .. })
        }),
        (Manner::Redirect, |failure| {
            matches!(failure, Failure::Refused { status: 302, .. })
        }),
        (Manner::LoginPage, |failure| {
            matches!(failure, Failure::NotNtfy(_))
        }),
        (Manner::TooMany(42901, None), |failure| {
            matches!(
                failure,
                Failure::TooMany {
                    code: Some(42901),
                    retry_after: None,
                    ..
                }
            )
        }),
        (Manner::TooMany(42908, Some(120)), |failure| {
            let wanted = Some(TimeDelta::seconds(120));
            matches!(failure, Failure::TooMany { code: Some(42908), retry_after, .. } if *retry_after == wanted)
        }),
    ];
    for (manner, is_right) in cases {
        server.set(manner);
        let failure = ntfy.publish(&message("title", "text"), now()).await.unwrap_err();
        assert!(is_right(&failure), "{manner:?}: {failure:?}");
        assert!(!format!("{failure} {failure:?}").contains("S3NTINEL"));
    }
    assert_eq!((server.taken().len(), server.requests().len()), (0, 9));
}

#[tokio::test]
async fn a_server_that_is_silent_or_gone_is_given_up() {
    let server = NtfyServer::start().await;
    let ntfy = client(&server, None);
    server.set(Manner::Hang);
    let failure = ntfy.publish(&message("title", "text"), now()).await.unwrap_err();
    assert_eq!(
        failure,
        Failure::Unreachable("it does not answer in time".to_owned())
    );
    let gone = Ntfy::new(&NtfySettings {
        url: "http://127.0.0.1:1".to_owned(),
        topic: "limits".to_owned(),
        token: None,
        daily_budget: 250,
        cooldown: NtfySettings::QUARTER,
        clear_after: NtfySettings::QUARTER,
    });
    let failure = gone
        .unwrap()
        .publish(&message("title", "text"), now())
        .await
        .unwrap_err();
    assert!(failure.to_string().contains("refused"), "{failure}");
}

#[tokio::test]
async fn an_older_server_shows_in_its_answer() {
    let server = NtfyServer::start().await;
    let ntfy = client(&server, None);
    let written = message("title", "text");
    let own = |id: &str, updates| Delivered {
        id: id.to_owned(),
        updates,
    };
    assert_eq!(ntfy.publish(&written, now()).await, Ok(own("m1", true)));
    assert_eq!(ntfy.clear(&written.sequence, now()).await, Ok(()));
    assert_eq!(
        (server.cleared(), server.open().len()),
        (vec![written.sequence.clone()], 0)
    );
    server.echo(false);
    assert_eq!(ntfy.publish(&written, now()).await, Ok(own("m2", false)));
    assert!(ntfy.clear(&written.sequence, now()).await.is_err());
}

#[tokio::test]
async fn only_the_token_opens_a_server_that_wants_one() {
    let server = NtfyServer::start().await;
    server.want("tk_right");
    let written = message("title", "text");
    for (token, status) in [(None, 403), (Some("tk_wrong"), 401)] {
        let failure = client(&server, token).publish(&written, now()).await.unwrap_err();
        assert!(
            matches!(failure, Failure::Refused { status: own, .. } if own == status),
            "{failure:?}"
        );
    }
    assert!(
        client(&server, Some("tk_right"))
            .publish(&written, now())
            .await
            .is_ok()
    );
}
