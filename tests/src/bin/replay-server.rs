//! `replay-server RECORDING RECORD`: an MCP server that answers by a recording, and writes each message that it is sent as a
//! line to the file RECORD. Prints its URL and serves until it is killed, or, with `--stdio`, serves who started it.
#![expect(clippy::print_stdout, reason = "the line with the URL is this program's answer")]

use std::{fs, sync::Arc};

use anyhow::{Context as _, Result};
use plugway_tests::replay::{Recording, Replay, http, stdio};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut files = Vec::new();
    let (mut address, mut over_pipes) = ("127.0.0.1:0".to_owned(), false);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--stdio" => over_pipes = true,
            "--listen" => address = words.next().context("an address is missing")?,
            _ => files.push(word),
        }
    }
    let [recording, record] = files.as_slice() else {
        anyhow::bail!("a recording and a record are needed");
    };
    let recording = Recording::parse(&fs::read_to_string(recording)?)?;
    let replay = Arc::new(Replay::new(recording, record.into()));
    let follower = Arc::clone(&replay);
    tokio::spawn(async move { follower.follow().await });
    if over_pipes {
        return stdio::serve(replay).await;
    }
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    http::serve(listener, replay).await
}
