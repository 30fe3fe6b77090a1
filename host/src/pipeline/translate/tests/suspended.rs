//! A client of the modern era at a server of the legacy era, which asks in the middle of a call.

use serde_json::{Value, json};

use super::modern::state;
use super::*;
use crate::pipeline::port::{Admission, Outcome, Page, PolicyHooks, Review, Sights};

async fn stage() -> Stage {
    Stage::new(Revision::V2026_07_28, Revision::V2025_11_25).await
}

const DONE: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","n":1.0}}"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/other","params":{}}"#;

fn progress(token: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progress":1.0,"progressToken":{token}}}}}"#
    )
}

/// Params of a retry behind the name.
fn retry(answers: &str, state: &str) -> String {
    format!(r#","inputResponses":{answers},"requestState":"{state}""#)
}

#[tokio::test]
async fn the_call_waits_for_the_answers_and_goes_on_for_the_retry() {
    let stage = stage().await;
    let (who, got) =
        question("\"s-1\"", "elicitation/create", r#"{"message":"[srv] Who?","x":1.0}"#);
    let held = Held::default();
    stage.server.answers(held.open(vec![
        notification(NOTE),
        notification(&progress("\"p\"")),
        who,
    ]));
    let meta = |token: &str| format!(r#","_meta":{{"progressToken":{token}}}"#);
    let mut items = stage.call(&call("7", &meta("\"p\""))).await;
    assert_eq!(note(items.next().await), NOTE);
    assert_eq!(note(items.next().await), progress("\"p\""));
    let asked = response(items.next().await);
    assert!(items.next().await.is_none());
    drop(items);
    let given = state(&asked);
    assert_eq!(
        asked.replace(&given, "S"),
        r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{"elicitation-1":{"method":"elicitation/create","params":{"message":"[srv] Who?","x":1.0}}},"requestState":"S"}}"#
    );
    assert!(!held.is_dropped() && got.try_recv().is_err(), "the call waits");
    let answers = r#"{"elicitation-1":{"action":"accept","content":{"n":1.0}},"other":{}}"#;
    let mut items = stage.call(&call("\"new\"", &retry(answers, &given))).await;
    let answer = got.recv().unwrap();
    assert_eq!(
        answer.text(),
        r#"{"jsonrpc":"2.0","id":"s-1","result":{"action":"accept","content":{"n":1.0}}}"#
    );
    assert_eq!(stage.server.got().len(), 1, "the call goes on, it is not sent again");
    drop(items.next());
    drop(items);
    assert!(held.is_dropped(), "who closes the stream of the retry cancels the call");
}

#[tokio::test]
async fn rounds_follow_one_another_until_the_response_has_the_last_id() {
    let stage = stage().await;
    let (one, first) = question("1", "sampling/createMessage", "{}");
    let (two, second) = question("2", "roots/list", "{}");
    let (three, third) = question("3", "elicitation/create", "{}");
    // The second and third question are there at once, with a message in between.
    let (sender, messages) = channel(vec![one]);
    stage.server.answers(Answer::messages(messages));
    let asked = stage.response(&call("7", r#","_meta":{"progressToken":5}"#)).await;
    let given = state(&asked);
    for item in [two, notification(&progress("5")), three] {
        sender.try_send(item).unwrap();
    }
    let token = r#","_meta":{"progressToken":"q"}"#;
    let answers = r#"{"sampling-1":{"role":"assistant"}}"#;
    let mut items = stage.call(&call("8", &(retry(answers, &given) + token))).await;
    assert_eq!(note(items.next().await), progress("\"q\""), "under the token of this request");
    let asked = response(items.next().await);
    assert!(first.recv().unwrap().result().is_some());
    let parsed: Value = serde_json::from_str(&asked).unwrap();
    assert_eq!(
        parsed["result"]["inputRequests"],
        json!({
            "roots-2": {"method": "roots/list", "params": {}},
            "elicitation-3": {"method": "elicitation/create", "params": {}},
        })
    );
    assert_eq!(parsed["id"], 8);
    // What is missing, or is no answer, is asked again; what was answered is not.
    let (given, before) = (state(&asked), given);
    let asked =
        stage.response(&call("9", &retry(r#"{"roots-2":{},"elicitation-3":5}"#, &given))).await;
    assert!(second.recv().unwrap().result().is_some() && third.try_recv().is_err());
    let parsed: Value = serde_json::from_str(&asked).unwrap();
    let keys: Vec<_> = parsed["result"]["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!((keys, &parsed["id"]), (vec![&"elicitation-3".to_owned()], &json!(9)));
    sender.try_send(last(DONE)).unwrap();
    let retry_all = retry(r#"{"elicitation-3":{"action":"decline"}}"#, &state(&asked));
    assert_eq!(stage.response(&call("10", &retry_all)).await, with_id(DONE, "10"));
    assert!(third.recv().unwrap().result().unwrap().contains("decline"));
    for used in [before, given, state(&asked)] {
        assert_eq!(stage.refusal(&call("11", &retry("{}", &used))).await, Code::InvalidParams);
    }
    assert_eq!(stage.server.got().len(), 1);
}

#[tokio::test]
async fn a_state_is_good_for_one_call_of_one_caller_and_once() {
    let mut stage = stage().await;
    let (who, got) = question("1", "roots/list", "{}");
    stage.server.answers(Held::default().open(vec![who]));
    let more = r#","arguments":{"a":1,"b":[2]}"#;
    let given = state(&stage.response(&call("7", more)).await);
    let retry = |more: &str, state: &str| {
        call("8", &format!("{more}{}", retry(r#"{"roots-1":{}}"#, state)))
    };
    let good = retry(more, &given);
    let mut forged = given.clone().into_bytes();
    let place = forged.len() - 5;
    forged[place] = if forged[place] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).unwrap();
    for other in [
        retry(r#","arguments":{"a":1.0,"b":[2]}"#, &given),
        retry("", &given),
        good.replace("srv_t", "srv_u"),
        retry(more, &forged),
        retry(more, given.strip_suffix(char::is_alphanumeric).unwrap_or("x")),
        retry(more, "plugway.x"),
        retry(more, "else"),
    ] {
        assert_eq!(stage.refusal(&other).await, Code::InvalidParams, "{other}");
    }
    let ann = std::mem::replace(&mut stage.caller, somebody("bob"));
    assert_eq!(stage.refusal(&good).await, Code::InvalidParams, "another caller");
    stage.caller = ann;
    assert!(got.try_recv().is_err(), "nobody answered");
    assert!(stage.send(&good.replace(r#"{"a":1,"b":[2]}"#, r#"{"b": [2],"a":1}"#)).await.is_ok());
    assert!(got.recv().unwrap().result().is_some());
    assert_eq!(stage.refusal(&good).await, Code::InvalidParams, "twice");
    assert_eq!(stage.server.got().len(), 1);
}

#[tokio::test]
async fn what_this_client_did_not_declare_is_refused_and_the_call_goes_on() {
    let mut stage = stage().await;
    for (capabilities, method, params) in [
        ("{}", "roots/list", "{}"),
        (r#"{"roots":{},"sampling":null}"#, "sampling/createMessage", "{}"),
        (r#"{"elicitation":{}}"#, "elicitation/create", r#"{"mode":"url"}"#),
        (r#"{"elicitation":{"url":{}}}"#, "elicitation/create", r#"{"message":"m"}"#),
        (r#"{"elicitation":{},"sampling":{},"roots":{}}"#, "tasks/get", "{}"),
    ] {
        stage.capabilities = capabilities;
        let (asked, got) = question("1", method, params);
        stage.server.answers(Answer::messages(stream::iter([asked, last(DONE)])));
        assert_eq!(stage.response(&call("7", "")).await, DONE, "{method}");
        assert!(got.recv().unwrap().error().unwrap().contains("-32601"), "{method}");
    }
}

#[tokio::test]
async fn a_question_that_its_server_gives_up_or_answers_itself_is_not_asked() {
    let stage = stage().await;
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    for between in [Some(cancelled), None] {
        let (asked, got) = question("1", "roots/list", "{}");
        let mut all = vec![asked];
        all.extend(between.map(notification));
        all.push(last(DONE));
        stage.server.answers(Answer::messages(stream::iter(all)));
        assert_eq!(stage.response(&call("7", "")).await, DONE);
        assert!(got.recv().is_err(), "who waits no more is told nothing");
    }
    let (asked, _got) = question("1", "roots/list", "{}");
    let broken = Err(Fault::new(Code::UpstreamBroken, "It broke off."));
    stage.server.answers(Answer::messages(stream::iter([asked, broken])));
    assert_eq!(stage.refusal(&call("7", "")).await, Code::UpstreamBroken);
}

#[tokio::test]
async fn policies_see_that_it_is_a_retry_and_of_what() {
    let seen = Arc::new(Seen::default());
    let client = Revision::V2026_07_28;
    let stage = Stage::with(client, Revision::V2025_11_25, vec![seen.clone()]).await;
    let (who, _got) = question("1", "roots/list", "{}");
    let (sender, messages) = channel(vec![who]);
    stage.server.answers(Answer::messages(messages));
    let given = state(&stage.response(&call("7", "")).await);
    sender.try_send(last(DONE)).unwrap();
    let done = stage.response(&call("8", &retry(r#"{"roots-1":{}}"#, &given))).await;
    assert_eq!(done, with_id(DONE, "8"));
    let seen = seen.0.lock().unwrap();
    assert_eq!(seen[0].1, None);
    assert_eq!(seen[1].1.as_deref(), Some(&*seen[0].0), "the request id of the first try");
}

/// Messages that are there, and more that may come.
fn channel(messages: Vec<Item>) -> (tokio::sync::mpsc::Sender<Item>, BoxStream<'static, Item>) {
    let (sender, receiver) = tokio::sync::mpsc::channel(8);
    let more =
        stream::unfold(
            receiver,
            |mut receiver| async move { Some((receiver.recv().await?, receiver)) },
        );
    (sender, stream::iter(messages).chain(more).boxed())
}

/// A policy that notes the request id and of what a call is a retry.
#[derive(Default)]
struct Seen(Mutex<Vec<Tries>>);

type Tries = (Arc<str>, Option<Arc<str>>);

impl Policy for Seen {
    fn name(&self) -> &'static str {
        "seen"
    }
    fn hooks(&self) -> PolicyHooks {
        PolicyHooks { admission: true, ..PolicyHooks::default() }
    }
    fn generation(&self) -> u64 {
        0
    }
    fn visible(&self, _: Arc<Caller>, _: Page) -> Promise<'_, Result<Sights, Fault>> {
        Box::pin(async { Err(Fault::new(Code::Internal, "It is not asked.")) })
    }
    fn admit(&self, call: Arc<CallContext>) -> Promise<'_, Result<Admission, Fault>> {
        self.0.lock().unwrap().push((call.request_id.clone(), call.retry_of.clone()));
        Box::pin(async { Ok(Admission::Pass) })
    }
    fn review(&self, _: Arc<CallContext>, _: Outcome) -> Promise<'_, Result<Review, Fault>> {
        Box::pin(async { Ok(Review::Keep) })
    }
    fn ready(&self) -> Promise<'_, Result<String, String>> {
        Box::pin(async { Ok(String::new()) })
    }
}

#[tokio::test]
async fn what_a_request_keeps_is_kept_while_its_call_waits() {
    let stage = stage().await;
    let (who, _got) = question("1", "roots/list", "{}");
    let (sender, messages) = channel(vec![who]);
    stage.server.answers(Answer::messages(messages));
    let kept = Arc::new(());
    let flight = Arc::new(Flight::keeping(kept.clone()));
    let request = Request { flight, ..stage.request(&call("7", "")) };
    let mut asked = items(dispatch(&stage.connector, request).await.unwrap());
    let given = state(&response(asked.next().await));
    drop(asked);
    assert_eq!(Arc::strong_count(&kept), 2, "the call waits");
    sender.try_send(last(DONE)).unwrap();
    stage.response(&call("8", &retry(r#"{"roots-1":{}}"#, &given))).await;
    assert_eq!(Arc::strong_count(&kept), 1);
}
