//! `demo-client`: lists the tools of an MCP endpoint and calls some of them.
#![expect(clippy::print_stdout, reason = "what the endpoint answers is this program's output")]

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use rmcp::{
    model::{CallToolRequestParams, ClientConfig, ProtocolVersion},
    service::{ClientLifecycleMode, ClientServiceExt as _},
    transport::StreamableHttpClientTransport,
};

/// A small MCP client over Streamable HTTP.
#[derive(Debug, Parser)]
struct Options {
    /// The endpoint, such as <http://127.0.0.1:9000/mcp>.
    url: String,
    /// A tool to call after the list, with its arguments: `add={"a":1,"b":2}`. May be repeated.
    #[arg(long, value_name = "NAME[=JSON]")]
    call: Vec<String>,
    /// The protocol's era: `legacy` has sessions, `modern` has none.
    #[arg(long, value_enum, default_value_t = Era::Legacy)]
    era: Era,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Era {
    Legacy,
    Modern,
}

impl Era {
    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Legacy => ClientLifecycleMode::Initialize,
            Self::Modern => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let transport = StreamableHttpClientTransport::from_uri(options.url.as_str());
    let lifecycle = options.era.lifecycle();
    let client = Box::pin(ClientConfig::default().serve_with_lifecycle(transport, lifecycle))
        .await
        .with_context(|| format!("cannot connect to {}", options.url))?;

    for tool in client.list_all_tools().await? {
        let description = tool.description.as_deref().unwrap_or_default();
        println!("  {:<24} {description}", tool.name);
    }
    for call in &options.call {
        let (name, arguments) = call.split_once('=').unwrap_or((call, "{}"));
        let given = serde_json::from_str(arguments)
            .with_context(|| format!("the arguments of {name} are not a JSON object"))?;
        let request = CallToolRequestParams::new(name.to_owned()).with_arguments(given);
        let result = client.call_tool(request).await?;
        println!("\n  {name} {arguments}");
        for text in result.content.iter().filter_map(|block| block.as_text()) {
            println!("  -> {}", text.text);
        }
        anyhow::ensure!(result.is_error != Some(true), "{name} reported an error");
    }
    client.cancel().await?;
    Ok(())
}
