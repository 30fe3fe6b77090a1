//! Results of 10 MB, one after the other and several at once.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::{MIB, Report};
use crate::{Plugway, Scripted, binary, http, process, rpc::Client, wait};

/// Letters in one result.
pub const BYTES: u64 = 10_000_000;
/// Clients that read at once.
pub const AT_ONCE: u64 = 4;
/// Results that pass before memory is looked at: buffers of connections and of the allocator are there then.
const WARM: u64 = 2 * AT_ONCE;
/// One result has to pass in this time.
const BOUND: Duration = Duration::from_mins(1);

/// How a server sends a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As a body of JSON, which plugway hands on piece by piece.
    Json,
    /// As an event, which is one message.
    Events,
    /// As a line of a child.
    Lines,
}

/// What passed, and how much memory it took.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// How the results came.
    pub form: Form,
    /// How many.
    pub count: u64,
    /// Bytes that clients got.
    pub passed: u64,
    /// Resident bytes before.
    pub before: u64,
    /// The most that were resident meanwhile.
    pub peak: u64,
    /// How long it took.
    pub took: Duration,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Json, Self::Events, Self::Lines];

    /// How many bytes more may be resident while results of this form pass, however many pass: for JSON only what is on its
    /// way, for messages that are read as a whole three times the messages that are on their way at once, which the buffer
    /// that grows and what the allocator keeps come to.
    pub fn limit(self) -> u64 {
        match self {
            Self::Json => 24 * MIB,
            Self::Events | Self::Lines => 24 * MIB + 3 * AT_ONCE * BYTES,
        }
    }

    fn call(self) -> Value {
        let form = if self == Self::Events { "events" } else { "json" };
        let tool = if self == Self::Lines { "kid_big" } else { "web_big" };
        json!({"name": tool, "arguments": {"bytes": BYTES, "form": form}})
    }
}

/// Lets so many results of each form pass.
pub async fn run(count: u64) -> Result<Vec<Measured>> {
    let web = Scripted::start().await?;
    let kid = binary::find("rough-server")?;
    // A child for all: one for each client is not what this is about.
    let upstreams = json!([
        {"name": "web", "url": web.url()},
        {"name": "kid", "command": kid, "sharing": "connector"},
    ]);
    let configuration = json!({"name": "hub", "upstreams": upstreams}).to_string();
    let mut measured = Vec::new();
    for form in Form::ALL {
        let plugway = Plugway::start(configuration.clone()).await?;
        measured.push(one_form(&plugway, form, count).await?);
    }
    Ok(measured)
}

async fn one_form(plugway: &Plugway, form: Form, count: u64) -> Result<Measured> {
    let (pid, client) = (plugway.pid()?, plugway.legacy().await?);
    pass(plugway, &client, form, WARM).await?;
    process::forget_peak(pid)?;
    let (before, began) = (process::resident_bytes(pid)?, Instant::now());
    let passed = pass(plugway, &client, form, count).await?;
    let peak = process::peak_bytes(pid)?;
    Ok(Measured { form, count, passed, before, peak, took: began.elapsed() })
}

/// Reads so many results, as they come; how many bytes they had.
async fn pass(plugway: &Plugway, client: &Client, form: Form, count: u64) -> Result<u64> {
    let read = |_| async {
        let (_, request) = client.request("tools/call", form.call())?;
        let response = http::open(plugway.address(), request).await?;
        ensure!(response.status() == 200, "{}", response.status());
        let mut body = response.into_body();
        let mut bytes = 0;
        while let Some(frame) = wait::within("the next piece", BOUND, body.frame()).await? {
            bytes += frame?.into_data().map_or(0, |data| data.len() as u64);
        }
        ensure!(bytes > BYTES, "a result of {bytes} bytes");
        Ok(bytes)
    };
    let at_once = usize::try_from(AT_ONCE)?;
    stream::iter(0..count)
        .map(read)
        .buffer_unordered(at_once)
        .try_fold(0, async |sum, bytes| Ok(sum + bytes))
        .await
}

impl Measured {
    /// Fails where more memory was taken than may be.
    pub fn ensure(&self) -> Result<()> {
        let grown = self.peak.saturating_sub(self.before);
        let (form, limit) = (self.form, self.form.limit());
        ensure!(grown <= limit, "{form:?}: {} MiB of {}", grown / MIB, limit / MIB);
        Ok(())
    }
}

/// The report of a run.
pub fn report(measured: &[Measured]) -> Report {
    let what = format!(
        "Results of {BYTES} bytes, {AT_ONCE} at once, from servers that send them as JSON, as events and as lines of a child."
    );
    let mut report = Report::new("Large results", &what);
    report.head(&["form", "results", "MB passed", "MiB before", "MiB more at most", "limit", "s"]);
    for one in measured {
        report.row(&[
            format!("{:?}", one.form),
            one.count.to_string(),
            (one.passed / 1_000_000).to_string(),
            (one.before / MIB).to_string(),
            (one.peak.saturating_sub(one.before) / MIB).to_string(),
            (one.form.limit() / MIB).to_string(),
            one.took.as_secs().to_string(),
        ]);
    }
    report
}
