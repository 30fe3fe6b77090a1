//! What a connector says about itself: the results of `initialize` and `server/discover`.
//!
//! Reading order: [`known`] is what of the servers a caller may know of; [`capabilities`] and [`instructions`] are made of
//! that.

mod capabilities;
mod instructions;
mod known;

use super::connector::Connector;
use super::viewer::Viewer;
use crate::protocol::{Era, Revision};

use known::Known;
pub(super) use known::{knows, may_use};

/// JSON text of the result of `initialize`.
pub async fn initialize(connector: &Connector, viewer: Viewer<'_>, revision: Revision) -> String {
    let known = Known::of(connector, viewer).await;
    format!(
        r#"{{"protocolVersion":"{}","capabilities":{},"serverInfo":{}{}}}"#,
        revision.as_str(),
        capabilities::of(connector, &known, Era::Legacy),
        connector.server_info,
        instructions::member(connector, &known),
    )
}

/// The members that a result of the modern era has which plugway authored: it says what is away now, so that it may change
/// at any moment, and it belongs to the caller (SEP-2549).
const AUTHORED: &str = r#""resultType":"complete","ttlMs":0,"cacheScope":"private","#;

/// JSON text of the result of `server/discover` (2026-07-28).
pub async fn discover(connector: &Connector, viewer: Viewer<'_>) -> String {
    let known = Known::of(connector, viewer).await;
    // Those of sessions among them, as in the error about any other: a client may choose.
    let versions = Revision::ALL.map(Revision::as_str).join(r#"",""#);
    format!(
        r#"{{{AUTHORED}"supportedVersions":["{versions}"],"capabilities":{}{},"_meta":{{"io.modelcontextprotocol/serverInfo":{}}}}}"#,
        capabilities::of(connector, &known, Era::Modern),
        instructions::member(connector, &known),
        connector.server_info,
    )
}
