//! `demo-board`: the notice board, over Streamable HTTP or over its own pipes.
#![expect(clippy::print_stdout, reason = "the line with the URL is this program's answer")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use clap::Parser;
use plugway_demo_servers::{
    board::{Board, Era, Notes},
    http::{Sessions, serve},
    stats::Stats,
};
use rmcp::{ServiceExt as _, transport::stdio};
use tokio::net::TcpListener;

/// A small MCP server whose resources change.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Speak over standard input and output instead.
    #[arg(long)]
    stdio: bool,
    /// The era to speak.
    #[arg(long, value_enum, default_value_t = Era::Both)]
    era: Era,
    /// Change a note again and again, with so many milliseconds in between.
    #[arg(long)]
    every_ms: Option<u64>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Arguments { listen, stdio: pipes, era, every_ms } = Arguments::parse();
    let notes = Arc::new(Notes::default());
    if let Some(pause) = every_ms.map(Duration::from_millis) {
        let changing = Arc::clone(&notes);
        tokio::spawn(async move { changing.change_every(pause).await });
    }
    if pipes {
        Box::pin(Board::new(era, notes).serve(stdio())).await?.waiting().await?;
        return Ok(());
    }
    let listener = TcpListener::bind(listen).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let handler = move || Board::new(era, Arc::clone(&notes));
    serve(listener, Sessions::Stateful, Arc::new(Stats::default()), handler).await?;
    Ok(())
}
