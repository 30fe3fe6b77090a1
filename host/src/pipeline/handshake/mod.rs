//! What a connector says about itself: the results of `initialize` and `server/discover`.
//!
//! Reading order: [`known`] is what of the servers a caller may know of; [`capabilities`] and [`instructions`] are made of
//! that.

mod capabilities;
mod instructions;
mod known;

use std::sync::Arc;

use super::caller::Caller;
use super::connector::Connector;
use crate::catalogue::list::MODERN_MEMBERS;
use crate::protocol::{Era, Revision};

use known::Known;
pub(super) use known::knows;

/// JSON text of the result of `initialize`.
pub async fn initialize(connector: &Connector, caller: &Arc<Caller>, revision: Revision) -> String {
    let known = Known::of(connector, caller).await;
    format!(
        r#"{{"protocolVersion":"{}","capabilities":{},"serverInfo":{}{}}}"#,
        revision.as_str(),
        capabilities::of(connector, &known, Era::Legacy),
        connector.server_info,
        instructions::member(connector, &known),
    )
}

/// JSON text of the result of `server/discover` (2026-07-28). plugway authored it, and it says what is away now: it may
/// change at any moment.
pub async fn discover(connector: &Connector, caller: &Arc<Caller>) -> String {
    let known = Known::of(connector, caller).await;
    format!(
        r#"{{{MODERN_MEMBERS}"supportedVersions":["{}"],"capabilities":{}{},"_meta":{{"io.modelcontextprotocol/serverInfo":{}}}}}"#,
        Revision::NEWEST.as_str(),
        capabilities::of(connector, &known, Era::Modern),
        instructions::member(connector, &known),
        connector.server_info,
    )
}
