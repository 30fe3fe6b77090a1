//! How a server of the modern era asks for input, and how the answers come: an `InputRequiredResult`, and the members
//! `inputResponses` and `requestState` of the request that is sent again. Texts are spliced, never encoded again.

use std::sync::LazyLock;

use bytes::Bytes;
use memchr::memmem::Finder;

use crate::protocol::message::string;
use crate::protocol::{Field, Id, Kind, Malformed, Message, Span, scan, splice};

/// A message that asks for input.
pub(in crate::pipeline) struct Required {
    /// The message.
    pub(in crate::pipeline) message: Message,
    /// What the client is asked, in the order of the server.
    pub(in crate::pipeline) questions: Vec<Question>,
    /// JSON text of what the server wants back.
    pub(in crate::pipeline) state: Option<String>,
}

/// One entry of `inputRequests`.
pub(in crate::pipeline) struct Question {
    /// JSON text of its key.
    pub(in crate::pipeline) key: String,
    /// The method.
    pub(in crate::pipeline) method: String,
    /// Where its params stand in the message; nowhere if it has none.
    pub(in crate::pipeline) params: Span,
}

/// A result that says to ask for input, and does it in a way that nobody understands.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct Unreadable;

/// A quick look: false means that no client reads the text as a result that asks for input.
pub(in crate::pipeline) fn may_ask(text: &[u8]) -> bool {
    static WORD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("input_required"));
    // Letters of the word may be escaped.
    static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u00"));
    WORD.find(text).is_some() || ESCAPE.find(text).is_some()
}

impl Required {
    /// Reads a response; none when it is any other.
    pub(in crate::pipeline) fn read(message: &Message) -> Result<Option<Self>, Unreadable> {
        let Some(result) = message.result() else { return Ok(None) };
        let part = |span: Span| result.get(span.range()).unwrap_or_default();
        let kind = scan::member(result, "resultType").and_then(|span| string(part(span)));
        if kind.as_deref() != Some("input_required") {
            return Ok(None);
        }
        let state = scan::member(result, "requestState").map(part).filter(|text| *text != "null");
        let questions = match scan::member(result, "inputRequests") {
            None => Vec::new(),
            Some(span) if part(span) == "null" => Vec::new(),
            Some(span) => {
                let start = message.result_span().range().start + span.range().start;
                questions(part(span), start).ok_or(Unreadable)?
            }
        };
        let state = state.map(str::to_owned);
        let is_text = state.as_deref().is_none_or(|state| state.starts_with('"'));
        if !is_text || (questions.is_empty() && state.is_none()) {
            return Err(Unreadable);
        }
        Ok(Some(Self { message: message.clone(), questions, state }))
    }

    /// Reads what a task asks for while it goes on: its state as a response has it or `notifications/tasks` tells it (SEP-2663,
    /// "Task Polling"); none when it asks for nothing.
    pub(in crate::pipeline) fn of_task(message: &Message) -> Result<Option<Self>, Unreadable> {
        let (task, place) = match message.kind() {
            Kind::Response => (message.result(), message.result_span()),
            Kind::Request | Kind::Notification => (message.params(), message.params_span()),
        };
        let task = task.unwrap_or_default();
        let part = |span: Span| task.get(span.range()).unwrap_or_default();
        let status = scan::member(task, "status").and_then(|span| string(part(span)));
        let asked = scan::member(task, "inputRequests").filter(|span| part(*span) != "null");
        let is_task = scan::member(task, "taskId").is_some();
        let (Some("input_required"), Some(span), true) = (status.as_deref(), asked, is_task) else {
            return Ok(None);
        };
        let start = place.range().start + span.range().start;
        let questions = questions(part(span), start).ok_or(Unreadable)?;
        Ok(Some(Self { message: message.clone(), questions, state: None }))
    }

    /// Reads what asks for input in either way.
    pub(in crate::pipeline) fn any(message: &Message) -> Result<Option<Self>, Unreadable> {
        match Self::read(message)? {
            Some(required) => Ok(Some(required)),
            None => Self::of_task(message),
        }
    }

    /// A question as a request with this id.
    pub(in crate::pipeline) fn request(&self, question: &Question, id: u64) -> Bytes {
        let params = std::str::from_utf8(self.params(question)).ok();
        request(id, &question.method, params.filter(|params| !params.is_empty()))
    }

    /// The bytes of a question's params.
    pub(super) fn params(&self, question: &Question) -> &[u8] {
        self.message.text().get(question.params.range()).unwrap_or_default()
    }
}

/// The entries of `inputRequests`, which stands at `offset`; none when it cannot be read.
fn questions(object: &str, offset: usize) -> Option<Vec<Question>> {
    let part = |span: Span| object.get(span.range()).unwrap_or_default();
    let entries = scan::members(object)?;
    let read = entries.into_iter().map(|(key, entry)| {
        let (start, entry) = (entry.range().start, part(entry));
        let method = scan::member(entry, "method")?;
        let method = string(entry.get(method.range())?)?.into_owned();
        let params = scan::member(entry, "params").unwrap_or_default();
        let params = if params.is_empty() { params } else { params.behind(offset + start) };
        Some(Question { key: part(key).to_owned(), method, params })
    });
    let questions: Vec<Question> = read.collect::<Option<_>>()?;
    let mut keys: Vec<_> = questions.iter().filter_map(|question| string(&question.key)).collect();
    keys.sort();
    keys.dedup();
    (keys.len() == questions.len()).then_some(questions)
}

/// A request of a server to a client. `params` is JSON text.
pub(super) fn request(id: u64, method: &str, params: Option<&str>) -> Bytes {
    let method = json(method);
    let params = params.map(|params| format!(r#","params":{params}"#)).unwrap_or_default();
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method}{params}}}"#))
}

/// The response that asks for input: each question by the JSON text of its key, and what is wanted back.
pub(in crate::pipeline) fn required<'a>(
    id: &Id,
    questions: impl Iterator<Item = (&'a str, &'a Message)>,
    state: &str,
) -> Bytes {
    let entries: Vec<String> = questions
        .map(|(key, question)| {
            let method = json(&question.method_name());
            let params = question.params().map(|params| format!(r#","params":{params}"#));
            format!(r#"{key}:{{"method":{method}{}}}"#, params.unwrap_or_default())
        })
        .collect();
    let (entries, state) = (entries.join(","), json(state));
    Bytes::from(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","inputRequests":{{{entries}}},"requestState":{state}}}}}"#
    ))
}

/// The request sent again with another id, the client's answers, each by the JSON text of its key, and the JSON text of
/// what the server wants back.
pub(super) fn again(
    message: &Message,
    id: &Id,
    answers: &[(String, String)],
    state: Option<&str>,
) -> Result<Message, Malformed> {
    let mut members = String::new();
    if !answers.is_empty() {
        let answers: Vec<_> =
            answers.iter().map(|(key, answer)| format!("{key}:{answer}")).collect();
        members = format!(r#""inputResponses":{{{}}},"#, answers.join(","));
    }
    if let Some(state) = state {
        members = format!(r#"{members}"requestState":{state},"#);
    }
    let start = message.params_span().range().start + 1;
    let mut edits = [
        (message.id_span(), id.as_json().as_bytes()),
        // The params have a name or a URI: something follows.
        (Span::new(start, start), members.as_bytes()),
    ];
    edits.sort_unstable_by_key(|(span, _)| span.range().start);
    Message::parse(splice(message.text(), &edits))
}

/// The request without what belongs to a retry.
pub(in crate::pipeline) fn first(message: &Message) -> Result<Message, Malformed> {
    without(message, &[message.span(Field::InputResponses), message.span(Field::RequestState)])
}

/// A request that is sent again with another state, or with none.
pub(in crate::pipeline) fn with_state(
    message: &Message,
    state: Option<&str>,
) -> Result<Message, Malformed> {
    let own = message.span(Field::RequestState);
    match state {
        Some(state) => Message::parse(splice(message.text(), &[(own, state.as_bytes())])),
        None => without(message, &[own]),
    }
}

/// The request without the members of its params that have these values.
fn without(message: &Message, own: &[Span]) -> Result<Message, Malformed> {
    let params = message.params().unwrap_or("{}");
    let offset = message.params_span().range().start;
    let members = scan::members(params).unwrap_or_default();
    let kept = members.into_iter().filter(|(_, value)| !own.contains(&value.behind(offset)));
    let kept: Vec<&str> = kept
        .map(|(key, value)| params.get(key.range().start..value.range().end).unwrap_or_default())
        .collect();
    let params = format!("{{{}}}", kept.join(","));
    Message::parse(splice(message.text(), &[(message.params_span(), params.as_bytes())]))
}

/// JSON text of a client's answer to the question of that key, which is JSON text; none when it did not answer it.
pub(in crate::pipeline) fn answer<'a>(answers: &'a str, key: &str) -> Option<&'a str> {
    let span = scan::member(answers, &string(key)?)?;
    answers.get(span.range()).filter(|answer| answer.starts_with('{'))
}

fn json(text: &str) -> String {
    crate::pipeline::answer::json_string(text)
}
