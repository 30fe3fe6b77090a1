//! Real child processes under real supervisors.

mod asks;
mod flood;
mod standing;
mod variants;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join;
use rustix::process::{Pid, test_kill_process};
use tokio::time::sleep;

use crate::fault::Code;
use crate::pipeline::party::Party;
use crate::pipeline::port::{Answer, Phase};
use crate::protocol::{Message, Revision};
use crate::upstream::testing::{Inbox, Rig, listening, party, rig, shell, soon, text};
use crate::upstream::{Command, Limits, Sharing, Transport};

/// A server in a few lines of shell. `modern` as its first word makes it answer `server/discover` only.
const SERVER: &str = r#"
echo "this is not JSON"
n=0
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}; id=${id%%\}*}
  case $line in
  *'"server/discover"'*)
    if [ -n "$STRICT" ]; then exit 1; fi
    if [ -n "$MODERN" ]; then answer '{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}'
    else printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id"; fi ;;
  *'"initialize"'*)
    if [ -n "$ONCE" ] && [ -n "$opened" ]; then exit 4; fi
    opened=1
    if [ -n "$MODERN" ]; then printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no"}}\n' "$id"
    else answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"sh","version":"1"}}'; fi ;;
  *'"resources/subscribe"'*) told="$told sub"; answer '{}' ;;
  *'"logging/setLevel"'*) told="$told level"; answer '{}' ;;
  *'"name":"told"'*) answer "\"$told\"" ;;
  *'"notifications/cancelled"'*) cancelled=$line ;;
  *'"tools/list"'*) answer "{\"tools\":[{\"name\":\"t$v\"}]}" ;;
  *'"name":"count"'*) n=$((n+1)); answer $n ;;
  *'"name":"pid"'*) answer $$ ;;
  *'"name":"task"'*) answer '{"task":{"taskId":"t","status":"working","ttl":null}}' ;;
  *'"tasks/result"'*) answer '{"content":[]}' ;;
  *'"name":"said"'*) answer "\"$(printf %s "$line" | tr -d '"')\"" ;;
  *'"name":"die"'*) exit 3 ;;
  *'"name":"hang"'*) ;;
  *'"name":"deafen"'*) deaf=1; answer '{}' ;;
  *'"name":"pings"'*) answer "${p:-0}" ;;
  *'"name":"change"'*)
    v=2
    printf '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
    printf '{"jsonrpc":"2.0","method":"notifications/message","params":{}}\n'
    answer '{}' ;;
  *'"name":"cancelled"'*) answer "[${cancelled:-null}]" ;;
  *'"name":"environment"'*) answer "\"$(env | grep -cv -e ^PATH= -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD=)\"" ;;
  *'"name":"progress"'*)
    printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}\n' "$id"
    answer '{}' ;;
  *'"method":"ping"'*) p=$((p+1)); if [ -z "$deaf" ]; then answer '{}'; fi ;;
  esac
done
"#;

fn text_of(tool: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\n\"id\":\"x\",\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"_meta\":{{\"progressToken\":\"tok\"}}}}}}"
    )
}

async fn ask(rig: &Rig, party: &Arc<Party>, tool: &str) -> String {
    let answer = rig.call(party, &text_of(tool)).await.unwrap();
    let text = text(answer).await.unwrap();
    // The response comes last.
    let response = text.trim_end().rsplit('\n').next().unwrap().to_owned();
    let message = Message::parse(Bytes::from(response)).unwrap();
    assert_eq!(message.id().unwrap().as_json(), "\"x\"");
    message.result().unwrap().to_owned()
}

async fn pid(rig: &Rig, party: &Arc<Party>) -> Pid {
    Pid::from_raw(ask(rig, party, "pid").await.parse().unwrap()).unwrap()
}

async fn gone(pid: Pid) {
    soon(async {
        while test_kill_process(pid).is_ok() {
            sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

async fn connected(sharing: Sharing, limits: Limits) -> Rig {
    let rig = shell(SERVER, sharing, limits);
    let offering = rig.until(Phase::Connected).await.offering.clone().unwrap();
    assert_eq!(offering.tools.len(), 1);
    rig
}

fn legacy(id: u64) -> Arc<Party> {
    party(id, Revision::V2025_11_25, false)
}

#[tokio::test]
async fn each_party_has_its_own_child_and_none_is_left() {
    let rig = connected(Sharing::Session, Limits::default()).await;
    let (one, two) = (legacy(1), legacy(2));
    let pids = join(pid(&rig, &one), pid(&rig, &two)).await;
    assert_ne!(pids.0, pids.1);
    assert_eq!(ask(&rig, &one, "count").await, "1");
    assert_eq!(ask(&rig, &one, "count").await, "2");
    assert_eq!(ask(&rig, &two, "count").await, "1");
    assert_eq!(ask(&rig, &two, "environment").await, "\"0\"");
    soon(rig.upstream.leave(one.id)).await;
    gone(pids.0).await;
    rig.end().await;
    gone(pids.1).await;
}

#[tokio::test]
async fn a_crash_fails_calls_in_flight_and_the_next_call_gets_a_new_child() {
    let rig = connected(Sharing::Session, Limits::default()).await;
    let one = legacy(1);
    let before = pid(&rig, &one).await;
    let (hanging, dying) = (text_of("hang"), text_of("die"));
    let lost = join(rig.call(&one, &hanging), rig.call(&one, &dying)).await;
    assert_eq!(lost.0.unwrap_err().code(), Code::UpstreamBroken);
    assert_eq!(lost.1.unwrap_err().code(), Code::UpstreamBroken);
    assert_ne!(pid(&rig, &one).await, before);
    rig.end().await;
}

#[tokio::test]
async fn progress_travels_with_its_call_under_the_clients_token() {
    let rig = connected(Sharing::Session, Limits::default()).await;
    let answer = rig.call(&legacy(1), &text_of("progress")).await.unwrap();
    assert!(matches!(answer, Answer::Messages(_)));
    let text = text(answer).await.unwrap();
    assert!(text.starts_with("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"tok\","), "{text}");
    assert!(text.ends_with("\"id\":\"x\",\"result\":{}}\n"), "{text}");
    rig.end().await;
}

#[tokio::test]
async fn strangers_get_a_child_that_served_nobody() {
    let rig = connected(Sharing::Session, Limits::default()).await;
    let strangers = party(1, Revision::NEWEST, true);
    let first = pid(&rig, &strangers).await;
    gone(first).await;
    for _ in 0..3 {
        assert_eq!(ask(&rig, &strangers, "count").await, "1");
    }
    rig.end().await;
}

#[tokio::test]
async fn strangers_wait_for_a_free_child_but_not_for_ever() {
    let limits =
        Limits { children: 2, child_wait: Duration::from_millis(200), ..Limits::default() };
    let rig = connected(Sharing::Session, limits).await;
    let strangers = party(1, Revision::NEWEST, true);
    let (hanging, counting) = (text_of("hang"), text_of("count"));
    let mut hang = Box::pin(rig.call(&strangers, &hanging));
    assert!(futures_util::poll!(&mut hang).is_pending());
    let fault = rig.call(&strangers, &counting).await.unwrap_err();
    assert_eq!(fault.code(), Code::UpstreamBusy);
    drop(hang);
    rig.end().await;
}

#[tokio::test]
async fn the_limit_of_children_is_named_and_a_spare_one_makes_room() {
    let limits = Limits { children: 2, ..Limits::default() };
    let rig = connected(Sharing::Session, limits).await;
    assert_eq!(ask(&rig, &legacy(1), "count").await, "1");
    let fault = rig.call(&legacy(2), &text_of("count")).await.unwrap_err();
    assert_eq!(fault.code(), Code::UpstreamBusy);
    assert!(fault.public().contains("max_children") && fault.public().contains('2'));
    rig.end().await;
}

#[tokio::test]
async fn an_idle_child_is_stopped_and_its_state_is_lost() {
    let limits = Limits { child_idle: Duration::from_millis(200), ..Limits::default() };
    let rig = connected(Sharing::Session, limits).await;
    let one = legacy(1);
    ask(&rig, &one, "count").await;
    gone(pid(&rig, &one).await).await;
    assert_eq!(ask(&rig, &one, "count").await, "1");
    rig.end().await;
}

#[tokio::test]
async fn a_shared_child_serves_equal_ids_and_maps_cancellations() {
    let rig = connected(Sharing::Connector, Limits::default()).await;
    let (one, two) = (legacy(1), legacy(2));
    let pids = join(pid(&rig, &one), pid(&rig, &two)).await;
    assert_eq!(pids.0, pids.1);
    let hanging = text_of("hang");
    let mut hang = Box::pin(rig.call(&one, &hanging));
    assert!(futures_util::poll!(&mut hang).is_pending());
    ask(&rig, &two, "count").await;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}"#;
    let note = Message::parse(Bytes::from_static(note.as_bytes())).unwrap();
    soon(rig.upstream.notify(two.id, note.clone())).await;
    assert_eq!(ask(&rig, &two, "cancelled").await, "[null]", "not the request of somebody else");
    soon(rig.upstream.notify(one.id, note)).await;
    let seen = ask(&rig, &two, "cancelled").await;
    assert!(seen.contains("notifications/cancelled") && !seen.contains("\"x\""), "{seen}");
    drop(hang);
    rig.end().await;
}

#[tokio::test]
async fn a_modern_child_is_translated_for_legacy_clients_and_told_of_lost_ones() {
    let command = Command {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), SERVER.to_owned()],
        env: vec![("MODERN".to_owned(), "1".to_owned())],
        directory: None,
    };
    let rig = rig(Transport::Stdio(command), Sharing::Session, Limits::default());
    let offering = rig.until(Phase::Connected).await.offering.clone().unwrap();
    assert_eq!(offering.revision, Some(Revision::NEWEST));
    assert_eq!(ask(&rig, &legacy(1), "count").await, "1");
    let known = party(2, Revision::NEWEST, false);
    assert_eq!(ask(&rig, &known, "count").await, "1");
    let hanging = text_of("hang");
    let mut hang = Box::pin(rig.call(&known, &hanging));
    assert!(futures_util::poll!(&mut hang).is_pending());
    ask(&rig, &known, "count").await;
    drop(hang);
    assert!(ask(&rig, &known, "cancelled").await.contains("notifications/cancelled"));
    rig.end().await;
}

#[tokio::test]
async fn a_server_that_ends_when_it_is_probed_is_introduced_the_old_way() {
    let command = Command {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), SERVER.to_owned()],
        env: vec![("STRICT".to_owned(), "1".to_owned())],
        directory: None,
    };
    let rig = rig(Transport::Stdio(command), Sharing::Session, Limits::default());
    let snapshot = rig.until(Phase::Connected).await;
    assert_eq!(snapshot.offering.as_ref().unwrap().revision, Some(Revision::V2025_11_25));
    assert_eq!(ask(&rig, &party(1, Revision::NEWEST, true), "count").await, "1");
    rig.end().await;
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_reported() {
    let command = Command { program: "/nowhere/at/all".to_owned(), ..Command::default() };
    let rig = rig(Transport::Stdio(command), Sharing::Session, Limits::default());
    let mut watch = rig.upstream.watch();
    let seen = soon(watch.wait_for(|snapshot| snapshot.attempt > 0)).await.unwrap().clone();
    assert_eq!(seen.phase, Phase::Disconnected);
    let fault = rig.call(&legacy(1), &text_of("count")).await.unwrap_err();
    assert_eq!(fault.code(), Code::UpstreamUnavailable);
    rig.end().await;
}

#[tokio::test]
async fn a_dropped_answer_of_strangers_ends_its_child() {
    let rig = connected(Sharing::Session, Limits::default()).await;
    let strangers = party(1, Revision::NEWEST, true);
    let answer = rig.call(&strangers, &text_of("progress")).await.unwrap();
    drop(answer);
    rig.end().await;
}

fn hasty() -> Limits {
    let check = Duration::from_millis(1);
    Limits { check, retry_first: check, check_timeout: Duration::from_secs(1), ..Limits::default() }
}

/// stacklok/toolhive #5890: a check that sends `initialize` again kills servers that take it once only.
#[tokio::test]
async fn checks_never_initialise_again() {
    let script = format!("ONCE=1\n{SERVER}");
    let rig = shell(&script, Sharing::Connector, hasty());
    rig.until(Phase::Connected).await;
    let somebody = legacy(1);
    let checked =
        async { while ask(&rig, &somebody, "pings").await.parse::<u32>().unwrap() < 200 {} };
    soon(checked).await;
    let snapshot = rig.upstream.watch().borrow().clone();
    assert_eq!((snapshot.phase, snapshot.attempt), (Phase::Connected, 0));
    assert_eq!(rig.upstream.numbers().children, 1);
    rig.end().await;
}

#[tokio::test]
async fn a_child_that_hangs_is_replaced() {
    let rig = shell(SERVER, Sharing::Connector, hasty());
    rig.until(Phase::Connected).await;
    let somebody = legacy(1);
    let first = pid(&rig, &somebody).await;
    ask(&rig, &somebody, "deafen").await;
    rig.until(Phase::Reconnecting).await;
    rig.until(Phase::Connected).await;
    gone(first).await;
    assert_ne!(pid(&rig, &somebody).await, first);
    rig.end().await;
}

#[tokio::test]
async fn a_change_that_a_child_tells_is_read_and_not_passed_on() {
    let rig = connected(Sharing::Connector, Limits::default()).await;
    ask(&rig, &legacy(1), "change").await;
    let mut watch = rig.upstream.watch();
    let changed = watch.wait_for(|snapshot| {
        snapshot.offering.as_ref().is_some_and(|offering| offering.tools[0].contains("t2"))
    });
    assert_eq!(soon(changed).await.unwrap().phase, Phase::Connected);
    rig.end().await;

    let rig = connected(Sharing::Session, Limits::default()).await;
    let (inbox, mut received) = Inbox::new();
    let somebody = listening(1, Revision::V2025_11_25, "{}", inbox);
    let told = text(rig.call(&somebody, &text_of("change")).await.unwrap()).await.unwrap();
    assert_eq!(rig.upstream.numbers().sessions, 1);
    assert!(told.contains("notifications/message") && !told.contains("list_changed"), "{told}");
    assert!(received.try_recv().is_err(), "it went with the call");
    rig.end().await;
}

#[tokio::test]
async fn who_is_taken_out_has_no_child() {
    let rig = connected(Sharing::Session, Limits::default()).await;
    let somebody = legacy(1);
    let child = pid(&rig, &somebody).await;
    assert_eq!(rig.upstream.numbers().children, 2);
    rig.upstream.control(crate::pipeline::port::Control::Disable);
    gone(child).await;
    let fault = rig.call(&somebody, &text_of("pid")).await.unwrap_err();
    assert!(fault.public().contains("taken out"), "{}", fault.public());
    let childless = async {
        while rig.upstream.numbers().children > 0 {
            sleep(Duration::from_millis(5)).await;
        }
    };
    soon(childless).await;
    rig.upstream.control(crate::pipeline::port::Control::Enable);
    rig.until(Phase::Connected).await;
    assert_ne!(pid(&rig, &somebody).await, child);
    rig.end().await;
}

#[tokio::test]
async fn a_missing_working_directory_is_named() {
    let directory = Some("/no/such/place".into());
    let command = Command { program: "true".to_owned(), directory, ..Command::default() };
    let rig = rig(Transport::Stdio(command), Sharing::Session, Limits::default());
    let mut watch = rig.upstream.watch();
    let failed = soon(watch.wait_for(|snapshot| snapshot.attempt > 0)).await.unwrap().clone();
    let reason = failed.reason.as_ref().unwrap();
    assert!(reason.contains("the working directory /no/such/place does not exist"), "{reason}");
    rig.end().await;
}
