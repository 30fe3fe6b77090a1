//! What a party wants for as long as it lives is told to the child in the place of another.

use std::time::Duration;

use super::{SERVER, ask, connected, gone, legacy, pid, text_of};
use crate::pipeline::Level;
use crate::pipeline::port::{Answer, Phase};
use crate::protocol::Revision;
use crate::upstream::testing::{leveled, party, rig, soon, text};
use crate::upstream::{Command, Limits, Sharing, Transport};

#[tokio::test]
async fn a_child_in_the_place_of_another_is_told_subscriptions_and_level_and_is_kept() {
    let limits = Limits { child_idle: Duration::from_millis(300), ..Limits::default() };
    let rig = connected(Sharing::Session, limits).await;
    let (one, level) = leveled(1, Revision::V2025_11_25);
    let subscribe =
        r#"{"jsonrpc":"2.0","id":"x","method":"resources/subscribe","params":{"uri":"u:1"}}"#;
    text(rig.call(&one, subscribe).await.unwrap()).await.unwrap();
    level.set(Level::Error);
    soon(rig.upstream.set_level(one.id, Level::Error)).await;
    assert_eq!(ask(&rig, &one, "told").await, "\" sub level\"");
    assert!(rig.call(&one, &text_of("die")).await.is_err());
    assert_eq!(ask(&rig, &one, "told").await, "\" level sub\"");
    // Another party's child is stopped meanwhile for want of calls; this one is not.
    let (kept, other) = (pid(&rig, &one).await, pid(&rig, &legacy(2)).await);
    gone(other).await;
    assert_eq!(pid(&rig, &one).await, kept);
    rig.end().await;
}

#[tokio::test]
async fn a_child_waits_for_whoever_may_ask_for_its_task() {
    let limits = Limits { child_idle: Duration::from_millis(300), ..Limits::default() };
    let rig = connected(Sharing::Session, limits).await;
    let one = legacy(1);
    let kept = pid(&rig, &one).await;
    assert!(ask(&rig, &one, "task").await.contains("working"));
    // The children of others, which are used later, are stopped meanwhile.
    for id in [2, 3] {
        gone(pid(&rig, &legacy(id)).await).await;
    }
    assert_eq!(pid(&rig, &one).await, kept);
    let fetch = r#"{"jsonrpc":"2.0","id":"x","method":"tasks/result","params":{"taskId":"t"}}"#;
    text(rig.call(&one, fetch).await.unwrap()).await.unwrap();
    gone(kept).await;
    rig.end().await;
}

#[tokio::test]
async fn a_child_of_one_answer_is_not_told_that_its_client_knows_tasks() {
    let rig = rig(
        Transport::Stdio(Command {
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), format!("MODERN=1\n{SERVER}")],
            ..Command::default()
        }),
        Sharing::Session,
        Limits::default(),
    );
    rig.until(Phase::Connected).await;
    let key = "io.modelcontextprotocol/clientCapabilities";
    let declared = r#"{"extensions":{"io.modelcontextprotocol/tasks":{},"x/y":{}}}"#;
    let said = |strangers: bool| {
        let party = party(1, Revision::V2026_07_28, strangers);
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{{"name":"said","_meta":{{"{key}":{declared}}}}}}}"#
        );
        let rig = &rig;
        async move { text_in(rig.call(&party, &text).await.unwrap()).await }
    };
    assert!(said(false).await.contains("{extensions:{io.modelcontextprotocol/tasks:{},x/y:{}}}"));
    assert!(said(true).await.contains("{extensions:{x/y:{}}}"));
    rig.end().await;
}

async fn text_in(answer: Answer) -> String {
    text(answer).await.unwrap()
}
