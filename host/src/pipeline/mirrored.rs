//! Arguments that travel in headers, too: whoever routes by the header and whoever reads the body must see the same call
//! (MCP 2026-07-28, "Server Validation").

use super::request::Request;
use crate::catalogue::Entry;
use crate::fault::{Code, Fault};
use crate::protocol::{Era, Field, Message, Mirrored, header};

/// Refuses a call of the modern era over HTTP whose headers and arguments differ. The annotations count that the client was
/// shown, whatever era the tool's server speaks. A header that none of them names is none of plugway's business.
pub(super) fn check(request: &Request, entry: &Entry) -> Result<(), Fault> {
    // The transport compared `Mcp-Method` already: only a message that did not come over HTTP is without it.
    if entry.mirrored.is_empty()
        || request.era() == Era::Legacy
        || !request.headers.contains_key(header::METHOD)
    {
        return Ok(());
    }
    let arguments = arguments(&request.message);
    for mirrored in &entry.mirrored {
        if !agrees(request, mirrored, arguments) {
            let text = format!(
                "The header {} must repeat the argument {:?} of the call, once where it has a value and never where it has none.",
                mirrored.header(),
                mirrored.parameter(),
            );
            return Err(Fault::new(Code::HeaderMismatch, text));
        }
    }
    Ok(())
}

fn agrees(request: &Request, mirrored: &Mirrored, arguments: &str) -> bool {
    let mut values = request.headers.get_all(mirrored.header()).iter();
    match (values.next(), values.next()) {
        (None, _) => mirrored.agrees(arguments, None),
        (Some(value), None) => {
            value.to_str().is_ok_and(|text| mirrored.agrees(arguments, Some(text)))
        }
        // Two readers could take different ones.
        (Some(_), Some(_)) => false,
    }
}

/// A policy changed the arguments: what the client sent beside the old ones does not go along. The upstream gets its
/// headers made of the new ones.
pub(super) fn forget(request: &mut Request, entry: &Entry) {
    let headers = &request.headers;
    request.passed.retain(|(name, value)| {
        let mirrored = entry.mirrored.iter().any(|mirrored| mirrored.header() == name);
        // What a policy put there stays.
        !mirrored || headers.get(name) != Some(value)
    });
}

fn arguments(message: &Message) -> &str {
    message.field(Field::Arguments).unwrap_or("{}")
}
