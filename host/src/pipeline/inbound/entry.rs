//! A request of a server that stands in a result, where it asks for input.

use std::sync::Arc;

use super::message::{Toward, is_judged, pass};
use crate::fault::{Code, Fault};
use crate::pipeline::Connector;
use crate::protocol::{Kind, Malformed, Message};

/// Makes a message of an entry, which has all members of one but this.
const ENVELOPE: &str = r#"{"jsonrpc":"2.0","#;

/// An entry of `inputRequests`, an object with `method` and `params`: its JSON text, as the policies leave it. A fault means
/// that the server asks for what is refused, or for what is no request.
pub async fn pass_entry(
    connector: &Arc<Connector>,
    toward: &Toward,
    upstream: &Arc<str>,
    entry: &str,
) -> Result<String, Fault> {
    if !is_judged(connector) {
        return Ok(entry.to_owned());
    }
    let broken = |why: Malformed| {
        Fault::new(Code::UpstreamBroken, "The server asks for what is no request.").because(why)
    };
    let members = entry.trim_ascii_start().strip_prefix('{');
    let members = members.ok_or_else(|| broken(Malformed::Shape("it is no object")))?;
    let text = [ENVELOPE, members].concat();
    let message = Message::parse(text.into()).map_err(broken)?;
    if message.kind() == Kind::Response {
        return Err(broken(Malformed::Shape("it is a response")));
    }
    let passed = pass(connector, toward, upstream, message).await?;
    let members = passed.text().get(ENVELOPE.len()..).unwrap_or_default();
    Ok(["{", &String::from_utf8_lossy(members)].concat())
}
