//! Sessions that are opened and never ended.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Result, ensure};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::json;

use super::{MIB, Report};
use crate::{Plugway, Scripted, binary, process, wait};

/// Sessions of one round.
pub const SESSIONS: usize = 1_000;
/// Of these, sessions that have a child of their own: fewer than there may be at once.
const WITH_CHILD: usize = 8;
/// Sessions that are opened at the same time.
const AT_ONCE: usize = 8;
/// A session that is idle for so long ends.
const IDLE: Duration = Duration::from_secs(5);
/// All of them have to be gone in this time.
const BOUND: Duration = Duration::from_mins(1);
/// After a round, resident memory is so many times what it was before the first session at most: the allocator keeps some of
/// what a thousand sessions took.
const FACTOR: u64 = 2;
/// Once so many rounds are over, the allocator has what it needs.
const SETTLED: usize = 10;
/// Bytes for each session that may be resident in addition after that: what is lost again and again is more.
const KEPT: u64 = 1024;

/// What all rounds left.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Resident bytes before the first session.
    pub before: u64,
    /// In their order.
    pub rounds: Vec<Round>,
}

/// What one round left.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// Resident bytes once all sessions were open.
    pub open: u64,
    /// Resident bytes once they were gone.
    pub after: u64,
    /// Sessions that were open at the server.
    pub at_server: usize,
}

/// Runs so many rounds of [`SESSIONS`], each until everything is gone.
pub async fn run(rounds: usize) -> Result<Measured> {
    let web = Scripted::start().await?;
    let kid = binary::find("rough-server")?;
    let upstreams = json!([{"name": "web", "url": web.url()}, {"name": "kid", "command": kid}]);
    let limits =
        json!({"session_idle": format!("{}s", IDLE.as_secs()), "max_sessions": 2 * SESSIONS});
    let configuration = json!({"name": "hub", "limits": limits, "upstreams": upstreams});
    let plugway = Plugway::start(configuration.to_string()).await?;
    let own = process::descendants(plugway.pid()?)?;
    let mut measured =
        Measured { before: process::resident_bytes(plugway.pid()?)?, rounds: Vec::new() };
    for number in 1..=rounds {
        let round = round(&plugway, &web, &own).await?;
        // plugway's own session was opened once and for all.
        let opened = u64::try_from(number * SESSIONS + 1)?;
        ensure!(web.initializes() == opened, "{} sessions were opened", web.initializes());
        measured.rounds.push(round);
    }
    Ok(measured)
}

async fn round(plugway: &Plugway, web: &Scripted, own: &BTreeSet<u32>) -> Result<Round> {
    let pid = plugway.pid()?;
    let open = |number: usize| async move {
        let client = plugway.legacy().await?;
        ensure!(client.call_text("web_json", json!({})).await? == "json");
        // The last ones, so that their children are all there when all sessions are.
        if number + WITH_CHILD < SESSIONS {
            return Ok(None);
        }
        let child = client.call_text("kid_process_id", json!({})).await?;
        Ok(Some(child.parse::<u32>()?))
    };
    let children: Vec<Option<u32>> =
        stream::iter(0..SESSIONS).map(open).buffer_unordered(AT_ONCE).try_collect().await?;
    let children: BTreeSet<u32> = children.into_iter().flatten().collect();
    ensure!(children.len() == WITH_CHILD, "{} children", children.len());
    let (at_server, open) = (web.sessions(), process::resident_bytes(pid)?);
    // The client said nothing: that it is idle is all there is to know.
    wait::until("all sessions end at the server", BOUND, async || {
        Ok((web.sessions() == 1).then_some(()))
    })
    .await?;
    process::until_gone(&children, BOUND).await?;
    wait::until("the processes around them end", BOUND, async || {
        Ok((process::descendants(pid)?.len() <= own.len()).then_some(()))
    })
    .await?;
    Ok(Round { open, after: process::resident_bytes(pid)?, at_server })
}

impl Measured {
    /// Fails where memory does not return.
    pub fn ensure(&self) -> Result<()> {
        let limit = FACTOR * self.before;
        for (number, round) in (1..).zip(&self.rounds) {
            ensure!(round.after <= limit, "round {number} left {} MiB", round.after / MIB);
        }
        if let (Some(settled), Some(last)) = (self.rounds.get(SETTLED - 1), self.rounds.last()) {
            let sessions = u64::try_from((self.rounds.len() - SETTLED) * SESSIONS)?;
            let grown = last.after.saturating_sub(settled.after);
            let each = grown.checked_div(sessions).unwrap_or_default();
            ensure!(each <= KEPT, "each session leaves {each} bytes");
        }
        Ok(())
    }
}

/// The report of a run.
pub fn report(measured: &Measured) -> Report {
    let what = format!(
        "{SESSIONS} sessions a round, opened without an end, {WITH_CHILD} of them with a child; idle sessions end after {} s. After each round every session, its session at the server and its child are gone. Before the first round {} MiB were resident; {} MiB may be after each.",
        IDLE.as_secs(),
        measured.before / MIB,
        FACTOR * measured.before / MIB
    );
    let mut report = Report::new("Sessions that nobody ends", &what);
    report.head(&["round", "sessions at the server", "MiB with all open", "MiB after"]);
    for (number, round) in (1..).zip(&measured.rounds) {
        let mib = |bytes: u64| (bytes / MIB).to_string();
        let number: i32 = number;
        report.row(&[
            number.to_string(),
            round.at_server.to_string(),
            mib(round.open),
            mib(round.after),
        ]);
    }
    report
}
