//! The few bytes of a request that change on its way to a server. Everything else stays as the client wrote it.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::permission::claimed;
use super::settings::Asks;
use crate::protocol::message::string;
use crate::protocol::{Field, Id, Message, Method, Span, scan, splice};

/// What is to change in a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change<'a> {
    /// The server's own name for the thing.
    pub(super) name: Option<&'a str>,
    /// Members to add to `params._meta`, as JSON text.
    pub(super) meta: Option<&'a str>,
    /// JSON text in place of the client's capabilities in `params._meta`.
    pub(super) capabilities: Option<&'a str>,
    /// The server is of the legacy era: what only a request of the modern era says of its context is left out.
    pub(super) without_context: bool,
    /// A number in place of the id.
    pub(super) id: Option<u64>,
    /// A number in place of the id, and of the progress token where the client gave one.
    pub(super) number: Option<u64>,
}

/// The text of the request with the changes made.
pub(super) fn request(message: &Message, change: Change<'_>) -> Bytes {
    let name = change.name.and_then(|name| Some((name_span(message)?, json(name))));
    let number = change.number.map(|number| number.to_string());
    let meta = change.meta.map(|members| meta_edit(message, members));
    let mut id = number.clone().or_else(|| change.id.map(|id| id.to_string()));
    let mut edits: Vec<(Span, &[u8])> = Vec::with_capacity(4);
    if let Some((span, name)) = &name {
        edits.push((*span, name.as_bytes()));
    }
    let context = change.without_context.then(|| without_context(message, number.as_deref()));
    if let Some(meta) = context.as_ref().and_then(Option::as_ref) {
        edits.push((message.span(Field::Meta), meta.as_bytes()));
    } else {
        let token = message.span(Field::MetaProgressToken);
        if let (Some(number), false) = (&number, token.is_empty()) {
            edits.push((token, number.as_bytes()));
        }
        let capabilities = message.span(Field::MetaCapabilities);
        if let (Some(changed), false) = (change.capabilities, capabilities.is_empty()) {
            edits.push((capabilities, changed.as_bytes()));
        }
    }
    match &meta {
        None => {}
        Some(Insert::At(span, text)) => edits.push((*span, text.as_bytes())),
        Some(Insert::Params(text)) => {
            let kept = id.or_else(|| message.id().map(|id| id.as_json().to_owned()));
            id = Some(kept.unwrap_or_default() + text);
        }
    }
    if let Some(id) = &id {
        edits.push((message.id_span(), id.as_bytes()));
    }
    edits.sort_unstable_by_key(|(span, _)| span.range().start);
    splice(message.text(), &edits)
}

/// The text of a message of the modern era that claims these capabilities at most, where it claims any.
pub(super) fn claiming(message: &Message, allowed: Asks) -> Bytes {
    let declared = message.field(Field::MetaCapabilities);
    let claims = declared.and_then(|declared| claimed(declared, allowed));
    request(message, Change { capabilities: claims.as_deref(), ..Change::default() })
}

/// The response with the id that the client gave.
pub(super) fn response(text: &Bytes, id_span: Span, id: &Id) -> Bytes {
    splice(text, &[(id_span, id.as_json().as_bytes())])
}

/// The response of a server of the legacy era, with what a client of the modern era requires of a result (MCP
/// 2026-07-28, "Result"): whether it is complete, and of what may be kept, for how long. Errors have no such members.
pub(super) fn for_modern(text: Bytes, method: Method) -> Bytes {
    let Ok(message) = Message::parse(text.clone()) else { return text };
    let Some(result) = message.result().filter(|result| result.starts_with('{')) else {
        return text;
    };
    let cached = [r#""resultType":"complete""#, r#""ttlMs":0"#, r#""cacheScope":"private""#];
    let wanted = if method == Method::ResourcesRead { &cached[..] } else { &cached[..1] };
    let absent = |member: &&&str| {
        let name = member.split('"').nth(1).unwrap_or_default();
        scan::member(result, name).is_none()
    };
    let absent: Vec<&str> = wanted.iter().filter(absent).copied().collect();
    let Some(start) = (result.as_ptr() as usize).checked_sub(text.as_ptr() as usize) else {
        return text;
    };
    if absent.is_empty() {
        return text;
    }
    let is_empty = result.trim_start_matches('{').trim_start().starts_with('}');
    let members = absent.join(",") + if is_empty { "" } else { "," };
    splice(&text, &[(Span::new(start + 1, start + 1), members.as_bytes())])
}

/// The context of a request of the modern era (MCP 2026-07-28, "Request metadata"): a session has its own.
const CONTEXT: [&str; 4] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/logLevel",
];

/// JSON text of `_meta` without the context, and with a number in place of the progress token where there is one; none where
/// there is no context.
fn without_context(message: &Message, number: Option<&str>) -> Option<String> {
    let meta = message.field(Field::Meta)?;
    let mut kept = Vec::new();
    let mut dropped = false;
    for (key, value) in scan::members(meta)? {
        let name = meta.get(key.range()).and_then(string)?;
        if CONTEXT.contains(&&*name) {
            dropped = true;
            continue;
        }
        kept.push(match number {
            Some(number) if name == "progressToken" => format!("\"progressToken\":{number}"),
            _ => meta.get(key.range().start..value.range().end)?.to_owned(),
        });
    }
    dropped.then(|| format!("{{{}}}", kept.join(",")))
}

enum Insert {
    At(Span, String),
    /// There are no params: they follow the id.
    Params(String),
}

fn meta_edit(message: &Message, members: &str) -> Insert {
    let (object, open, close) = match (message.field(Field::Meta), message.params()) {
        (Some(meta), _) if meta.starts_with('{') => (meta, "", ""),
        (_, Some(params)) => (params, r#""_meta":{"#, "}"),
        (_, None) => return Insert::Params(format!(r#","params":{{"_meta":{{{members}}}}}"#)),
    };
    let inside = object.trim_start_matches('{').trim_end_matches('}');
    let comma = if inside.trim().is_empty() { "" } else { "," };
    let span = if open.is_empty() { message.span(Field::Meta) } else { message.params_span() };
    let start = span.range().start + 1;
    Insert::At(Span::new(start, start), format!("{open}{members}{close}{comma}"))
}

/// Where the name or URI stands that says what a request is about.
fn name_span(message: &Message) -> Option<Span> {
    let field = match message.method() {
        Method::ResourcesRead | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => {
            Field::Uri
        }
        Method::Complete => return reference_span(message),
        _ => Field::Name,
    };
    let span = message.span(field);
    (!span.is_empty()).then_some(span)
}

#[derive(Deserialize)]
struct Reference<'a> {
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
}

fn reference_span(message: &Message) -> Option<Span> {
    let raw = message.field(Field::Ref)?;
    let reference: Reference<'_> = serde_json::from_str(raw).ok()?;
    let value = reference.uri.or(reference.name)?.get();
    let within = (value.as_ptr() as usize).checked_sub(raw.as_ptr() as usize)?;
    let start = message.span(Field::Ref).range().start + within;
    Some(Span::new(start, start + value.len()))
}

fn json(text: &str) -> String {
    // A string always serialises.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &'static str, change: Change<'_>) -> String {
        let message = Message::parse(Bytes::from_static(text.as_bytes())).unwrap();
        let out = request(&message, change);
        Message::parse(out.clone()).unwrap();
        String::from_utf8(out.to_vec()).unwrap()
    }

    #[test]
    fn only_what_must_change_changes() {
        let call = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"progressToken":"p"},"name":"a_\u0062","arguments":{ "x" : 1.0 }},"id":"i"}"#;
        let name = Change { name: Some("q\"b"), ..Change::default() };
        assert_eq!(changed(call, name), call.replace(r#""a_\u0062""#, r#""q\"b""#));
        let numbered = Change { name: Some("b"), number: Some(7), ..Change::default() };
        let want =
            call.replace(r#""a_\u0062""#, "\"b\"").replace("\"p\"", "7").replace("\"i\"", "7");
        assert_eq!(changed(call, numbered), want);
        assert_eq!(changed(call, Change::default()), call);
    }

    #[test]
    fn a_session_has_its_own_context() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28", "x" : 1.0,"progressToken":"p","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info"}}}"#;
        let change = Change { without_context: true, ..Change::default() };
        let want = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"x" : 1.0,"progressToken":"p"}}}"#;
        assert_eq!(changed(call, change), want);
        let numbered = Change { number: Some(7), ..change };
        assert_eq!(
            changed(call, numbered),
            want.replace("\"p\"", "7").replace("\"id\":1", "\"id\":7")
        );
        assert_eq!(changed(want, change), want);
    }

    #[test]
    fn meta_is_added_wherever_there_is_none() {
        let meta = Change { meta: Some("\"k\":1"), ..Change::default() };
        for (text, want) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
                r#"{"jsonrpc":"2.0","id":1,"params":{"_meta":{"k":1}},"method":"tools/list"}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{ }}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"k":1} }}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"k":1},"name":"a"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"t":{}}}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"k":1,"t":{}}}}"#,
            ),
        ] {
            assert_eq!(changed(text, meta), want);
        }
    }

    #[test]
    fn a_legacy_result_gets_what_the_modern_era_requires_and_keeps_the_rest() {
        for (method, result, want) in [
            (
                Method::ToolsCall,
                r#"{"content":[1.0]}"#,
                r#"{"resultType":"complete","content":[1.0]}"#,
            ),
            (Method::PromptsGet, "{ }", r#"{"resultType":"complete" }"#),
            (Method::ToolsCall, r#"{"resultType":"x"}"#, r#"{"resultType":"x"}"#),
            (
                Method::ResourcesRead,
                r#"{"ttlMs":5,"contents":[]}"#,
                r#"{"resultType":"complete","cacheScope":"private","ttlMs":5,"contents":[]}"#,
            ),
        ] {
            let around = |result: &str| format!(r#"{{"result":{result},"jsonrpc":"2.0","id":1}}"#);
            let out = for_modern(around(result).into(), method);
            assert_eq!(out, around(want));
            Message::parse(out).unwrap();
        }
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#;
        assert_eq!(for_modern(error.into(), Method::ToolsCall), error);
    }

    #[test]
    fn the_reference_of_a_completion_is_renamed() {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x_p"},"argument":{"name":"n","value":"v"}}}"#;
        let change = Change { name: Some("p"), ..Change::default() };
        assert_eq!(changed(text, change), text.replace("x_p", "p"));
    }
}
