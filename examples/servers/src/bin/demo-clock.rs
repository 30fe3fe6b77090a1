//! `demo-clock`: the clock over Streamable HTTP. Prints its URL, then serves until it is killed.
#![expect(clippy::print_stdout, reason = "the line with the URL is this program's answer")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use clap::Parser;
use plugway_demo_servers::{
    clock::{Clock, Dials},
    http::{Sessions, serve},
    stats::Stats,
};
use tokio::net::TcpListener;

/// A small MCP server over Streamable HTTP.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The name the server gives itself.
    #[arg(long, default_value = "demo-clock")]
    name: String,
    /// Generated tools besides the server's own.
    #[arg(long, default_value_t = 0)]
    tools: usize,
    /// Tools in one page of the list.
    #[arg(long, default_value_t = 100)]
    page_size: usize,
    /// How long every tool call takes.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// No sessions; answer with plain JSON instead of an event stream.
    #[arg(long)]
    json: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let listener = TcpListener::bind(arguments.listen).await?;
    println!("http://{}/mcp", listener.local_addr()?);

    let sessions = if arguments.json { Sessions::StatelessJson } else { Sessions::Stateful };
    let dials = Arc::new(Dials {
        name: arguments.name,
        extra_tools: arguments.tools,
        page_size: arguments.page_size,
        delay: Duration::from_millis(arguments.delay_ms),
    });
    let stats = Arc::new(Stats::default());
    let handler = {
        let stats = Arc::clone(&stats);
        move || Clock::new(Arc::clone(&dials), Arc::clone(&stats))
    };
    serve(listener, sessions, stats, handler).await?;
    Ok(())
}
