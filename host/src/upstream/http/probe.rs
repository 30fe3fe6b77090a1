//! Finds out whether a server speaks the modern era.

use std::sync::Arc;

use serde::Deserialize;
use tokio::time::timeout;

use super::ask::{Reply, ask};
use super::endpoint::Endpoint;
use super::request::{Head, Whose};
use crate::protocol::{Era, Revision};
use crate::upstream::authored::{Hello, OPENING_ID, modern_request};
use crate::upstream::era::Speaks;
use crate::upstream::failure::Failure;
use crate::upstream::greeting::Greeting;
use crate::upstream::limits::PROBE;

/// Errors that only a server of the modern era gives: headers that contradict the body, a capability that the client
/// must have, a version that it does not speak.
pub(super) const HEADER_MISMATCH: i64 = -32_020;
const CAPABILITY: i64 = -32_021;
const VERSION: i64 = -32_022;

/// What the probe found.
pub(super) enum Found {
    /// Modern, and what it says of itself.
    Modern(Greeting),
    /// Everything else: `initialize` is next.
    Legacy,
}

#[derive(Deserialize)]
struct WireError {
    code: i64,
    #[serde(default)]
    data: Option<ErrorData>,
}

#[derive(Deserialize)]
struct ErrorData {
    #[serde(default)]
    supported: Vec<String>,
}

/// Asks `server/discover` with this credential. Fails when the server cannot be reached or refuses the credential, and when it is modern but
/// does not let itself be discovered.
pub(super) async fn probe(endpoint: &Arc<Endpoint>, whose: Whose) -> Result<Found, Failure> {
    let head = Head { whose, ..Head::modern_method("server/discover") };
    let text = modern_request(&Hello::own(), OPENING_ID, "server/discover", None);
    let asked = ask(endpoint, head, text, Some(OPENING_ID));
    match timeout(PROBE, asked).await {
        Err(_a_legacy_server_may_be_silent) => Ok(Found::Legacy),
        Ok(Err(failure)) if failure.is_unreachable() => Err(failure),
        Ok(Err(_broken)) => Ok(Found::Legacy),
        Ok(Ok(reply)) => judge(endpoint, &reply),
    }
}

/// The same with a caller's credential, where plugway itself is not answered; keeps what was found for everybody.
pub(super) async fn probe_as(endpoint: &Arc<Endpoint>, whose: Whose) -> Result<Era, Failure> {
    let (era, initialize) = match probe(endpoint, whose).await? {
        Found::Modern(_) => (Era::Modern, None),
        Found::Legacy => (Era::Legacy, Some(true)),
    };
    endpoint.era.found(Speaks { modern: Some(era == Era::Modern), initialize });
    Ok(era)
}

fn judge(endpoint: &Endpoint, reply: &Reply) -> Result<Found, Failure> {
    reply.check(endpoint)?;
    let Some(message) = &reply.message else { return Ok(Found::Legacy) };
    if let Some(result) = message.result() {
        return Ok(Greeting::discovered(result).map_or(Found::Legacy, Found::Modern));
    }
    let error = message.error().unwrap_or_default();
    let modern = match serde_json::from_str::<WireError>(error) {
        Ok(WireError { code: HEADER_MISMATCH | CAPABILITY, .. }) => true,
        Ok(WireError { code: VERSION, data: Some(data) }) => {
            data.supported.iter().any(|version| version == Revision::NEWEST.as_str())
        }
        _ => false,
    };
    if modern {
        let what = "speaks the newest revision but refuses to be discovered";
        return Err(Failure::broken(endpoint.name(), what).because(error));
    }
    Ok(Found::Legacy)
}
