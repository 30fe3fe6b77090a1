//! The links in the answers of a server.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use http::HeaderMap;
use memchr::memmem;

use super::rules::Rules;
use super::scan::Scanner;
use super::table::{Artifacts, File};
use crate::pipeline::caller::Caller;
use crate::pipeline::exchange::Call;
use crate::pipeline::port::{Answer, Body, Chunks, Incoming, Json, Upstream};
use crate::pipeline::seal::Sealer;
use crate::protocol::scan;

/// Links of one text that are replaced: as many as a caller who is known can have. Further ones stay as they are.
const LINKS: usize = 256;

/// The answer of a server with links to its files as plugway's own. A body that streams is not held back, but for what may be
/// the beginning of a link; how long it will be is not known any more.
pub(in crate::pipeline) fn shown(
    call: &Call<'_>,
    upstream: &Arc<dyn Upstream>,
    answer: Answer,
) -> Answer {
    let (Some(rules), Some(origins)) = (&call.connector.links, upstream.origins()) else {
        return answer;
    };
    let shower = || Shower::of(call, rules, (upstream.name(), origins));
    match answer {
        Answer::Json(Json { body: Body::Whole(text), refusal }) => {
            let text = if Scanner::may_find(&text) { shower().text(&text) } else { text };
            Answer::Json(Json { body: Body::Whole(text), refusal })
        }
        Answer::Json(Json { body: Body::Stream(chunks, _), refusal }) => {
            let body = Body::Stream(shower().stream(chunks), None);
            Answer::Json(Json { body, refusal })
        }
        Answer::Messages(messages) => {
            let shower = shower();
            let show =
                move |text: Bytes| if Scanner::may_find(&text) { shower.text(&text) } else { text };
            Answer::messages(messages.map(move |message| {
                Ok(match message? {
                    Incoming::Response(text) => Incoming::Response(show(text)),
                    Incoming::Notification(mut note) => {
                        note.text = show(note.text);
                        Incoming::Notification(note)
                    }
                    message => message,
                })
            }))
        }
    }
}

/// Makes links of one server for one caller.
struct Shower {
    artifacts: Arc<Artifacts>,
    sealer: Arc<Sealer>,
    rules: Arc<Rules>,
    request: Arc<HeaderMap>,
    caller: Arc<Caller>,
    upstream: Arc<str>,
    origins: Arc<[Arc<str>]>,
}

impl Shower {
    fn of(
        call: &Call<'_>,
        rules: &Arc<Rules>,
        (upstream, origins): (&Arc<str>, &Arc<[Arc<str>]>),
    ) -> Self {
        Self {
            artifacts: call.connector.artifacts.clone(),
            sealer: call.connector.sealer.clone(),
            rules: rules.clone(),
            request: call.request.headers.clone(),
            caller: call.request.caller.clone(),
            upstream: upstream.clone(),
            origins: origins.clone(),
        }
    }

    /// A message that is all there. The state that a server wants back is its own, and stays; no answer that holds one
    /// streams (`translate::looked_into`).
    fn text(&self, text: &Bytes) -> Bytes {
        let mut left = LINKS;
        let mut show = |part: &Bytes| {
            Scanner::whole(&self.origins, part, &mut |origin, path, name| {
                self.one_of(&mut left, origin, path, name)
            })
        };
        let Some(state) = request_state(text) else { return show(text) };
        let mut shown = BytesMut::from(show(&text.slice(..state.start)));
        shown.extend_from_slice(text.get(state.clone()).unwrap_or_default());
        shown.extend_from_slice(&show(&text.slice(state.end..)));
        shown.freeze()
    }

    fn stream(self, chunks: Chunks) -> Chunks {
        let scanner = Scanner::new(self.origins.clone());
        let state = Some((chunks, scanner, LINKS, self));
        let shown = stream::unfold(state, |state| async move {
            let (mut chunks, mut scanner, mut left, own) = state?;
            let mut link = |origin: &Arc<str>, path: &str, name: &str| {
                own.one_of(&mut left, origin, path, name)
            };
            match chunks.next().await {
                Some(Ok(chunk)) => {
                    let shown = scanner.piece(chunk, &mut link);
                    Some((Ok(shown), Some((chunks, scanner, left, own))))
                }
                Some(Err(fault)) => Some((Err(fault), None)),
                None => Some((Ok(scanner.rest(&mut link)), None)),
            }
        });
        // What is held back leaves nothing to send for the moment.
        Box::pin(
            shown.filter(|shown| std::future::ready(!shown.as_ref().is_ok_and(Bytes::is_empty))),
        )
    }

    fn one_of(
        &self,
        left: &mut usize,
        origin: &Arc<str>,
        path: &str,
        name: &str,
    ) -> Option<String> {
        *left = left.checked_sub(1)?;
        self.link(origin, path, name)
    }

    /// plugway's own link; none where nothing would serve it.
    fn link(&self, origin: &Arc<str>, path: &str, name: &str) -> Option<String> {
        let base = self.rules.base(&self.request)?;
        let file = File {
            caller: self.caller.clone(),
            upstream: self.upstream.clone(),
            origin: origin.clone(),
            path: path.into(),
        };
        let times = (Instant::now(), self.rules.lifetime);
        let token = self.artifacts.give(file, &self.sealer, times)?;
        Some(format!("{base}{}{token}/{name}", super::PATH))
    }
}

/// Where the state of a result stands that asks for input (`result.requestState`, MCP 2026-07-28).
fn request_state(text: &[u8]) -> Option<Range<usize>> {
    memmem::find(text, b"\"requestState\"")?;
    let text = std::str::from_utf8(text).ok()?;
    let result = scan::member(text, "result")?.range();
    let state = scan::member(text.get(result.clone())?, "requestState")?.range();
    Some(result.start + state.start..result.start + state.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_that_a_server_wants_back_is_found_where_it_stands() {
        let of = |text: &str| {
            request_state(text.as_bytes()).and_then(|range| text.get(range).map(str::to_owned))
        };
        let asks = r#"{"id":1,"result":{"a":["b"], "requestState" : "http://h\/artifacts"},"c":1}"#;
        assert_eq!(of(asks).as_deref(), Some(r#""http://h\/artifacts""#));
        for text in [
            "",
            r#"{"result":{}}"#,
            r#"{"result":{"a":{"requestState":"x"}}}"#,
            r#"{"params":{"requestState":"x"}}"#,
            r#"{"result":{"a":"\"requestState\":\"x\""}}"#,
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
