//! Calls that wait for servers, and those that find room beside them.

#![expect(clippy::disallowed_methods, reason = "a test waits for its tasks itself")]

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::stage::{call_with, runtime, spec};
use crate::fault::{Code, Fault};
use crate::pipeline::port::{Asker, Outcome, Promise, Reply, Requester, Router};
use crate::plugin::waiting::Waits;
use crate::plugin::{Slot, bundled};

/// A server that tells of each request, and answers as many as it is given leave for.
#[derive(Debug)]
struct Hanging {
    asked: mpsc::Sender<()>,
    leave: Semaphore,
}

impl Hanging {
    fn new() -> (Arc<Self>, mpsc::Receiver<()>) {
        let (asked, heard) = mpsc::channel(64);
        (Arc::new(Self { asked, leave: Semaphore::new(0) }), heard)
    }
}

impl Requester for Hanging {
    fn request(
        &self,
        _asker: Asker,
        _upstream: String,
        _method: String,
        _params: String,
    ) -> Promise<'_, Result<String, String>> {
        Box::pin(async move {
            self.asked.send(()).await.unwrap();
            self.leave.acquire().await.unwrap().forget();
            Ok("{}".to_owned())
        })
    }
}

async fn router(spec: crate::plugin::PluginSpec) -> (Arc<Slot>, Arc<dyn Router>) {
    let slot = runtime().load(spec).await.unwrap();
    let router = slot.router(&"hub".into(), None).await.unwrap();
    (slot, router)
}

fn ask(
    router: &Arc<dyn Router>,
    server: &Arc<Hanging>,
    caller: &str,
    upstream: &str,
) -> JoinHandle<Result<Reply, Fault>> {
    let question = format!(r#"{{"upstream":"{upstream}","method":"ping","params":{{}}}}"#);
    let call = call_with(caller, &question, Some(server.clone()));
    let router = router.clone();
    tokio::spawn(async move { router.answer(call).await })
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_a_caller_nor_a_server_takes_all_the_room() {
    let mut spec = spec("answer_upstreams");
    spec.grants.upstreams = true;
    let (slot, router) = router(spec).await;
    let (server, mut asked) = Hanging::new();
    let mut waiting = Vec::new();
    let crowded = async |caller: &str, upstream: &str| {
        let fault = ask(&router, &server, caller, upstream).await.unwrap().unwrap_err();
        assert_eq!(fault.code(), Code::PluginBusy, "{caller}: {fault}");
        assert_eq!(fault.wait(), Some(Duration::from_secs(1)));
        assert!(fault.to_string().contains("Too many calls wait"), "{fault}");
    };
    for _ in 0..4 {
        waiting.push(ask(&router, &server, "ann", "one"));
        asked.recv().await.unwrap();
    }
    crowded("ann", "two").await;
    for _ in 0..2 {
        waiting.push(ask(&router, &server, "bob", "one"));
        asked.recv().await.unwrap();
    }
    crowded("cat", "one").await;
    for _ in 0..2 {
        waiting.push(ask(&router, &server, "cat", "two"));
        asked.recv().await.unwrap();
    }
    crowded("dan", "three").await;
    // Who waits for nobody finds an instance.
    assert!(
        router
            .answer(call_with("ann", r#"{"upstream":"one","method":"ping","params":{}}"#, None))
            .await
            .is_ok()
    );
    assert_eq!(slot.stats()[0].discarded, 0, "a refusal costs no instance");
    // Who ends, or goes away, makes room.
    waiting.pop().unwrap().abort();
    server.leave.add_permits(7);
    for one in waiting.drain(..7) {
        one.await.unwrap().unwrap();
    }
    for _ in 0..4 {
        waiting.push(ask(&router, &server, "ann", "one"));
        asked.recv().await.unwrap();
    }
    server.leave.add_permits(4);
    for one in waiting {
        one.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn few_instances_leave_room_for_one() {
    for (instances, most) in [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4), (64, 16)] {
        let waits = Arc::new(Waits::of(instances));
        let given: Vec<_> = (0..100).map_while(|_| waits.clone().enter(1, "one")).collect();
        assert_eq!(given.len(), most, "{instances}");
        drop(given);
        assert!(waits.enter(1, "one").is_some(), "{instances}");
    }
}

#[tokio::test]
async fn learning_waits_longer_for_an_instance_than_others_do() {
    let mut spec = bundled::router("router");
    spec.limits.instances = Some(1);
    let (_slot, router) = router(spec).await;
    let (server, mut asked) = Hanging::new();
    let call_of = |own: &str| {
        let mut call = Arc::into_inner(call_with("ann", "{}", Some(server.clone()))).unwrap();
        call.target = Some(("one".into(), own.into()));
        Arc::new(call)
    };
    let (asking, call) = (router.clone(), call_of("chem_list_sessions"));
    let listing = tokio::spawn(async move { asking.answer(call).await });
    asked.recv().await.unwrap();
    let call = call_of("execute_chem_code");
    let body = r#"{"content":[{"type":"text","text":"{\"session_id\":\"s1\"}"}]}"#.into();
    let outcome = Outcome { body, is_error: false, latency_us: 5 };
    let (learner, known) = (router.clone(), call.clone());
    let learning = tokio::spawn(async move { learner.learn(known, outcome).await });
    tokio::task::yield_now().await;
    // By the time that the later one was sent away, the earlier one has waited longer, and still does.
    let busy = router.route(call_of("chem_check_job")).await.unwrap_err();
    assert_eq!(busy.code(), Code::PluginBusy);
    server.leave.add_permits(1);
    listing.await.unwrap().unwrap();
    learning.await.unwrap().unwrap();
    assert!(call.handles.owns(&call.keeper(), Some("one"), "session", "s1"));
}
