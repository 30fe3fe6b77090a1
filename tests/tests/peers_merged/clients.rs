//! The real clients: each lists everything and asks for some of it.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use futures_util::stream::{StreamExt as _, TryStreamExt as _, iter};
use plugway_tests::peers::Peers;
use rmcp::{
    RoleClient,
    model::{
        CallToolRequestParams, ClientConfig, GetPromptRequestParams, ProtocolVersion,
        ReadResourceRequestParams,
    },
    service::{ClientLifecycleMode, ClientServiceExt as _, RunningService, ServiceError},
    transport::StreamableHttpClientTransport,
};
use serde_json::{Value, json};

use crate::table::{Ask, What};

/// What a client saw: the names of everything, and an answer for each request.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) tools: BTreeSet<String>,
    pub(crate) prompts: BTreeSet<String>,
    pub(crate) resources: BTreeSet<String>,
    pub(crate) results: Vec<Value>,
}

impl Seen {
    /// Out of what the Python clients print.
    fn printed(printed: &Value) -> Result<Self> {
        let results =
            printed.get("results").and_then(Value::as_array).context("no results")?.clone();
        Ok(Self {
            tools: names(printed.get("tools"), None),
            prompts: names(printed.get("prompts"), None),
            resources: names(printed.get("resources"), None),
            results,
        })
    }
}

fn names(list: Option<&Value>, key: Option<&str>) -> BTreeSet<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    let name = |item: &Value| match key {
        Some(key) => item.get(key)?.as_str().map(str::to_owned),
        None => item.as_str().map(str::to_owned),
    };
    items.filter_map(name).collect()
}

/// The official Python client.
pub(crate) async fn mcp(peers: &Peers, url: &str, mode: &str, asks: &[Ask]) -> Result<Seen> {
    let words: Vec<String> = asks.iter().map(Ask::words).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Seen::printed(&peers.mcp(url, mode, &words).await?)
}

/// The FastMCP client.
pub(crate) async fn fastmcp(peers: &Peers, url: &str, mode: &str, asks: &[Ask]) -> Result<Seen> {
    let words: Vec<String> = asks.iter().map(Ask::words).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Seen::printed(&peers.fastmcp(url, mode, &words).await?)
}

/// The Inspector: a process for each request.
pub(crate) async fn inspector(peers: &Peers, url: &str, era: &str, asks: &[Ask]) -> Result<Seen> {
    let list = async |method: &str| peers.inspector(url, era, &["--method", method]).await;
    let tools = list("tools/list").await?;
    let prompts = list("prompts/list").await?;
    let resources = list("resources/list").await?;
    let results = iter(asks)
        .map(|ask| async move { inspector_ask(peers, url, era, ask, &ask.shown()).await });
    Ok(Seen {
        tools: names(tools.get("tools"), Some("name")),
        prompts: names(prompts.get("prompts"), Some("name")),
        resources: names(resources.get("resources"), Some("uri")),
        results: results.buffered(2).try_collect().await?,
    })
}

/// One request of the Inspector, under this name.
pub(crate) async fn inspector_ask(
    peers: &Peers,
    url: &str,
    era: &str,
    ask: &Ask,
    name: &str,
) -> Result<Value> {
    let words = inspector_words(ask, name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    peers.inspector(url, era, &words).await.with_context(|| format!("{ask:?}"))
}

fn inspector_words(ask: &Ask, shown: &str) -> Vec<String> {
    let (method, name, arguments) = match ask.what {
        What::Tool => ("tools/call", "--tool-name", "--tool-arg"),
        What::Prompt => ("prompts/get", "--prompt-name", "--prompt-args"),
        What::Resource => ("resources/read", "--uri", ""),
    };
    let mut words: Vec<String> = ["--method", method, name].map(str::to_owned).into();
    words.push(shown.to_owned());
    let given = ask.arguments.as_object().into_iter().flatten();
    let pairs: Vec<String> = given
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key}={text}"),
            other => format!("{key}={other}"),
        })
        .collect();
    if !pairs.is_empty() {
        words.push(arguments.to_owned());
        words.extend(pairs);
    }
    words
}

/// The official Rust client.
pub(crate) async fn rust(url: &str, is_modern: bool, asks: &[Ask]) -> Result<Seen> {
    let lifecycle = if is_modern {
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
    } else {
        ClientLifecycleMode::Initialize
    };
    let transport = StreamableHttpClientTransport::from_uri(url);
    let client =
        Box::pin(ClientConfig::default().serve_with_lifecycle(transport, lifecycle)).await?;
    let tools = json!(client.list_all_tools().await?);
    let prompts = json!(client.list_all_prompts().await?);
    let resources = json!(client.list_all_resources().await?);
    let mut results = Vec::new();
    for ask in asks {
        results.push(Box::pin(rust_ask(&client, ask)).await.with_context(|| format!("{ask:?}"))?);
    }
    client.cancel().await?;
    Ok(Seen {
        tools: names(Some(&tools), Some("name")),
        prompts: names(Some(&prompts), Some("name")),
        resources: names(Some(&resources), Some("uri")),
        results,
    })
}

type RustClient = RunningService<RoleClient, ClientConfig>;

async fn rust_ask(client: &RustClient, ask: &Ask) -> Result<Value> {
    let arguments = ask.arguments.as_object().cloned().unwrap_or_default();
    let name = ask.shown();
    match ask.what {
        What::Tool => {
            let params = CallToolRequestParams::new(name).with_arguments(arguments);
            outcome(client.call_tool(params).await.map(|result| json!(result)))
        }
        What::Prompt => {
            let params = GetPromptRequestParams::new(name).with_arguments(arguments);
            outcome(client.get_prompt(params).await.map(|result| json!(result)))
        }
        What::Resource => {
            let params = ReadResourceRequestParams::new(name);
            outcome(client.read_resource(params).await.map(|result| json!(result)))
        }
    }
}

fn outcome(answer: Result<Value, ServiceError>) -> Result<Value> {
    match answer {
        Ok(result) => Ok(result),
        Err(ServiceError::McpError(error)) => Ok(json!({"error": error.code.0})),
        Err(error) => Err(error.into()),
    }
}
