//! Answers for a client of the modern era.

use std::sync::LazyLock;

use bytes::Bytes;
use memchr::memmem::Finder;

use super::input::{self, Required, Unreadable, may_ask};
use super::suspended::Kept;
use super::{Side, allowed, asks, suspend};
use crate::fault::Fault;
use crate::pipeline::port::{Answer, Body, Json};
use crate::pipeline::{confirm, inbound};
use crate::protocol::{Message, scan, splice};

/// URL elicitation required: an error of the legacy era, which became a question.
const URL_REQUIRED: &str = "-32042";
/// Resource not found, and what it became.
const NOT_FOUND: (&str, &str) = ("-32002", "-32602");

/// The answer as the client gets it. What streams because it is large is data, and passes as it comes.
pub(super) async fn answered(side: impl Fn() -> Side, answer: Answer) -> Result<Answer, Fault> {
    match answer {
        Answer::Json(Json { body: Body::Whole(text), refusal }) if is_of_interest(&text) => {
            let side = side();
            let judged = async move { side.response(text, refusal).await };
            // Rare and large: what every call goes through stays small.
            let Response { text, refusal } = Box::pin(judged).await?;
            Ok(Answer::Json(Json { body: Body::Whole(text), refusal }))
        }
        Answer::Json(json) => Ok(Answer::Json(json)),
        Answer::Messages(messages) => Ok(suspend::stream(side(), messages)),
    }
}

/// A quick look: false means that the response passes as it is.
fn is_of_interest(text: &[u8]) -> bool {
    static URL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(URL_REQUIRED));
    static RESOURCE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(NOT_FOUND.0));
    may_ask(text) || URL.find(text).is_some() || RESOURCE.find(text).is_some()
}

/// A response, and the code of the error with which the server refused the request.
pub(super) struct Response {
    pub(super) text: Bytes,
    pub(super) refusal: Option<i64>,
}

impl Side {
    /// The response as the client gets it. Its id is the client's already.
    pub(super) async fn response(
        &self,
        text: Bytes,
        refusal: Option<i64>,
    ) -> Result<Response, Fault> {
        if !is_of_interest(&text) {
            return Ok(Response { text, refusal });
        }
        let Ok(message) = Message::parse(text.clone()) else {
            return Ok(Response { text, refusal });
        };
        if let Some(error) = message.error() {
            let code = scan::member(error, "code");
            return match code.and_then(|code| Some((code, error.get(code.range())?))) {
                Some((_, URL_REQUIRED)) if asks(self.asked.method()) => {
                    self.urls(&message, error).await
                }
                Some((span, code)) if code == NOT_FOUND.0 => {
                    let span = span.behind(message.error_span().range().start);
                    let text = splice(&text, &[(span, NOT_FOUND.1.as_bytes())]);
                    Ok(Response { text, refusal: refusal.and(NOT_FOUND.1.parse().ok()) })
                }
                _ => Ok(Response { text, refusal }),
            };
        }
        let text = match Required::any(&message) {
            Ok(None) => text,
            Ok(Some(required)) => {
                let text = allowed::all(&*self.upstream, &self.request.party, &required)?;
                match &self.request.confirmed {
                    None => text,
                    Some(confirmed) => {
                        confirm::carry(&self.connector, &self.about(), confirmed, text)?
                    }
                }
            }
            Err(Unreadable) => return Err(self.unreadable()),
        };
        Ok(Response { text, refusal })
    }

    pub(super) fn unreadable(&self) -> Fault {
        self.broken("asks for input in a way that cannot be read")
    }

    /// A legacy server wants the user to visit some pages first (error -32042): the client is asked to, and its retry
    /// calls the server again.
    async fn urls(&self, message: &Message, error: &str) -> Result<Response, Fault> {
        const NOTHING: &str = "wants the user to visit a page, and names none";
        let within = |text: &str, name: &str| {
            let span = scan::member(text, name)?;
            text.get(span.range()).map(str::to_owned)
        };
        let pages = within(error, "data").and_then(|data| within(&data, "elicitations"));
        let pages = pages.unwrap_or_default();
        let pages: Vec<&str> = scan::items(&pages)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|span| pages.get(span.range()))
            .collect();
        let mut questions = Vec::new();
        for (number, page) in (1..).zip(pages) {
            const METHOD: &str = "elicitation/create";
            let question = Message::parse(input::request(number, METHOD, Some(page)));
            let question = question.map_err(|error| self.unreadable().because(error))?;
            let (toward, name) = (self.request.toward(), self.upstream.name());
            let question = inbound::pass(&self.connector, &toward, name, question).await?;
            let question = self.prepared(question.text().clone(), METHOD)?;
            questions.push((format!("\"url-{number}\""), question));
        }
        let Some(id) = message.id().filter(|_| !questions.is_empty()) else {
            return Err(self.broken(NOTHING));
        };
        let state = self.keep(Kept::Nothing)?;
        let questions = questions.iter().map(|(key, question)| (key.as_str(), question));
        Ok(Response { text: input::required(id, questions, &state), refusal: None })
    }
}
