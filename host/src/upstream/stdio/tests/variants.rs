//! What servers over pipes offer to clients with capabilities of their own.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::sleep;

use super::{ask, gone};
use crate::pipeline::party::{NoOutbox, Party, PartyId};
use crate::pipeline::port::{Control, Phase, Variant};
use crate::protocol::{Revision, scan};
use crate::upstream::testing::{Rig, party_with, rig, soon};
use crate::upstream::{Command, Limits, Sharing, Transport};

/// A server that offers a tool more to those who can be asked, with the id of its process in the name, and tells of changes
/// whenever a session begins. `MODERN` speaks 2026-07-28 only; `SLOW` never introduces itself to them; `GROWS` offers
/// something else each time.
const SERVER: &str = r#"
say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
refuse() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}"; }
able=0
n=0
while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}; id=${id%%\}*}
  if [ -n "$MODERN" ]; then able=0; fi
  case $line in *elicitation*) able=1 ;; esac
  case $line in
  *'"server/discover"'*)
    if [ -n "$MODERN" ]; then answer '{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}'
    else refuse; fi ;;
  *'"initialize"'*)
    if [ -n "$MODERN" ]; then refuse
    elif [ "$able$SLOW" != 11 ]; then
      answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}'
    fi ;;
  *'"notifications/initialized"'*) say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' ;;
  *'"tools/list"'*)
    if [ -n "$GROWS" ]; then n=$((n+1)); fi
    if [ $able = 1 ]; then answer "{\"tools\":[{\"name\":\"t$n\"},{\"name\":\"ask$$\"}]}"
    else answer "{\"tools\":[{\"name\":\"t$n\"}]}"; fi ;;
  *'"name":"able"'*) answer $able ;;
  *'"name":"pid"'*) answer $$ ;;
  esac
done
"#;

const CAN: &str = r#"{"elicitation":{}}"#;

async fn choosy(words: &[&str], sharing: Sharing, limits: Limits) -> Rig {
    let command = Command {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), SERVER.to_owned()],
        env: words.iter().map(|word| ((*word).to_owned(), "1".to_owned())).collect(),
        directory: None,
    };
    let rig = rig(Transport::Stdio(command), sharing, limits);
    rig.until(Phase::Connected).await;
    rig
}

/// The names of the tools of a variant of its own; none where it is everybody's.
async fn tools(rig: &Rig, capabilities: &str) -> Option<Vec<String>> {
    match soon(rig.upstream.variant(capabilities)).await {
        Variant::Own(offering) => Some(offering.tools.iter().map(|tool| name(tool)).collect()),
        Variant::Everybodys | Variant::Unseen(_) => None,
    }
}

fn name(tool: &str) -> String {
    let span = scan::member(tool, "name").unwrap();
    tool.get(span.range()).unwrap().trim_matches('"').to_owned()
}

async fn until_children(rig: &Rig, count: u64) {
    soon(async {
        while rig.upstream.numbers().children != count {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// Has the catalogue read again, and waits until that is told of.
async fn read_again(rig: &Rig) {
    let mut watch = rig.upstream.watch();
    let before = watch.borrow_and_update().variants;
    rig.upstream.control(Control::Reconnect);
    soon(watch.wait_for(|snapshot| snapshot.variants != before)).await.unwrap();
}

#[tokio::test]
async fn a_child_that_is_introduced_so_reads_a_variant_and_ends() {
    let rig = choosy(&[], Sharing::Session, Limits::default()).await;
    assert!(rig.upstream.varies());
    assert_eq!(tools(&rig, "{}").await, None);
    let found = join_all((0..4).map(|_| tools(&rig, CAN))).await;
    let first = found[0].clone().unwrap();
    assert!(first[0] == "t0" && first[1].starts_with("ask"), "{first:?}");
    assert!(found.iter().all(|one| one.as_ref() == Some(&first)), "however many ask: {found:?}");
    until_children(&rig, 1).await;
    // The operator does not let the server sample: it is not told, and nothing is read.
    assert_eq!(tools(&rig, r#"{"sampling":{"elicitation":1}}"#).await, None);
    assert_eq!(tools(&rig, r#"{"extensions":{"x":{}}}"#).await, None, "it is offered the same");
    // Nothing changed, and nobody told of anything: no process is started for it.
    for _ in 0..2 {
        read_again(&rig).await;
        assert_eq!(tools(&rig, CAN).await, Some(first.clone()));
    }
    // Whoever is offered it calls a child that knows them.
    let (able, plain) = (party_with(1, Revision::V2025_11_25, CAN), super::legacy(2));
    assert_eq!(ask(&rig, &able, "able").await, "1");
    assert_eq!(ask(&rig, &plain, "able").await, "0");
    rig.end().await;
}

#[tokio::test]
async fn a_variant_is_read_again_when_everybodys_catalogue_is_another_one() {
    let rig = choosy(&["GROWS"], Sharing::Session, Limits::default()).await;
    let first = tools(&rig, CAN).await.unwrap();
    read_again(&rig).await;
    let second = tools(&rig, CAN).await.unwrap();
    assert_ne!(first[1], second[1], "another process");
    rig.end().await;
}

#[tokio::test]
async fn a_modern_server_is_asked_over_the_child_that_is_there() {
    for sharing in [Sharing::Session, Sharing::Connector] {
        let rig = choosy(&["MODERN"], sharing, Limits { children: 1, ..Limits::default() }).await;
        let found = tools(&rig, CAN).await;
        if sharing == Sharing::Session {
            let found = found.unwrap();
            read_again(&rig).await;
            assert_eq!(tools(&rig, CAN).await, Some(found), "the same process");
        } else {
            // Nobody is asked by a server that cannot tell its clients apart.
            assert_eq!(found, None);
        }
        rig.end().await;
    }
}

#[tokio::test]
async fn one_child_for_everybody_offers_everybody_the_same() {
    let rig = choosy(&[], Sharing::Connector, Limits::default()).await;
    for capabilities in [CAN, r#"{"extensions":{"elicitation":{}}}"#] {
        assert_eq!(tools(&rig, capabilities).await, None);
    }
    assert_eq!(rig.upstream.numbers().children, 1);
    rig.end().await;
}

#[tokio::test]
async fn a_reading_takes_no_place_that_somebody_needs() {
    let limits = Limits { children: 2, ..Limits::default() };
    let rig = choosy(&["SLOW"], Sharing::Session, limits).await;
    let plain = super::legacy(1);
    let reading = async { tools(&rig, CAN).await };
    let calling = async {
        until_children(&rig, 2).await;
        ask(&rig, &plain, "able").await
    };
    let (read, called) = tokio::join!(reading, calling);
    assert_eq!((read, &*called), (None, "0"), "the reading gave way");
    // All places are taken now: nothing is read, and nobody loses a child.
    let before = super::pid(&rig, &plain).await;
    assert_eq!(tools(&rig, r#"{"extensions":{"x":{}}}"#).await, None);
    assert_eq!(super::pid(&rig, &plain).await, before);
    rig.end().await;
    gone(before).await;
}

#[tokio::test]
async fn what_strangers_are_offered_they_can_call() {
    let rig = choosy(&[], Sharing::Session, Limits::default()).await;
    let strangers = Arc::new(Party {
        id: PartyId(1),
        revision: Revision::NEWEST,
        shared_by_strangers: true,
        client_info: None,
        capabilities: Some(CAN.into()),
        further: None,
        loads: None,
        outbox: Arc::new(NoOutbox),
    });
    assert_eq!(ask(&rig, &strangers, "able").await, "0", "what they are offered is not known");
    assert!(tools(&rig, CAN).await.is_some());
    for _ in 0..2 {
        assert_eq!(ask(&rig, &strangers, "able").await, "1");
    }
    rig.end().await;
}
