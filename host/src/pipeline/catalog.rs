//! The catalogue of functions and skills behind a connector, which its router keeps as a resource and `GET PATH/catalog`
//! shows: whoever stacks a connector on this one reads it there.

use std::borrow::Cow;
use std::sync::Arc;

use super::collect;
use super::connector::Connector;
use super::dispatch;
use super::request::Request;
use crate::catalogue::{EntryKind, Target};
use crate::fault::{Code, Fault};
use crate::protocol::{Message, message, scan};

/// Bytes of the whole answer that the router may give.
const ANSWER: usize = 8 * 1024 * 1024;

/// The resource with which a router answers for a connector: a local one, so that no server can stand in its place.
pub fn uri(connector: &str) -> String {
    format!("plugway://{connector}/catalog")
}

/// JSON text of what the caller may see of it; none where the router has no such resource for the caller. The request is
/// one of `resources/read` of [`uri`], and is admitted and reviewed as any.
pub async fn read(connector: &Arc<Connector>, request: Request) -> Result<Option<String>, Fault> {
    let view = request.view(connector).await?;
    let entry = view.find(EntryKind::Resource, &uri(&connector.name));
    if !entry.is_some_and(|entry| matches!(entry.target, Target::Local)) {
        return Ok(None);
    }
    let answer = dispatch(connector, request).await?;
    let response = collect::response(answer, ANSWER).await?;
    let text = text_of(&response).map(Cow::into_owned);
    text.map(Some).ok_or_else(|| {
        let fault = Fault::new(Code::PluginInvalid, "The catalogue is not to be had now.");
        fault.because(response.error().unwrap_or("the router's answer has no text").to_owned())
    })
}

/// `result.contents[0].text`
fn text_of(response: &Message) -> Option<Cow<'_, str>> {
    let result = response.result()?;
    let contents = result.get(scan::member(result, "contents")?.range())?;
    let first = contents.get(scan::items(contents)?.first()?.range())?;
    message::string(first.get(scan::member(first, "text")?.range())?)
}
