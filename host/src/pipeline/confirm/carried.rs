//! A confirmed call whose server asks for something itself: the client's retry need not be confirmed again.

use bytes::Bytes;

use super::confirmed::Confirmed;
use super::limits::STATE;
use super::state::{self, Carries};
use crate::fault::{Code, Fault};
use crate::pipeline::answer::json_string;
use crate::pipeline::connector::Connector;
use crate::pipeline::translate::About;
use crate::pipeline::translate::input::Required;
use crate::protocol::{Message, Span, scan, splice};

/// The response of a server of the modern era with its state inside of one of plugway's, where it asks for input. Any other is
/// left as it is.
pub(in crate::pipeline) fn carry(
    connector: &Connector,
    about: &About<'_>,
    confirmed: &Confirmed,
    text: Bytes,
) -> Result<Bytes, Fault> {
    let Ok(message) = Message::parse(text.clone()) else { return Ok(text) };
    let Ok(Some(Required { state, .. })) = Required::read(&message) else { return Ok(text) };
    if state.as_ref().is_some_and(|state| state.len() > STATE) {
        let text = "The server asks for input with a state that is too large.";
        return Err(Fault::new(Code::UpstreamTooLarge, text));
    }
    let sealed = state::seal(connector, about, confirmed, Some(Carries { state }))?;
    let sealed = json_string(&sealed);
    let result = message.result().unwrap_or_default();
    let start = message.result_span().range().start;
    if let Some(span) = scan::member(result, "requestState") {
        return Ok(splice(&text, &[(span.behind(start), sealed.as_bytes())]));
    }
    let member = format!(r#""requestState":{sealed},"#);
    // The result has a type: something follows.
    Ok(splice(&text, &[(Span::new(start + 1, start + 1), member.as_bytes())]))
}
