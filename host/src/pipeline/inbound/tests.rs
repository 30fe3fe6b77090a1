//! Policies made of functions, asked in their order.

use std::sync::{Arc, Mutex};

use futures_util::{StreamExt as _, stream};
use proptest::prelude::*;

use super::message::with_params;
use super::{Toward, answer, incoming, pass};
use crate::fault::{Code, Fault};
use crate::pipeline::call::Way;
use crate::pipeline::port::{
    Admission, Answer, Ask, AskReply, Body, Inbound, Incoming, Json, Notification, Outcome, Page,
    Policy, PolicyHooks, Promise, Rejection, Review, Sights,
};
use crate::pipeline::testing::{NoRouter, nothing};
use crate::pipeline::{CallContext, Caller, Connector, RequestId};
use crate::protocol::{Id, Message, Revision};

type Decide = fn(&CallContext) -> Result<Inbound, Fault>;

/// A policy that decides by a function, and keeps what it was shown.
struct Made {
    name: &'static str,
    hooks: bool,
    decide: Decide,
    shown: Arc<Mutex<Vec<String>>>,
}

impl Policy for Made {
    fn name(&self) -> &str {
        self.name
    }

    fn hooks(&self) -> PolicyHooks {
        PolicyHooks { inbound: self.hooks, ..PolicyHooks::default() }
    }

    fn generation(&self) -> u64 {
        0
    }

    fn visible(&self, _: Arc<Caller>, _: Page) -> Promise<'_, Result<Sights, Fault>> {
        nothing()
    }

    fn admit(&self, _: Arc<CallContext>) -> Promise<'_, Result<Admission, Fault>> {
        nothing()
    }

    fn review(&self, _: Arc<CallContext>, _: Outcome) -> Promise<'_, Result<Review, Fault>> {
        nothing()
    }

    fn inbound(&self, message: Arc<CallContext>) -> Promise<'_, Result<Inbound, Fault>> {
        let line = format!("{} {}", self.name, message.arguments_json());
        self.shown.lock().unwrap().push(line);
        Box::pin(std::future::ready((self.decide)(&message)))
    }

    fn ready(&self) -> Promise<'_, Result<String, String>> {
        Box::pin(async { Ok(String::new()) })
    }
}

/// A connector with these policies, and what they were shown.
struct Stage {
    connector: Arc<Connector>,
    shown: Arc<Mutex<Vec<String>>>,
}

impl Stage {
    fn new(policies: &[(&'static str, Decide)]) -> Self {
        let shown = Arc::<Mutex<Vec<String>>>::default();
        let made = policies.iter().map(|(name, decide)| {
            let shown = shown.clone();
            Arc::new(Made { name, hooks: *name != "blind", decide: *decide, shown }) as _
        });
        let router = Arc::new(NoRouter);
        let connector = Connector::new("hub".into(), "".into(), Vec::new(), router, made.collect());
        Self { connector: Arc::new(connector), shown }
    }

    async fn pass(&self, text: &str) -> Result<String, Fault> {
        let passed = pass(&self.connector, &toward(), &"one".into(), message(text)).await?;
        Ok(String::from_utf8(passed.text().to_vec()).unwrap())
    }

    fn shown(&self) -> Vec<String> {
        std::mem::take(&mut self.shown.lock().unwrap())
    }
}

fn toward() -> Toward {
    Toward {
        request_id: RequestId::next(),
        caller: Arc::new(Caller::anonymous("ann")),
        session: Some("tag".into()),
        revision: Revision::parse("2025-11-25").unwrap(),
        filters: None,
    }
}

fn message(text: &str) -> Message {
    Message::parse(text.to_owned().into()).unwrap()
}

fn replace(params: &str) -> Inbound {
    Inbound::Replace(params.to_owned())
}

fn reject() -> Inbound {
    Inbound::Reject(Rejection {
        code: Some(-1),
        message: "Not here.".to_owned(),
        body: None,
        retry_after: None,
        cause: None,
    })
}

const ASK: &str = r#" { "x" : 1.0, "method":"elicitation/create", "id":"7","params" : {"n":1e2}, "jsonrpc":"2.0"}"#;

#[tokio::test]
async fn where_nobody_looks_nothing_is_touched() {
    let stage = Stage::new(&[("blind", |_| Ok(reject()))]);
    let before = message(ASK);
    let passed = pass(&stage.connector, &toward(), &"one".into(), before.clone()).await.unwrap();
    assert_eq!(passed.text().as_ptr(), before.text().as_ptr());
    assert_eq!(
        asked(&stage, "not even JSON input_required").await.unwrap(),
        "not even JSON input_required"
    );
    assert!(stage.shown().is_empty());
}

#[tokio::test]
async fn each_policy_sees_what_the_one_before_made_of_it() {
    let stage = Stage::new(&[
        ("first", |_| Ok(Inbound::Pass)),
        ("second", |_| Ok(replace(r#"{"n":2.0,"m":12345678901234567890}"#))),
        ("third", |_| Ok(Inbound::Pass)),
    ]);
    let passed = stage.pass(ASK).await.unwrap();
    assert_eq!(passed, ASK.replace(r#"{"n":1e2}"#, r#"{"n":2.0,"m":12345678901234567890}"#));
    let replaced = r#"third {"n":2.0,"m":12345678901234567890}"#;
    assert_eq!(stage.shown(), [r#"first {"n":1e2}"#, r#"second {"n":1e2}"#, replaced]);
}

#[tokio::test]
async fn the_first_refusal_counts_and_a_failure_is_one() {
    let stage = Stage::new(&[
        ("first", |_| Ok(Inbound::Pass)),
        ("strict", |_| Ok(reject())),
        ("third", |_| Ok(Inbound::Pass)),
    ]);
    let fault = stage.pass(ASK).await.unwrap_err();
    assert_eq!((fault.code(), fault.rpc_code()), (Code::Refused, Some(-1)));
    assert_eq!(fault.public(), "Not here.");
    assert!(fault.cause().unwrap().to_string().contains("strict"));
    assert_eq!(stage.shown().len(), 2);
    let broken = Stage::new(&[("broken", |_| Err(Fault::new(Code::PluginTrap, "It crashed.")))]);
    assert_eq!(broken.pass(ASK).await.unwrap_err().code(), Code::PluginTrap);
}

#[tokio::test]
async fn params_that_are_none_are_a_failure_of_the_policy() {
    let decisions: [Decide; 3] = [
        |_| Ok(replace("[1]")),
        |_| Ok(replace(r#"{"a":1,"a":2}"#)),
        |_| Ok(replace(r#"{},"x":{}"#)),
    ];
    for decide in decisions {
        let fault = Stage::new(&[("wrong", decide)]).pass(ASK).await.unwrap_err();
        assert_eq!(fault.code(), Code::PluginInvalid);
    }
}

#[tokio::test]
async fn a_policy_is_told_where_the_message_comes_from() {
    let stage = Stage::new(&[("curious", |message| {
        assert_eq!(message.way, Way::FromUpstream);
        assert_eq!((&*message.connector, &*message.name), ("hub", ""));
        assert_eq!(message.target, Some(("one".into(), "".into())));
        assert_eq!(message.session.as_deref(), Some("tag"));
        assert_eq!(message.attribute("era"), Some("legacy"));
        assert_eq!(message.message.method_name(), "notifications/x");
        assert_eq!((message.arguments_len(), message.arguments_json()), (0, "{}"));
        Ok(Inbound::Pass)
    })]);
    let text = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    assert_eq!(stage.pass(text).await.unwrap(), text);
}

/// A whole response of the server, as the client gets it.
async fn asked(stage: &Stage, text: &str) -> Result<String, Fault> {
    let text = Answer::whole(text.to_owned().into());
    let passed = answer(&stage.connector, toward(), &"one".into(), text).await?;
    let Answer::Json(Json { body: Body::Whole(text), .. }) = passed else { panic!("it was whole") };
    Ok(String::from_utf8(text.to_vec()).unwrap())
}

#[tokio::test]
async fn what_a_result_asks_for_is_judged_and_the_rest_of_it_stays() {
    const RESULT: &str = r#"{"id":1,"result":{ "resultType":"input_required","inputRequests":{ "k" : {"method":"roots/list", "params": {"n":1e2},"x":1.0}},"y":2},"jsonrpc":"2.0"}"#;
    let stage = Stage::new(&[("lax", |_| Ok(Inbound::Pass))]);
    assert_eq!(asked(&stage, RESULT).await.unwrap(), RESULT);
    assert_eq!(stage.shown(), [r#"lax {"n":1e2}"#]);
    let stage = Stage::new(&[("other", |_| Ok(replace(r#"{"a":1}"#)))]);
    let wanted = RESULT.replace(r#"{"n":1e2}"#, r#"{"a":1}"#);
    assert_eq!(asked(&stage, RESULT).await.unwrap(), wanted);
    let strict = Stage::new(&[("strict", |_| Ok(reject()))]);
    assert_eq!(asked(&strict, RESULT).await.unwrap_err().code(), Code::Refused);
    let complete = RESULT.replace("input_required", "complete");
    assert_eq!(asked(&strict, &complete).await.unwrap(), complete);
    for broken in [
        RESULT.replace(r#"{"method":"roots/list", "params": {"n":1e2},"x":1.0}"#, "5"),
        RESULT.replace("\"method\"", "\"m\""),
    ] {
        let fault = asked(&stage, &broken).await.unwrap_err();
        assert_eq!(fault.code(), Code::UpstreamBroken, "{broken}");
    }
}

#[tokio::test]
async fn what_a_task_asks_for_is_judged_wherever_it_is_told() {
    const TASK: &str = r#"{"taskId":"t","status":"input_required","inputRequests":{"k":{"method":"roots/list","params":{"n":1e2}}}}"#;
    let got = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{TASK}}}"#);
    let told = format!(r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{TASK}}}"#);
    let judged = async |stage: &Stage| {
        let note = Notification { upstream: "one".into(), text: told.clone().into() };
        let left = incoming(&stage.connector, &toward(), Incoming::Notification(note)).await;
        left.map(|left| match left {
            Incoming::Notification(note) => String::from_utf8(note.text.to_vec()).unwrap(),
            other => panic!("{other:?}"),
        })
    };
    let other = Stage::new(&[("other", |context| {
        let is_question = context.message.method_name() == "roots/list";
        Ok(if is_question { replace(r#"{"a":1}"#) } else { Inbound::Pass })
    })]);
    let changed = |text: &str| text.replace(r#"{"n":1e2}"#, r#"{"a":1}"#);
    assert_eq!(asked(&other, &got).await.unwrap(), changed(&got));
    assert_eq!(judged(&other).await, Some(changed(&told)));
    let strict = Stage::new(&[("strict", |context| {
        let is_question = context.message.method_name() == "roots/list";
        Ok(if is_question { reject() } else { Inbound::Pass })
    })]);
    assert_eq!(asked(&strict, &got).await.unwrap_err().code(), Code::Refused);
    assert_eq!(judged(&strict).await, None);
}

#[tokio::test]
async fn a_request_that_is_refused_goes_back_and_a_notification_is_dropped() {
    let got = Arc::<Mutex<Vec<Message>>>::default();
    let kept = got.clone();
    let ask = Ask {
        upstream: "one".into(),
        message: message(ASK),
        reply: AskReply::new(Id::parse("\"7\"").unwrap(), move |response| {
            kept.lock().unwrap().push(response);
        }),
    };
    let note = Notification {
        upstream: "one".into(),
        text: r#"{"jsonrpc":"2.0","method":"notifications/message"}"#.into(),
    };
    let response = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let sent =
        [Incoming::Ask(ask), Incoming::Notification(note), Incoming::Response(response.into())];
    let sent = Answer::messages(stream::iter(sent.map(Ok)));
    let strict = Stage::new(&[("strict", |_| Ok(reject()))]);
    let passed = answer(&strict.connector, toward(), &"one".into(), sent).await.unwrap();
    let Answer::Messages(messages) = passed else { panic!("they were messages") };
    let left: Vec<_> = messages.collect().await;
    assert!(matches!(&left[..], [Ok(Incoming::Response(text))] if *text == response), "{left:?}");
    let error = got.lock().unwrap()[0].error().unwrap().to_owned();
    assert_eq!(error, r#"{"code":-1,"message":"Not here."}"#);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the order and the spacing of the members, all but `params` stays byte for byte.
    #[test]
    fn only_params_change(
        order in Just(vec![r#""jsonrpc":"2.0""#, r#""id" : "1""#, r#""method":"m""#, "P", r#""x":[1.0, 1]"#]).prop_shuffle(),
        space in "[ \n\t]{0,3}",
        has_params: bool,
    ) {
        let of = |params: &str| {
            let comma = format!("{space},{space}");
            format!("{space}{{{space}{}{space}}}", order.join(&comma).replace('P', params))
        };
        let (old, new) = (r#""params":{"a":1}"#, r#""params":{"b":2.0}"#);
        if has_params {
            let changed = with_params(&message(&of(old)), r#"{"b":2.0}"#).unwrap();
            prop_assert_eq!(changed.text(), &of(new));
        } else {
            let without = of(r#""y":0"#);
            let changed = with_params(&message(&without), r#"{"b":2.0}"#).unwrap();
            prop_assert_eq!(changed.params(), Some(r#"{"b":2.0}"#));
            let rest = String::from_utf8(changed.text().to_vec()).unwrap();
            prop_assert_eq!(rest.replacen(&format!("{new},"), "", 1), without);
        }
    }
}
