//! What the bundled gateway costs on a call that it admits: the port, the call into WebAssembly, the imports, the decision.
#![expect(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to measure")]

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use divan::Bencher;
use http::HeaderMap;
use plugway::catalogue::{Catalogue, Hints, View};
use plugway::pipeline::call::{Arguments, Way};
use plugway::pipeline::port::{LocalState, Policy};
use plugway::pipeline::status::LiveStatus;
use plugway::pipeline::{CallContext, Caller};
use plugway::plugin::{Runtime, RuntimeOptions, bundled};
use plugway::protocol::{Message, Revision};
use plugway::state::{Memory, Quota};
use tokio::runtime::Runtime as Tokio;

/// What most operators write.
const TYPICAL: &str =
    r#"{"max_calls_per_minute": 1000000, "blocked_tools": ["parallel_execute", "send"]}"#;

fn main() {
    divan::main();
}

/// The typical configuration with so many rules, none of which is about the call.
fn with_rules(count: usize) -> String {
    let rule = |at: usize| {
        format!(r#"{{"when": {{"tool": "other_{at}", "scope": "s{at}"}}, "do": "deny"}}"#)
    };
    let rules: Vec<String> = (0..count).map(rule).collect();
    let head = TYPICAL.trim_end_matches('}');
    format!(r#"{head}, "rules": [{}]}}"#, rules.join(","))
}

fn call() -> Arc<CallContext> {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notes_read","arguments":{"id":7}}}"#;
    Arc::new(CallContext {
        way: Way::FromClient,
        request_id: "r1".into(),
        retry_of: None,
        connector: "hub".into(),
        caller: Arc::new(Caller::anonymous("0123456789abcdef0123456789abcdef")),
        view: Arc::new(View::whole(Arc::new(Catalogue::default()))),
        message: Message::parse(Bytes::from_static(text.as_bytes())).expect("a message"),
        name: "notes_read".into(),
        target: Some(("notes".into(), "read".into())),
        hints: Hints::default(),
        revision: Revision::NEWEST_LEGACY,
        headers: Arc::new(HeaderMap::new()),
        session: None,
        attributes: Vec::new(),
        requester: None,
        handles: Arc::default(),
        status: LiveStatus::default(),
        arguments: Arguments::default(),
        spelling: OnceLock::new(),
    })
}

#[divan::bench(args = [0, 20])]
fn gateway_admits(bencher: Bencher<'_, '_>, rules: usize) {
    let tokio = Tokio::new().expect("a runtime");
    let memory = Memory::new(Quota::default());
    let states = move |connector: &str, plugin: &str| -> Arc<dyn LocalState> {
        memory.namespace(connector, plugin)
    };
    let options = RuntimeOptions { cache_dir: None, instances: 8, states: Arc::new(states) };
    let policy: Arc<dyn Policy> = tokio.block_on(async {
        let plugins = Runtime::new(options).expect("an engine");
        let slot = plugins.load(bundled::gateway("gateway")).await.expect("the gateway loads");
        let policy = slot.policy(&"hub".into(), Some(with_rules(rules).into())).await;
        policy.expect("it is a policy")
    });
    let call = call();
    bencher.bench_local(|| tokio.block_on(policy.admit(call.clone())).is_ok());
}
