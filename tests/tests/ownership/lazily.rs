//! Sessions, jobs and batches of callers who reach tools through `call_tool`.

use anyhow::{Result, ensure};
use plugway_tests::{code_server::CodeServer, rpc::Client, tokens::ANN};
use serde_json::json;

use crate::{
    asks::{Way, told_apart},
    hub, started,
};

#[tokio::test]
async fn what_is_called_by_its_name_is_judged_as_the_tool_itself() -> Result<()> {
    let server = CodeServer::start().await?;
    let plugway = started(hub(&server).key("discovery", json!("lazy"))).await?;
    let listed = Client::modern_as(plugway.address(), "/mcp", ANN).tool_names().await?;
    ensure!(!listed.iter().any(|name| name.contains("lab")), "{listed:?}");
    told_apart(&plugway, &server, Way { before: "", server: "lab", lazily: true }).await
}
