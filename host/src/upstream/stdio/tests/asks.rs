//! What a child asks and tells, with a call or by itself.

use bytes::Bytes;
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::config::Asks;
use crate::pipeline::port::{Answer, Incoming, Messages, Phase};
use crate::protocol::{Message, Revision};
use crate::upstream::testing::{
    Inbox, Rig, listening, party_with, settings, soon, start, text, text_of,
};
use crate::upstream::{Command, Settings, Sharing, Transport};

const EVERYTHING: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

/// A legacy server in a few lines of shell. Whatever answers one of its requests is the result of the call `answer`.
const SERVER: &str = r#"
say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
elicit() { say "{\"jsonrpc\":\"2.0\",\"id\":\"e\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"$1\"}}"; }
while read -r line; do
  case $line in *'"id":"e"'*) got=$line; if [ -n "$waits" ]; then id=$waits; waits=; answer "[$got]"; fi; continue ;; esac
  id=${line#*\"id\":}; id=${id%%,*}; id=${id%%\}*}
  case $line in
  *'"server/discover"'*) say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}" ;;
  *'"initialize"'*) hello=$line
    answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
  *'"tools/list"'*) answer '{"tools":[{"name":"t"}]}' ;;
  *'"name":"hello"'*) answer "[$hello]" ;;
  *'"name":"hang"'*) say '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'"$id"',"progress":1}}' ;;
  *'"name":"ask"'*) waits=$id; elicit 'Go on?' ;;
  *'"name":"sample"'*) waits=$id; say '{"jsonrpc":"2.0","id":"e","method":"sampling/createMessage","params":{}}' ;;
  *'"name":"later"'*) answer '{}'; elicit 'Later?'; say '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1.0}}' ;;
  *'"name":"give-up"'*) elicit 'Never mind.'; say '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"e"}}'; answer '{}' ;;
  *'"name":"log"'*) say '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1.0}}'; answer '{}' ;;
  *'"name":"got"'*) answer "[$got]" ;;
  esac
done
"#;

async fn rig(sharing: Sharing, asks: Asks) -> Rig {
    let args = vec!["-c".to_owned(), SERVER.to_owned()];
    let command = Command { program: "sh".to_owned(), args, ..Command::default() };
    let transport = Transport::Stdio(command);
    let rig = start(&Settings { transport, sharing, asks, ..settings() });
    rig.until(Phase::Connected).await;
    rig
}

fn call(id: u64, tool: &str) -> String {
    let meta = json!({"progressToken": "mine"});
    let params = json!({"name": tool, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

fn result(text: &str) -> Value {
    serde_json::from_str::<Value>(text.trim()).unwrap()["result"].clone()
}

fn messages(answer: Answer) -> Messages {
    let Answer::Messages(messages) = answer else { panic!("not a stream") };
    messages
}

async fn next(messages: &mut Messages) -> Incoming {
    soon(messages.next()).await.unwrap().unwrap()
}

fn accept() -> Message {
    let text = r#"{"jsonrpc":"2.0","id":40,"result":{"action":"accept","n":1.0}}"#;
    Message::parse(Bytes::from(text)).unwrap()
}

#[tokio::test]
async fn the_client_is_asked_on_the_stream_of_its_call_and_the_child_gets_the_answer() {
    let rig = rig(Sharing::Session, Asks::default()).await;
    let party = party_with(1, Revision::V2025_11_25, EVERYTHING);
    let hello = text(rig.call(&party, &call(1, "hello")).await.unwrap()).await.unwrap();
    assert_eq!(result(&hello)[0]["params"]["capabilities"], json!({"elicitation": {}}));

    let mut stream = messages(rig.call(&party, &call(2, "ask")).await.unwrap());
    let Incoming::Ask(ask) = next(&mut stream).await else { panic!() };
    assert_eq!(
        (&*ask.upstream, ask.message.params()),
        ("demo", Some(r#"{"message":"[demo] Go on?"}"#))
    );
    ask.reply.answer(&accept());
    let done = text_of(&next(&mut stream).await);
    assert!(done.contains(r#""result":{"action":"accept","n":1.0}}]"#), "{done}");
    assert_eq!(result(&done)[0]["id"], "e");

    let refused = text(rig.call(&party, &call(3, "sample")).await.unwrap()).await.unwrap();
    assert_eq!(result(&refused)[0]["error"]["code"], -32601, "it is not allowed");
    let mut stream = messages(rig.call(&party, &call(4, "ask")).await.unwrap());
    drop(next(&mut stream).await);
    let unanswered = text_of(&next(&mut stream).await);
    assert_eq!(result(&unanswered)[0]["error"]["code"], -32603);
    let plain = party_with(2, Revision::V2025_11_25, "{}");
    let refused = text(rig.call(&plain, &call(5, "ask")).await.unwrap()).await.unwrap();
    assert_eq!(result(&refused)[0]["error"]["code"], -32601, "it is not declared");
    rig.end().await;
}

#[tokio::test]
async fn what_a_child_says_by_itself_goes_with_the_newest_call_else_to_the_outbox() {
    let rig = rig(Sharing::Session, Asks::default()).await;
    let (inbox, mut received) = Inbox::new();
    let party = listening(1, Revision::V2025_11_25, EVERYTHING, inbox);
    let later = text(rig.call(&party, &call(1, "later")).await.unwrap()).await.unwrap();
    assert_eq!(result(&later), json!({}));
    let Incoming::Ask(ask) = soon(received.recv()).await.unwrap() else { panic!() };
    assert!(text_of(&soon(received.recv()).await.unwrap()).contains(r#""data":1.0"#));
    ask.reply.answer(&accept());
    let mut got = json!([null]);
    while got == json!([null]) || got == json!([]) {
        let answer = text(rig.call(&party, &call(2, "got")).await.unwrap()).await.unwrap();
        got = result(&answer);
    }
    assert_eq!(got[0]["result"]["action"], "accept");

    // An older call is in flight: what is said goes with the newer one.
    let mut older = messages(rig.call(&party, &call(3, "hang")).await.unwrap());
    assert!(text_of(&next(&mut older).await).contains(r#""progressToken":"mine""#));
    let mut newer = messages(rig.call(&party, &call(4, "log")).await.unwrap());
    assert!(text_of(&next(&mut newer).await).contains(r#""data":1.0"#));
    let mut given_up = messages(rig.call(&party, &call(5, "give-up")).await.unwrap());
    let Incoming::Ask(ask) = next(&mut given_up).await else { panic!() };
    assert!(text_of(&next(&mut given_up).await).contains("notifications/cancelled"));
    ask.reply.forget();
    assert!(matches!(next(&mut given_up).await, Incoming::Response(_)));
    assert!(futures_util::poll!(older.next()).is_pending());
    assert!(received.try_recv().is_err());
    rig.end().await;
}

#[tokio::test]
async fn a_child_that_is_shared_asks_nobody_and_tells_who_is_alone_with_it() {
    let all = Asks { elicitation: true, sampling: true, roots: true, include_context: true };
    let rig = rig(Sharing::Connector, all).await;
    let (one, other) = (
        party_with(1, Revision::V2025_11_25, EVERYTHING),
        party_with(2, Revision::V2025_11_25, EVERYTHING),
    );
    let hello = text(rig.call(&one, &call(1, "hello")).await.unwrap()).await.unwrap();
    assert_eq!(result(&hello)[0]["params"]["capabilities"], json!({}));
    let refused = text(rig.call(&one, &call(2, "ask")).await.unwrap()).await.unwrap();
    assert_eq!(result(&refused)[0]["error"]["code"], -32601);
    assert!(text(rig.call(&one, &call(3, "log")).await.unwrap()).await.unwrap().contains("1.0"));
    let hanging = messages(rig.call(&other, &call(4, "hang")).await.unwrap());
    let alone = text(rig.call(&one, &call(5, "log")).await.unwrap()).await.unwrap();
    assert_eq!(result(&alone), json!({}), "it may be somebody else's");
    drop(hanging);
    rig.end().await;
}
