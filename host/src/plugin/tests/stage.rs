//! What the tests share: guests, a runtime, calls.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::HeaderMap;

use crate::catalogue::{Catalogue, Hints, View};
use crate::pipeline::call::{Arguments, Way};
use crate::pipeline::port::{LocalState, Policy, Requester};
use crate::pipeline::status::LiveStatus;
use crate::pipeline::{CallContext, Caller};
use crate::plugin::{PluginSpec, Runtime, RuntimeOptions, Slot, Source};
use crate::protocol::{Message, Revision};
use crate::state::{Memory, Quota};

/// The file of a guest.
pub(super) fn guest(name: &str) -> PathBuf {
    let root =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../target/guests/wasm32-wasip2/release/examples");
    let path = PathBuf::from(root).join(format!("{name}.wasm"));
    assert!(path.exists(), "{} is missing: run `cargo xtask components` first", path.display());
    path
}

/// The bytes of a guest.
#[expect(clippy::disallowed_methods, reason = "a test reads its own files")]
pub(super) fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(guest(name)).unwrap()
}

/// A runtime without a cache.
pub(super) fn runtime() -> Runtime {
    runtime_with(None)
}

/// A runtime with or without a cache.
pub(super) fn runtime_with(cache_dir: Option<PathBuf>) -> Runtime {
    let memory = Memory::new(Quota::default());
    let states = move |connector: &str, plugin: &str| -> Arc<dyn LocalState> {
        memory.namespace(connector, plugin)
    };
    Runtime::new(RuntimeOptions { cache_dir, instances: 32, states: Arc::new(states) }).unwrap()
}

/// An entry for a guest, from its bytes: the folder of the guests may be open to others.
pub(super) fn spec(name: &str) -> PluginSpec {
    PluginSpec::new(name, Source::Bundled(Box::leak(bytes_of(name).into_boxed_slice())))
}

/// A guest as a policy of the connector `hub`.
pub(super) async fn policy(runtime: &Runtime, spec: PluginSpec) -> (Arc<Slot>, Arc<dyn Policy>) {
    let slot = runtime.load(spec).await.unwrap();
    let policy = slot.policy(&"hub".into(), None).await.unwrap();
    (slot, policy)
}

/// A call of the tool `echo` by somebody, with arguments.
pub(super) fn call(caller: &str, arguments: &str) -> Arc<CallContext> {
    call_with(caller, arguments, None)
}

/// The same, with a way to upstreams.
pub(super) fn call_with(
    caller: &str,
    arguments: &str,
    requester: Option<Arc<dyn Requester>>,
) -> Arc<CallContext> {
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
    );
    Arc::new(CallContext {
        way: Way::FromClient,
        request_id: "r1".into(),
        retry_of: None,
        connector: "hub".into(),
        caller: Arc::new(Caller { anonymous: false, ..Caller::anonymous(caller) }),
        view: Arc::new(View::whole(Arc::new(Catalogue::default()))),
        message: Message::parse(Bytes::from(text)).unwrap(),
        name: "echo".into(),
        target: Some(("one".into(), "echo".into())),
        hints: Hints::default(),
        revision: Revision::parse("2025-11-25").unwrap(),
        headers: Arc::new(HeaderMap::new()),
        session: None,
        attributes: Vec::new(),
        requester,
        handles: Arc::default(),
        status: LiveStatus::default(),
        arguments: Arguments::default(),
        spelling: OnceLock::new(),
    })
}

/// What the server `one` sends toward a client.
pub(super) fn message(method: &str, params: &str) -> Arc<CallContext> {
    let text = format!(r#"{{"jsonrpc":"2.0","id":"q","method":"{method}","params":{params}}}"#);
    let call = call("ann", "{}");
    Arc::new(CallContext {
        way: Way::FromUpstream,
        request_id: "r2".into(),
        retry_of: None,
        connector: call.connector.clone(),
        caller: call.caller.clone(),
        view: call.view.clone(),
        message: Message::parse(Bytes::from(text)).unwrap(),
        name: "".into(),
        target: Some(("one".into(), "".into())),
        hints: Hints::default(),
        revision: call.revision,
        headers: call.headers.clone(),
        session: Some("s".into()),
        attributes: Vec::new(),
        requester: None,
        handles: Arc::default(),
        status: LiveStatus::default(),
        arguments: Arguments::default(),
        spelling: OnceLock::new(),
    })
}
