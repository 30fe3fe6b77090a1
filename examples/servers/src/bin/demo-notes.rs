//! `demo-notes`: the notebook over stdio.

use plugway_demo_servers::notes::Notes;
use rmcp::{ServiceExt as _, transport::stdio};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    Box::pin(Notes::default().serve(stdio())).await?.waiting().await?;
    Ok(())
}
