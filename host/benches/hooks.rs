//! What each hook of a plugin costs on a warm instance, from the pipeline's side: the port, the call into WebAssembly,
//! the imports that the guest uses, and the decision checked.
//!
//! Needs the guests: `cargo xtask components`.
#![expect(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to measure")]

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use divan::Bencher;
use http::HeaderMap;
use plugway::catalogue::{Catalogue, Entry, EntryKind, Hints, Target, View};
use plugway::pipeline::call::{Arguments, Way};
use plugway::pipeline::port::{
    ConnectorView, LocalState, Outcome, Page, Policy, Router, UpstreamView,
};
use plugway::pipeline::status::LiveStatus;
use plugway::pipeline::{CallContext, Caller};
use plugway::plugin::{PluginSpec, Runtime, RuntimeOptions, Source, bundled};
use plugway::protocol::{Message, Revision};
use plugway::state::{Memory, Quota};
use tokio::runtime::Runtime as Tokio;

fn main() {
    divan::main();
}

struct Stage {
    tokio: Tokio,
    plugins: Runtime,
}

impl Stage {
    fn new() -> Self {
        let tokio = Tokio::new().expect("a runtime");
        let memory = Memory::new(Quota::default());
        let states = move |connector: &str, plugin: &str| -> Arc<dyn LocalState> {
            memory.namespace(connector, plugin)
        };
        let options = RuntimeOptions { cache_dir: None, instances: 8, states: Arc::new(states) };
        let plugins = tokio.block_on(async { Runtime::new(options) }).expect("an engine");
        Self { tokio, plugins }
    }

    fn policy(&self, guest: &str, config: &str) -> Arc<dyn Policy> {
        self.tokio.block_on(async {
            let slot = self.plugins.load(spec(guest)).await.expect("the guest loads");
            let policy = slot.policy(&"hub".into(), Some(config.into())).await;
            policy.expect("the guest is a policy")
        })
    }

    fn router(&self, spec: PluginSpec) -> Arc<dyn Router> {
        self.tokio.block_on(async {
            let slot = self.plugins.load(spec).await.expect("the router loads");
            slot.router(&"hub".into(), None).await.expect("it is a router")
        })
    }
}

fn spec(guest: &str) -> PluginSpec {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target/guests/wasm32-wasip2/release/examples");
    let path = folder.join(format!("{guest}.wasm"));
    #[expect(clippy::disallowed_methods, reason = "a benchmark reads its own guests")]
    let bytes = std::fs::read(path).expect("the guest is built: cargo xtask components");
    PluginSpec::new(guest, Source::Bundled(Box::leak(bytes.into_boxed_slice())))
}

fn call(arguments: &str) -> Arc<CallContext> {
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
    );
    Arc::new(CallContext {
        way: Way::FromClient,
        request_id: "r1".into(),
        retry_of: None,
        connector: "hub".into(),
        caller: Arc::new(Caller::anonymous("somebody")),
        view: Arc::new(View::whole(Arc::new(Catalogue::default()))),
        message: Message::parse(Bytes::from(text)).expect("a message"),
        name: "echo".into(),
        target: Some(("one".into(), "echo".into())),
        hints: Hints::default(),
        revision: Revision::NEWEST_LEGACY,
        headers: Arc::new(HeaderMap::new()),
        session: None,
        attributes: Vec::new(),
        requester: None,
        handles: Arc::default(),
        status: LiveStatus::default(),
        arguments: Arguments::default(),
        spelling: std::sync::OnceLock::new(),
    })
}

#[divan::bench]
fn admit_reading_one_argument(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let policy = stage.policy("traps_on_argument", "{}");
    let call = call(r#"{"boom":false}"#);
    bencher.bench_local(|| stage.tokio.block_on(policy.admit(call.clone())).is_ok());
}

#[divan::bench]
fn admit_with_a_rate(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let policy = stage.policy("fails_sometimes", "{}");
    let call = call("{}");
    bencher.bench_local(|| stage.tokio.block_on(policy.admit(call.clone())).is_ok());
}

#[divan::bench]
fn review_looking_for_a_text(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let policy = stage.policy("review_replace", r#"{"from":"nowhere","to":"x"}"#);
    let call = call("{}");
    let body = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "y".repeat(1_024));
    let outcome = Outcome { body: body.into(), is_error: false, latency_us: 0 };
    bencher
        .bench_local(|| stage.tokio.block_on(policy.review(call.clone(), outcome.clone())).is_ok());
}

#[divan::bench(args = [100, 1_000])]
fn visible(bencher: Bencher<'_, '_>, entries: usize) {
    let stage = Stage::new();
    let policy = stage.policy("visibility_by_scope", r#"{"hide":["secret_*"]}"#);
    let caller = Arc::new(Caller::anonymous("somebody"));
    let entry = |at: usize| {
        let entry = Entry {
            kind: EntryKind::Tool,
            key: format!("tool_{at}").into(),
            definition: "{}".into(),
            target: Target::Fixed {
                upstream: 0,
                name: format!("tool_{at}").into(),
                guarded: false,
            },
            arguments: None,
            hints: Hints::default(),
            mirrored: Box::default(),
        };
        (Arc::new(entry), Some("one".into()))
    };
    let entries = (0..entries).map(entry).collect();
    let page = Page { entries, ..Page::empty("hub".into()) };
    bencher
        .bench_local(|| stage.tokio.block_on(policy.visible(caller.clone(), page.clone())).is_ok());
}

#[divan::bench]
fn route(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let router = stage.router(spec("route_dynamic"));
    let call = call(r#"{"server":"one"}"#);
    bencher.bench_local(|| stage.tokio.block_on(router.route(call.clone())).is_ok());
}

#[divan::bench]
fn answer(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let router = stage.router(spec("answer_local"));
    let call = call("{}");
    bencher.bench_local(|| stage.tokio.block_on(router.answer(call.clone())).is_ok());
}

#[divan::bench(args = [50, 1_000])]
fn shape_by_the_default_router(bencher: Bencher<'_, '_>, tools: usize) {
    let stage = Stage::new();
    let router = stage.router(bundled::router("router"));
    let filler = "d".repeat(420);
    let tool = |at: usize| -> Arc<str> {
        format!(
            r#"{{"name":"tool_{at}","description":"{filler}","inputSchema":{{"type":"object"}}}}"#
        )
        .into()
    };
    let upstream = UpstreamView {
        name: "one".into(),
        server_name: "server".into(),
        up: true,
        tools: (0..tools).map(tool).collect(),
        settings: "{}".into(),
        ..UpstreamView::default()
    };
    let view =
        ConnectorView { name: "hub".into(), upstreams: vec![upstream], ..ConnectorView::default() };
    bencher.bench_local(|| stage.tokio.block_on(router.shape(view.clone())).is_ok());
}
