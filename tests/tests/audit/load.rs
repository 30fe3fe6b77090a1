//! No line is lost, torn or doubled, whatever the load.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, ensure};
use futures_util::future::join_all;
use plugway_tests::soak::audit::{CLIENTS, Caller, ended, numbers, run, setup};
use plugway_tests::{Scripted, audit, process, wait};
use rustix::process::Signal;

#[tokio::test]
async fn heavy_each_of_two_thousand_calls_has_its_line_and_the_chain_holds_over_files() -> Result<()>
{
    let measured = run(2_048, "256KiB").await?;
    ensure!(measured.calls == 2_048 && measured.files > 3, "{measured:?}");
    ensure!(measured.lines == measured.calls + 2, "{measured:?}");
    Ok(())
}

#[tokio::test]
async fn heavy_whatever_was_answered_before_the_end_has_its_line() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = setup(&upstream.url(), "100MiB").start().await?;
    let (address, pid) = (plugway.address(), plugway.pid()?);
    let (answered, next) = (Mutex::new(Vec::new()), AtomicU64::new(0));
    let clients = (0..CLIENTS).map(|_| async {
        let Ok(mut caller) = Caller::connect(address).await else { return };
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            match caller.call(number).await {
                Ok(true) => answered.lock().unwrap().push(number),
                // The connection ended, or plugway refuses further calls.
                Ok(false) | Err(_) => return,
            }
        }
    });
    let ending = async {
        let bound = std::time::Duration::from_secs(50);
        wait::until("many calls are answered", bound, async || {
            Ok((answered.lock().unwrap().len() > 500).then_some(()))
        })
        .await?;
        process::signal(pid, Signal::TERM)
    };
    let (_, signalled) = tokio::join!(join_all(clients), ending);
    signalled?;
    let (folder, lines) = ended(plugway).await?;
    let answered = answered.into_inner().unwrap();
    let told = numbers_of_all(&lines)?;
    for number in &answered {
        ensure!(told.contains(number), "call {number} was answered and has no line");
    }
    ensure!(answered.len() > 500 && lines.last().is_some_and(|line| line["kind"] == "stop"));
    let verified = audit::verify(&folder.0, &["--key", "env://KEY", "--closed"]).await?;
    ensure!(verified.status.success(), "{}", verified.stderr);
    Ok(())
}

/// The numbers of all calls that have a line; what was cut off by the end has one, too.
fn numbers_of_all(lines: &[serde_json::Value]) -> Result<std::collections::HashSet<u64>> {
    let ok: Vec<_> = lines.iter().filter(|line| line["outcome"] == "ok").cloned().collect();
    numbers(&ok)
}
