//! Every key and variable of the reference, and what plugway does with it: the one table of that decision.
//! `docs/compatibility.md` has the same rows for people; tests compare the two and walk through them.

/// What plugway does with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It means what it means to the reference.
    Honoured,
    /// The same, but it is the router's: it is passed on to it, which checks it.
    PassedOn,
    /// It is said and left out: a sentence, and what to do.
    Ignored(&'static str, &'static str),
    /// plugway does not serve with it yet: what it lacks.
    NotYet(&'static str),
}

/// A word and its fate. `*` in a variable stands for a name or an ending.
pub(super) type Word = (&'static str, Fate);

use Fate::{Honoured, Ignored, NotYet, PassedOn};

/// What refusals say after their sentence.
pub(super) const TAKE_OUT: &str = "take it out, or stay with agora-workbench for it; docs/compatibility.md lists what plugway has";

const NO_ENTRA: Fate = NotYet("tokens of Microsoft Entra are not checked");
const NO_WORKERS: Fate = NotYet("an upstream is one server, not a pool of workers");

/// Keys of a `RouterConfig`; those of an upstream stand below `upstreams`.
pub(super) const ROUTER: &[Word] = &[
    ("name", Honoured),
    ("description", Honoured),
    ("upstreams", Honoured),
    ("upstreams.name", Honoured),
    ("upstreams.url", Honoured),
    ("upstreams.expose_tools", Honoured),
    ("upstreams.tool_aliases", Honoured),
    ("bridges", PassedOn),
    ("entra_client_id", NO_ENTRA),
    ("entra_tenant_id", NO_ENTRA),
];

/// Keys that only a `GatewayConfig` has.
pub(super) const GATEWAY: &[Word] = &[("upstream", Honoured), ("policy", Honoured)];

/// Keys that only a `DispatcherConfig` has.
pub(super) const DISPATCHER: &[Word] = &[
    ("workers", NO_WORKERS),
    ("strategy", NO_WORKERS),
    ("session_affinity", NO_WORKERS),
    ("health_check_interval", NO_WORKERS),
    ("worker_failure_policy", NO_WORKERS),
];

const OF_SERVERS: Fate = Ignored(
    "is a setting of servers that run code, not of what stands before them",
    "set it where that server is started",
);
const NO_ACTIVITY: Fate =
    Ignored("means nothing to plugway, which publishes no activity", "unset it");

/// Variables of the environment.
pub(super) const VARIABLES: &[Word] = &[
    ("CONNECTOR_MODE", Honoured),
    ("CONNECTOR_NAME", Honoured),
    ("UPSTREAM_*_URL", Honoured),
    ("CONNECTOR_HOST", Honoured),
    ("MCP_SERVER_HOST", Honoured),
    ("HOST", Honoured),
    ("CONNECTOR_PORT", Honoured),
    ("MCP_SERVER_PORT", Honoured),
    ("PORT", Honoured),
    ("CONNECTOR_ALLOW_NOOP_AUTH", Honoured),
    (
        "AGORA_ALLOW_UNAUTHENTICATED_REMOTE",
        Ignored(
            "does not open plugway to other machines, which asks for a reason",
            "start it with `--accept-exposure REASON`",
        ),
    ),
    ("GATEWAY_ALLOWED_TOOLS", Honoured),
    ("GATEWAY_BLOCKED_TOOLS", Honoured),
    ("GATEWAY_MAX_CALLS_PER_MINUTE", Honoured),
    ("WORKER_*_URL", NO_WORKERS),
    ("WORKER_*_WEIGHT", NO_WORKERS),
    ("WORKER_URLS", NO_WORKERS),
    ("DISPATCHER_STRATEGY", NO_WORKERS),
    ("DISPATCHER_HEALTH_CHECK_INTERVAL", NO_WORKERS),
    ("DISPATCHER_FAILURE_POLICY", NO_WORKERS),
    ("CONNECTOR_AUTH_FACTORY", NotYet("callers are not identified in this form")),
    ("ENTRA_CLIENT_ID", NO_ENTRA),
    ("ENTRA_TENANT_ID", NO_ENTRA),
    (
        "PUBLIC_BASE_URL",
        Ignored("means nothing to plugway, which names no authorization server", "unset it"),
    ),
    ("ACTIVITY_UI_URL", NO_ACTIVITY),
    ("ACTIVITY_UI_AUDIENCE", NO_ACTIVITY),
    ("SERVER_PUBLIC_URL", OF_SERVERS),
    ("AGORA_PEER_REGISTRY", OF_SERVERS),
    ("OBJECT_TRANSFER_ALLOWED_HOSTS", OF_SERVERS),
    ("OBJECT_TRANSFER_TRUSTED_HTTP_HOSTS", OF_SERVERS),
    ("PARALLEL_EXECUTE_MAX_CONCURRENCY", OF_SERVERS),
    ("CODE_OUTPUT_TRUNCATION_THRESHOLD", OF_SERVERS),
    ("AGORA_OUTPUTS_BASE_DIR", OF_SERVERS),
    ("MCP_ASSET_CACHE_DIR", OF_SERVERS),
    ("MCP_IPYKERNEL_REQUIREMENT", OF_SERVERS),
    ("MCP_WHEELHOUSE", OF_SERVERS),
    ("MCP_BLOB_*", OF_SERVERS),
    ("AZURE_CLIENT_ID", OF_SERVERS),
    ("DEFAULT_IDENTITY_CLIENT_ID", OF_SERVERS),
    ("DATA_LAKE_SEARCH_ENDPOINT", OF_SERVERS),
    ("DATA_LAKE_BLOB_DETAILS_INDEX", OF_SERVERS),
    ("TOOL_SEARCH_*", OF_SERVERS),
];

/// The fate of a key, written as in the table.
pub(super) fn key(name: &str) -> Option<Fate> {
    let all = ROUTER.iter().chain(GATEWAY).chain(DISPATCHER);
    all.copied().find_map(|(known, fate)| (known == name).then_some(fate))
}

/// The fate of a variable.
pub(super) fn variable(name: &str) -> Option<Fate> {
    VARIABLES.iter().copied().find_map(|(known, fate)| covers(known, name).then_some(fate))
}

/// Whether a name is one that the table means.
fn covers(known: &str, name: &str) -> bool {
    match known.split_once('*') {
        None => known == name,
        Some((before, after)) => name
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|middle| !middle.is_empty()),
    }
}
