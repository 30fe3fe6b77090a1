//! What a connector with 100 servers of 100 tools each costs, or of 100 functions: shaping it after a change, and searching it.
#![expect(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to measure")]

use std::sync::Arc;

use bytes::Bytes;
use divan::Bencher;
use http::HeaderMap;
use plugway::catalogue::{Catalogue, Entry, EntryKind, Hints, Sight, View};
use plugway::pipeline::call::{Arguments, Way};
use plugway::pipeline::port::{ConnectorView, LocalState, Reply, Router, UpstreamView};
use plugway::pipeline::status::LiveStatus;
use plugway::pipeline::{CallContext, Caller};
use plugway::plugin::{Runtime, RuntimeOptions, bundled};
use plugway::protocol::{Message, Revision};
use plugway::state::{Memory, Quota};
use tokio::runtime::Runtime as Tokio;

fn main() {
    divan::main();
}

/// The bundled router, with tools of its own.
struct Stage {
    tokio: Tokio,
    router: Arc<dyn Router>,
    _plugins: Runtime,
}

impl Stage {
    fn new() -> Self {
        let tokio = Tokio::new().expect("a runtime");
        let memory = Memory::new(Quota::default());
        let states = move |connector: &str, plugin: &str| -> Arc<dyn LocalState> {
            memory.namespace(connector, plugin)
        };
        let options = RuntimeOptions { cache_dir: None, instances: 16, states: Arc::new(states) };
        let (plugins, router) = tokio.block_on(async {
            let plugins = Runtime::new(options).expect("an engine");
            let slot = plugins.load(bundled::router("router")).await.expect("the router loads");
            let config = Some(r#"{"unified_tools":true}"#.into());
            let router = slot.router(&"hub".into(), config).await.expect("it is a router");
            (plugins, router)
        });
        Self { tokio, router, _plugins: plugins }
    }

    /// What everybody sees.
    fn catalogue(&self, view: ConnectorView) -> Catalogue {
        let names = view.upstreams.iter().map(|one| one.name.clone()).collect();
        let shaped = self.tokio.block_on(self.router.shape(view)).expect("a shape");
        Catalogue::compile(0, names, shaped).0
    }

    fn search(&self, view: &Arc<View>) -> bool {
        let call = search_in(view.clone());
        let reply = self.tokio.block_on(self.router.answer(call)).expect("an answer");
        matches!(reply, Reply::Answer(text) if text.contains("to_access"))
    }
}

/// 100 servers of 100 tools.
fn hundred() -> ConnectorView {
    let tool = |server: usize, tool: usize| -> Arc<str> {
        let text = format!(
            "Reads the record {tool} of the table {server} and returns its fields as text, with the units of the ledger {}.",
            tool * server
        );
        let schema =
            r#"{"type":"object","properties":{"id":{"type":"string","description":"Which one."}}}"#;
        format!(r#"{{"name":"tool_{tool}","description":"{text}","inputSchema":{schema}}}"#).into()
    };
    let upstreams = (0..100).map(|server| UpstreamView {
        name: format!("server{server}").into(),
        server_name: "server".into(),
        up: true,
        tools: (0..100).map(|one| tool(server, one)).collect(),
        settings: "{}".into(),
        ..UpstreamView::default()
    });
    ConnectorView { name: "hub".into(), upstreams: upstreams.collect(), ..ConnectorView::default() }
}

/// 100 servers that run code, which can call 100 functions.
fn hundred_of_functions() -> ConnectorView {
    let function = |server: usize, one: usize| {
        format!(
            r#"{{"name":"read_{one}","description":"Reads the record {one} of the table {server} with the units of the ledger {}.",
            "required_parameters":[{{"name":"id","type":"builtins.str"}}],"state_transition":{{"requires":["s{server}.{one}"],"produces":["s{server}.{}"]}}}}"#,
            one * server,
            one + 1
        )
    };
    let mut view = hundred();
    for (server, upstream) in view.upstreams.iter_mut().enumerate() {
        let names = [format!("execute_server{server}_code"), format!("server{server}_check_job")];
        let tools = names.iter().map(|name| format!(r#"{{"name":"{name}"}}"#).into());
        upstream.tools = tools.collect();
        let functions: Vec<String> = (0..100).map(|one| function(server, one)).collect();
        let text =
            format!(r#"{{"server_name":"server{server}","tools":[{}]}}"#, functions.join(","));
        upstream.documents = vec![("catalog".into(), text.into())];
    }
    view
}

fn search_in(view: Arc<View>) -> Arc<CallContext> {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_hub_tools",
        "arguments":{"query":"ledger 81 fields of the table"}}}"#;
    Arc::new(CallContext {
        way: Way::FromClient,
        request_id: "r1".into(),
        retry_of: None,
        connector: "hub".into(),
        caller: Arc::new(Caller::anonymous("somebody")),
        view,
        message: Message::parse(Bytes::from_static(text.as_bytes())).expect("a message"),
        name: "search_hub_tools".into(),
        target: None,
        hints: Hints::default(),
        revision: Revision::NEWEST_LEGACY,
        headers: Arc::new(HeaderMap::new()),
        session: None,
        attributes: Vec::new(),
        handles: Arc::default(),
        requester: None,
        status: LiveStatus::default(),
        arguments: Arguments::default(),
        spelling: std::sync::OnceLock::new(),
    })
}

/// The bound is 100 ms.
#[divan::bench(sample_count = 20)]
fn reshape_after_a_change(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let view = hundred();
    bencher.bench_local(|| stage.catalogue(view.clone()).entries().len());
}

/// The bound is 5 ms.
#[divan::bench(sample_count = 50)]
fn search(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let view = Arc::new(View::whole(Arc::new(stage.catalogue(hundred()))));
    assert!(stage.search(&view));
    bencher.bench_local(|| stage.search(&view));
}

/// The same for a caller from whom a policy hides every third tool: what it sees has to be found out.
#[divan::bench(sample_count = 50)]
fn search_where_a_third_is_hidden(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let catalogue = stage.catalogue(hundred());
    let sight = |place: usize| if place.is_multiple_of(3) { Sight::Hidden } else { Sight::Shown };
    let sights = (0..catalogue.entries().len()).map(sight).collect();
    let view = Arc::new(View::filtered(Arc::new(catalogue), sights));
    assert!(stage.search(&view));
    bencher.bench_local(|| stage.search(&view));
}

/// The bound is 100 ms here, too.
#[divan::bench(sample_count = 20)]
fn reshape_functions_after_a_change(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let view = hundred_of_functions();
    bencher.bench_local(|| stage.catalogue(view.clone()).entries().len());
}

/// Every third function is hidden; the bound is 5 ms.
#[divan::bench(sample_count = 50)]
fn search_functions_where_a_third_is_hidden(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let catalogue = stage.catalogue(hundred_of_functions());
    let hidden = |(place, entry): (usize, &Arc<Entry>)| {
        if entry.kind == EntryKind::Function && place.is_multiple_of(3) {
            Sight::Hidden
        } else {
            Sight::Shown
        }
    };
    let sights = catalogue.entries().iter().enumerate().map(hidden).collect();
    let view = Arc::new(View::filtered(Arc::new(catalogue), sights));
    assert!(stage.search(&view));
    bencher.bench_local(|| stage.search(&view));
}
