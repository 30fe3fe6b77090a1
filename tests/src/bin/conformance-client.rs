//! `conformance-client`: what the official conformance suite starts as the client of a scenario, with the URL of its own
//! server at the end. It starts the real plugway before that server and is plugway's client, so that the suite sees what
//! plugway sends; with `--direct` it talks to the server itself, which shows what a client alone is worth.
//!
//! The suite names scenario and revision in the environment.

use std::{env, net::SocketAddr};

use anyhow::{Context as _, Result, bail};
use plugway_tests::{
    Plugway,
    rpc::{Client, LEGACY},
};
use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
        ElicitationAction, GetPromptRequestParams, Implementation, JsonObject, ProtocolVersion,
        ReadResourceRequestParams,
    },
    service::{ClientLifecycleMode, ClientServiceExt as _, RequestContext, RunningService},
    transport::StreamableHttpClientTransport,
};
use serde_json::{Value, json};

type Session = RunningService<RoleClient, User>;

#[tokio::main]
async fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let (is_direct, url) = match words.as_slice() {
        [url] => (false, url),
        [flag, url] if flag == "--direct" => (true, url),
        _ => bail!("conformance-client [--direct] URL"),
    };
    let (scenario, revision) =
        (variable("MCP_CONFORMANCE_SCENARIO")?, variable("MCP_CONFORMANCE_PROTOCOL_VERSION")?);
    if is_direct {
        return play(&scenario, url, &revision, None).await;
    }
    let upstream = json!({
        "name": "suite", "url": url, "prefix": "never",
        "server_requests": ["elicitation", "sampling", "roots"],
    });
    let plugway =
        Plugway::start(json!({"name": "hub", "upstreams": [upstream]}).to_string()).await?;
    play(&scenario, &plugway.mcp_url(), &revision, Some(plugway.address())).await
}

fn variable(name: &str) -> Result<String> {
    env::var(name).with_context(|| format!("the suite did not set {name}"))
}

/// Does what the scenario wants a client to do.
async fn play(
    scenario: &str,
    url: &str,
    revision: &str,
    plugway: Option<SocketAddr>,
) -> Result<()> {
    let session = connect(url, revision).await?;
    let tools = session.list_all_tools().await?;
    let call = async |name: &str, arguments: Value| call(&session, name, arguments).await;
    match scenario {
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => {}
        "tools_call" => call("add_numbers", json!({"a": 5, "b": 3})).await?,
        "sse-retry" => call("test_reconnection", json!({})).await?,
        "elicitation-sep1034-client-defaults" => {
            call("test_client_elicitation_defaults", json!({})).await?;
        }
        "sep-2322-client-request-state" => {
            for name in ["echo_state", "unrelated", "no_state", "no_result_type"] {
                call(&format!("test_mrtr_{name}"), json!({})).await?;
            }
        }
        "json-schema-2020-12-preservation" => {
            let rich = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
            let schema = &rich.context("no tool with a schema of 2020-12")?.input_schema;
            call("json_schema_echo", json!({"schema": schema})).await?;
        }
        "http-standard-headers" => standard_headers(&session).await?,
        "http-custom-headers" => {
            let context: Value = serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")?)?;
            let calls = context.get("toolCalls").and_then(Value::as_array).cloned();
            for planned in calls.context("the suite planned no calls")? {
                let name = planned.get("name").and_then(Value::as_str).context("a name")?;
                call(name, planned.get("arguments").cloned().unwrap_or_default()).await?;
            }
        }
        "http-invalid-tool-headers" => {
            call("valid_tool", json!({"region": "us-west1"})).await?;
            if let Some(plugway) = plugway {
                call_all_that_is_listed(plugway).await?;
            }
        }
        other => bail!("no such scenario: {other}"),
    }
    session.cancel().await?;
    Ok(())
}

async fn connect(url: &str, revision: &str) -> Result<Session> {
    let lifecycle = if revision == LEGACY {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
    };
    let transport = StreamableHttpClientTransport::from_uri(url);
    let session = Box::pin(User.serve_with_lifecycle(transport, lifecycle)).await;
    session.with_context(|| format!("cannot connect to {url}"))
}

async fn call(session: &Session, name: &str, arguments: Value) -> Result<()> {
    let Value::Object(arguments) = arguments else { bail!("arguments are an object") };
    let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
    session.call_tool(request).await.map(drop).with_context(|| format!("calling {name}"))
}

/// Every method that has a header of its own.
async fn standard_headers(session: &Session) -> Result<()> {
    for tool in session.list_all_tools().await? {
        call(session, &tool.name, json!({})).await?;
    }
    for resource in session.list_all_resources().await? {
        session.read_resource(ReadResourceRequestParams::new(resource.uri)).await?;
    }
    for prompt in session.list_all_prompts().await? {
        session.get_prompt(GetPromptRequestParams::new(prompt.name)).await?;
    }
    Ok(())
}

/// A client that would call whatever it is shown: what plugway must not send to the server must not be in its list.
async fn call_all_that_is_listed(plugway: SocketAddr) -> Result<()> {
    let client = Client::modern(plugway, "/mcp");
    for name in client.tool_names().await?.iter().filter(|name| *name != "valid_tool") {
        client.call("tools/call", json!({"name": name, "arguments": {"value": "x"}})).await?;
    }
    Ok(())
}

/// A user who accepts every form as it stands: the defaults where there are any.
#[derive(Debug, Clone)]
struct User;

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities =
            serde_json::from_value(json!({"elicitation": {}, "sampling": {}, "roots": {}}))
                .unwrap_or_default();
        ClientConfig::new(capabilities, Implementation::new("conformance-client", "0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = serde_json::to_value(request)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let fields = request.pointer("/requestedSchema/properties").and_then(Value::as_object);
        let content: JsonObject = fields
            .into_iter()
            .flatten()
            .map(|(name, field)| {
                (name.clone(), field.get("default").cloned().unwrap_or(json!(true)))
            })
            .collect();
        let mut result = ElicitResult::new(ElicitationAction::Accept);
        result.content = Some(content.into());
        Ok(result)
    }
}
