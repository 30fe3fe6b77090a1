//! Calls that a person confirms first, and whose servers ask for something themselves.

use std::sync::atomic::AtomicU32;

use serde_json::Value;

use super::modern::state;
use super::*;
use crate::pipeline::port::{
    Admission, Confirmation, Edit, Outcome, Page, PolicyHooks, Review, Sights,
};

/// Wants each call confirmed, counts first tries, and does with further calls what it is told.
#[derive(Default)]
pub(super) struct Careful {
    /// First tries, and tries that go on.
    seen: [AtomicU32; 2],
    /// What it does from its second look on.
    then: Mutex<Option<Admission>>,
}

fn sure() -> Admission {
    Admission::Confirm(Confirmation { text: "Sure?".to_owned(), attributes: Vec::new() })
}

impl Policy for Careful {
    fn name(&self) -> &'static str {
        "careful"
    }
    fn hooks(&self) -> PolicyHooks {
        PolicyHooks { admission: true, ..PolicyHooks::default() }
    }
    fn generation(&self) -> u64 {
        0
    }
    fn visible(&self, _: Arc<Caller>, _: Page) -> Promise<'_, Result<Sights, Fault>> {
        crate::pipeline::testing::nothing()
    }
    fn admit(&self, call: Arc<CallContext>) -> Promise<'_, Result<Admission, Fault>> {
        self.seen[usize::from(call.retry_of.is_some())].fetch_add(1, Ordering::Relaxed);
        let then = self.then.lock().unwrap().clone();
        let then = then.filter(|_| call.retry_of.is_some());
        Box::pin(async { Ok(then.unwrap_or_else(sure)) })
    }
    fn review(&self, _: Arc<CallContext>, _: Outcome) -> Promise<'_, Result<Review, Fault>> {
        crate::pipeline::testing::nothing()
    }
    fn ready(&self) -> Promise<'_, Result<String, String>> {
        Box::pin(async { Ok(String::new()) })
    }
}

pub(super) const LEGACY: Revision = Revision::V2025_11_25;
pub(super) const MODERN: Revision = Revision::V2026_07_28;
pub(super) const DONE: &str =
    r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","n":1.0}}"#;
const YES: &str =
    r#"{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{"confirmed":true}}}"#;
pub(super) const CONFIRMED: &str =
    r#"{"confirmation":{"action":"accept","content":{"confirmed":true}}}"#;
const GIVEN: &str = r#"{"elicitation-1":{"action":"accept"},"k":{"action":"accept"}}"#;

pub(super) async fn stage(client: Revision, server: Revision) -> (Stage, Arc<Careful>) {
    let careful = Arc::new(Careful::default());
    let policies: Vec<Arc<dyn Policy>> = vec![careful.clone()];
    let stage = Stage::with(client, server, policies).await;
    stage.connector.serve();
    (stage, careful)
}

pub(super) fn retry(answers: &str, state: &str) -> String {
    format!(r#","inputResponses":{answers},"requestState":"{state}""#)
}

/// A result of a modern server that asks; `more` stands before its questions.
fn asks(more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{{more}"resultType":"input_required","inputRequests":{{"k":{{"method":"elicitation/create","params":{{"message":"[srv] Who?"}}}}}}}}}}"#
    )
}

/// Confirms the call of `more`; the answer to the second try.
async fn confirmed(stage: &Stage, more: &str) -> BoxStream<'static, Item> {
    let asked = stage.response(&call("7", more)).await;
    assert!(asked.contains(r#""inputRequests":{"confirmation":{"#), "{asked}");
    assert!(stage.server.got().is_empty(), "it was called before it was confirmed");
    stage.call(&call("7", &(more.to_owned() + &retry(CONFIRMED, &state(&asked))))).await
}

async fn one(mut items: BoxStream<'static, Item>) -> String {
    response(items.next().await)
}

fn seen(careful: &Careful) -> [u32; 2] {
    [0, 1].map(|at| careful.seen[at].load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_modern_server_that_asks_gets_its_own_state_back_and_nobody_is_asked_twice() {
    for (more, own) in [(r#""requestState":"own\u0021","#, Some(r#""own\u0021""#)), ("", None)] {
        let (stage, careful) = stage(MODERN, MODERN).await;
        stage.server.answers_text(asks(more));
        let asked = one(confirmed(&stage, "").await).await;
        let question: Value = serde_json::from_str(&asked).unwrap();
        assert_eq!(
            question["result"]["inputRequests"]["k"]["params"]["message"],
            "[srv] [srv] Who?"
        );
        let first = message(&stage.server.got()[0]);
        let given = |field| first.field(field).map(str::to_owned);
        assert_eq!(given(crate::protocol::Field::RequestState), None);
        assert_eq!(given(crate::protocol::Field::InputResponses), None);
        let carried = state(&asked);
        assert!(!carried.contains("own"), "{carried}");
        stage.server.answers_text(DONE);
        assert_eq!(stage.response(&call("7", &retry(GIVEN, &carried))).await, DONE);
        let second = message(&stage.server.got()[0]);
        assert_eq!(second.field(crate::protocol::Field::RequestState), own);
        assert_eq!(second.field(crate::protocol::Field::InputResponses), Some(GIVEN));
        assert_eq!(seen(&careful), [1, 2]);
        // Each state is good once, for this call alone.
        assert_eq!(stage.refusal(&call("7", &retry(GIVEN, &carried))).await, Code::InvalidParams);
    }
}

#[tokio::test]
async fn a_carried_state_is_good_for_the_confirmed_call_alone() {
    let (stage, _) = stage(MODERN, MODERN).await;
    stage.server.answers_text(asks(r#""requestState":"own","#));
    let carried = state(&one(confirmed(&stage, r#","arguments":{"x":1}"#).await).await);
    stage.server.got();
    let other = r#","arguments":{"x":2}"#.to_owned() + &retry(GIVEN, &carried);
    assert_eq!(stage.refusal(&call("7", &other)).await, Code::InvalidParams);
    let somebody = Stage { caller: somebody("bob"), ..stage };
    let same = r#","arguments":{"x":1}"#.to_owned() + &retry(GIVEN, &carried);
    assert_eq!(somebody.refusal(&call("7", &same)).await, Code::InvalidParams);
    // A state of the server's own, as if there had been nothing to confirm, goes on with nothing.
    let bare = retry(GIVEN, "own");
    assert_eq!(somebody.refusal(&call("7", &bare)).await, Code::NotConfirmed);
    assert!(somebody.server.got().is_empty());
}

#[tokio::test]
async fn a_call_that_a_legacy_server_holds_goes_on_without_a_second_confirmation() {
    let (stage, careful) = stage(MODERN, LEGACY).await;
    let (who, got) = question("\"s-1\"", "elicitation/create", r#"{"message":"[srv] Who?"}"#);
    let held = Held::default();
    stage.server.answers(held.open(vec![who]));
    let mut items = confirmed(&stage, "").await;
    let asked = response(items.next().await);
    assert!(asked.contains(r#""elicitation-1""#), "{asked}");
    drop(items);
    let _rest = stage.call(&call("7", &retry(GIVEN, &state(&asked)))).await;
    assert!(got.recv().unwrap().text().starts_with(b"{\"jsonrpc\""));
    assert_eq!((stage.server.got().len(), seen(&careful)), (1, [1, 2]));
}

#[tokio::test]
async fn a_call_that_became_another_one_is_refused_wherever_it_stands() {
    let patch = || Edit::MergeArguments(r#"{"x":2}"#.to_owned());
    let (stage, careful) = stage(MODERN, LEGACY).await;
    *careful.then.lock().unwrap() = Some(Admission::Edit(vec![patch()]));
    // Whoever edits and asks for nothing is content.
    stage.server.answers_text(DONE);
    assert_eq!(one(confirmed(&stage, "").await).await, DONE);
    assert!(stage.server.got()[0].contains(r#""x":2"#));
    *careful.then.lock().unwrap() = Some(Admission::Reject(crate::pipeline::port::Rejection {
        code: None,
        message: "No.".to_owned(),
        body: None,
        retry_after: None,
        cause: None,
    }));
    let asked = stage.response(&call("7", "")).await;
    let again = call("7", &retry(CONFIRMED, &state(&asked)));
    assert_eq!(stage.refusal(&again).await, Code::Refused);
    assert_eq!(stage.refusal(&again).await, Code::InvalidParams, "it was used");
    assert!(stage.server.got().is_empty());
}

#[tokio::test]
async fn a_legacy_client_is_asked_first_and_then_what_its_server_asks() {
    for server in [LEGACY, MODERN] {
        let (stage, careful) = stage(LEGACY, server).await;
        let (who, got) = question("\"s-1\"", "elicitation/create", r#"{"message":"[srv] Who?"}"#);
        if server == LEGACY {
            let messages = stream::iter(vec![who, last(DONE)]);
            stage.server.answers(Answer::messages(messages));
        } else {
            stage.server.answers_text(asks(""));
            stage.server.answers_text(DONE);
        }
        let mut items = stage.call(&call("7", "")).await;
        let confirmation = ask(items.next().await);
        let text = String::from_utf8(confirmation.message.text().to_vec()).unwrap();
        assert!(text.contains(r#""mode":"form","message":"This call"#), "{text}");
        assert!(stage.server.got().is_empty());
        confirmation.reply.answer(&message(YES));
        let asked = ask(items.next().await);
        asked.reply.answer(&message(YES));
        let done = response(items.next().await);
        assert!(done.contains(r#""n":1.0"#), "{done}");
        assert!(items.next().await.is_none());
        assert_eq!(got.try_recv().is_ok(), server == LEGACY);
        assert_eq!(seen(&careful), [1, 1]);
    }
}

#[tokio::test]
async fn nobody_waits_for_ever_and_who_waits_no_more_says_so() {
    let policies: Vec<Arc<dyn Policy>> = vec![Arc::new(Careful::default())];
    let mut stage = Stage::with(LEGACY, LEGACY, policies).await;
    Arc::get_mut(&mut stage.connector).unwrap().confirm_timeout = Duration::from_millis(1);
    let mut items = stage.call(&call("7", "")).await;
    let confirmation = ask(items.next().await);
    let cancelled = note(items.next().await);
    let id = confirmation.reply.id().as_json();
    assert!(cancelled.contains(&format!(r#""requestId":{id}"#)), "{cancelled}");
    match items.next().await {
        Some(Err(fault)) => assert_eq!(fault.code(), Code::ConfirmationTimeout),
        other => panic!("{other:?}"),
    }
    assert!(items.next().await.is_none());
    confirmation.reply.answer(&message(YES));
    assert!(stage.server.got().is_empty());
    // The same where plugway stops, at once.
    let (stage, _) = self::stage(LEGACY, LEGACY).await;
    let mut items = stage.call(&call("7", "")).await;
    let _asked = ask(items.next().await);
    stage.connector.stop_confirming();
    note(items.next().await);
    match items.next().await {
        Some(Err(fault)) => assert_eq!(fault.code(), Code::CannotConfirm),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_other_answer_is_a_no() {
    let (stage, _) = stage(LEGACY, LEGACY).await;
    for (result, code) in [
        (r#""result":{"action":"decline"}"#, Code::NotConfirmed),
        (r#""result":{"action":"cancel"}"#, Code::NotConfirmed),
        (r#""result":{"action":"accept","content":{}}"#, Code::NotConfirmed),
        (r#""error":{"code":-1,"message":"no"}"#, Code::NotConfirmed),
    ] {
        let mut items = stage.call(&call("7", "")).await;
        let confirmation = ask(items.next().await);
        confirmation.reply.answer(&message(&format!(r#"{{"jsonrpc":"2.0","id":0,{result}}}"#)));
        match items.next().await {
            Some(Err(fault)) => assert_eq!(fault.code(), code, "{result}"),
            other => panic!("{other:?}"),
        }
    }
    // A question that is dropped is one that nobody answers.
    let mut items = stage.call(&call("7", "")).await;
    drop(ask(items.next().await));
    match items.next().await {
        Some(Err(fault)) => assert_eq!(fault.code(), Code::NotConfirmed),
        other => panic!("{other:?}"),
    }
    assert!(stage.server.got().is_empty());
}

#[tokio::test]
async fn who_declared_nothing_is_refused_at_once() {
    for (client, code) in [(LEGACY, Code::CannotConfirm), (MODERN, Code::MissingCapability)] {
        for capabilities in ["{}", r#"{"elicitation":{"url":{}}}"#] {
            let (stage, _) = stage(client, LEGACY).await;
            let stage = Stage { capabilities, ..stage };
            assert_eq!(stage.refusal(&call("7", "")).await, code, "{capabilities}");
            assert!(stage.server.got().is_empty());
        }
    }
}

#[tokio::test]
async fn ambiguous_arguments_are_never_shown() {
    let (stage, _) = stage(MODERN, LEGACY).await;
    let double = r#","arguments":{"a":1,"\u0061":2}"#;
    assert_eq!(stage.refusal(&call("7", double)).await, Code::InvalidParams);
}
