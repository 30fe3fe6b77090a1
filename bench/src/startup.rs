//! Time from exec to the first answered call, with a warm cache.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::echo;
use crate::load::{self, Client};
use crate::process::Running;

const READY_WITHIN: Duration = Duration::from_secs(20);

/// Asks `/ready` until it answers 200.
pub(crate) async fn until_ready(address: SocketAddr) -> Result<()> {
    let deadline = load::now() + READY_WITHIN;
    while load::now() < deadline {
        if answers(address, "/ready").await? {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    bail!("plugway was not ready in time")
}

/// Whether `GET path` answers 200.
pub(crate) async fn answers(address: SocketAddr, path: &str) -> Result<bool> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer.starts_with(b"HTTP/1.1 200"))
}

/// Measures and prints.
pub(crate) async fn run(plugway: &Path, configuration: &Path, times: usize) -> Result<()> {
    let call = load::echo(&format!("up_{}", echo::TOOL));
    let mut readies = Vec::new();
    let mut calls = Vec::new();
    for _ in 0..times {
        let start = load::now();
        let process = Running::plugway(plugway, configuration).await?;
        until_ready(process.address).await?;
        readies.push(load::now().duration_since(start).as_secs_f64() * 1_000.0);
        let mut client = Client::connect(process.address).await?;
        client.call(&call).await?;
        calls.push(load::now().duration_since(start).as_secs_f64() * 1_000.0);
    }
    for values in [&mut readies, &mut calls] {
        values.sort_unstable_by(f64::total_cmp);
    }
    let middle = times / 2;
    let at = |values: &[f64], place: usize| values.get(place).copied().unwrap_or(f64::NAN);
    println!(
        "from exec, warm cache, {times} starts: /ready 200 after {:.1} ms (median; worst {:.1}), first call answered after {:.1} ms (worst {:.1})",
        at(&readies, middle),
        at(&readies, times - 1),
        at(&calls, middle),
        at(&calls, times - 1),
    );
    Ok(())
}
