//! The line of a call.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::line::Line;
use super::redact;
use crate::pipeline::port::{CallEnd, CallRecord};
use crate::protocol::{Field, Message, Method, Span, message, scan};

/// Answers of a client that one line tells of.
const INPUTS: usize = 16;

/// What is told of a call beside what happened.
#[derive(Debug)]
pub(super) struct Telling {
    /// Digests arguments.
    pub(super) digest: Hmac<Sha256>,
    /// Whether arguments are told, redacted.
    pub(super) arguments: bool,
    /// Whether plugway ends now, and so whoever gave a call up was plugway.
    pub(super) ends: AtomicBool,
}

impl Telling {
    /// Writes the line of a call.
    pub(super) fn write(&self, record: &CallRecord<'_>, buffer: &mut Vec<u8>) {
        let mut line = Line::begin(buffer);
        line.moment("time", record.at);
        line.text("kind", "call");
        line.text("request_id", &record.request_id.to_string());
        if let Some(parent) = record.parent {
            line.text("parent", &parent.to_string());
        }
        line.some("retry_of", record.retry_of);
        line.text("connector", record.connector);
        line.text("caller", &record.caller.display);
        line.text("caller_id", &record.caller.id);
        line.some("session", record.session);
        line.some("oauth_client", record.caller.client.as_deref());
        line.some("tenant", record.caller.tenant.as_deref());
        line.some("client", client_name(record.client_info).as_deref());
        line.text("method", &record.message.method_name());
        line.some("name", shown_name(record.message).as_deref());
        line.some("own_name", record.own_name.map(plain).as_deref());
        line.some("upstream", record.upstream);
        line.some("worker", record.upstream);
        self.arguments(record, &mut line);
        let inputs = inputs(record.message);
        line.objects("inputs", ["name", "outcome"], inputs.into_iter());
        let policies = record.policies.iter();
        let revisions: Vec<_> = policies.map(|one| (one.name(), one.revision())).collect();
        let policies = revisions.iter().map(|(name, revision)| [*name, &**revision]);
        line.objects("policies", ["name", "revision"], policies);
        line.text("verdict", record.verdict.as_str());
        line.some("decided_by", record.decided_by);
        line.some("reason", record.reason);
        line.text("notes", record.notes);
        let (outcome, code) = match record.end {
            CallEnd::Ok => ("ok", None),
            CallEnd::ToolError => ("tool-error", None),
            CallEnd::RpcError(code) => {
                line.raw("rpc_code", code.to_string().as_bytes());
                ("rpc-error", None)
            }
            CallEnd::Fault(code) => ("fault", Some(code.as_str())),
            CallEnd::Cancelled | CallEnd::Abandoned if self.ends.load(Ordering::Acquire) => {
                ("stopped", None)
            }
            CallEnd::Cancelled => ("cancelled", None),
            CallEnd::Abandoned => ("abandoned", None),
        };
        line.text("outcome", outcome);
        line.some("fault", code);
        line.number("duration_us", u64::try_from(record.took.as_micros()).unwrap_or(u64::MAX));
        line.number("bytes_in", record.bytes_in);
        line.number("bytes_out", record.bytes_out);
        line.some("trace_id", trace(record).as_deref());
        line.end();
    }

    fn arguments(&self, record: &CallRecord<'_>, line: &mut Line<'_>) {
        let Some(text) = arguments(record.message) else { return };
        line.hex("arguments_digest", &self.digest_of(text));
        if let Some(sent) = record.sent {
            line.hex("sent_digest", &self.digest_of(sent));
        }
        if self.arguments {
            let sent = record.sent.unwrap_or(text);
            if let Some(shown) = redact::redacted(sent) {
                line.raw("arguments", shown.as_bytes());
            } else {
                line.number("arguments_bytes", sent.len() as u64);
            }
        }
    }

    fn digest_of(&self, text: &str) -> [u8; 32] {
        self.digest.clone().chain_update(text.as_bytes()).finalize().into_bytes().into()
    }
}

/// The exact text that is digested: the arguments; of what has none all of its params.
fn arguments(message: &Message) -> Option<&str> {
    match message.method() {
        Method::ToolsCall | Method::PromptsGet => message.field(Field::Arguments),
        _ => message.params(),
    }
}

/// The tool, prompt or resource as the client named it.
fn shown_name(message: &Message) -> Option<Cow<'_, str>> {
    if let Some(name) = message.string(Field::Name) {
        return Some(name);
    }
    if let Some(uri) = message.string(Field::Uri) {
        return Some(Cow::Owned(plain_uri(&uri)));
    }
    let of = message.field(Field::Ref)?;
    let member = |name: &str| message::string(of.get(scan::member(of, name)?.range())?);
    member("name").or_else(|| member("uri").map(|uri| Cow::Owned(plain_uri(&uri))))
}

/// A name, which may be a URI.
fn plain(name: &str) -> Cow<'_, str> {
    let (scheme, _) = split(name);
    if scheme.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(plain_uri(name)) }
}

/// A URI without what may be a secret in it: its query, its fragment, and its user (RFC 3986, section 3).
fn plain_uri(uri: &str) -> String {
    let end = uri.find(['?', '#']).unwrap_or(uri.len());
    let (scheme, rest) = split(uri.get(..end).unwrap_or_default());
    let host = rest.find(['/', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(host).unwrap_or((rest, ""));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    [scheme, host, path].concat()
}

/// The scheme of a URI with what separates it from the rest, or the beginning of a reference without a scheme; empty where it is
/// neither.
fn split(uri: &str) -> (&str, &str) {
    let is_part =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.');
    let scheme = uri
        .find(|letter| !is_part(letter))
        .filter(|at| *at > 0 && uri.get(*at..).is_some_and(|rest| rest.starts_with(':')));
    let begin = scheme.map_or(0, |at| at + 1);
    let rest = uri.get(begin..).unwrap_or_default();
    let slashes = rest.len() - rest.trim_start_matches(['/', '\\']).len();
    let end = if slashes < 2 { begin } else { begin + slashes };
    uri.split_at_checked(end).unwrap_or(("", uri))
}

/// What a client of the modern era made of what it was asked for: of an elicitation its own word, `accept`, `decline` or
/// `cancel`.
fn inputs(message: &Message) -> Vec<[Cow<'_, str>; 2]> {
    let Some(text) = message.field(Field::InputResponses) else { return Vec::new() };
    let members = scan::members(text).unwrap_or_default();
    let input = |(name, value): &(Span, Span)| {
        let name = message::string(text.get(name.range())?)?;
        let value = text.get(value.range())?;
        let action = scan::member(value, "action").and_then(|span| value.get(span.range()));
        Some([name, action.and_then(message::string).unwrap_or("answered".into())])
    };
    members.iter().take(INPUTS).filter_map(input).collect()
}

/// The name in `clientInfo`.
fn client_name(info: Option<&str>) -> Option<Cow<'_, str>> {
    let info = info?;
    message::string(info.get(scan::member(info, "name")?.range())?)
}

/// The trace that the request belongs to (W3C Trace Context, section 3.2.2), by its header or its `_meta`.
fn trace<'a>(record: &'a CallRecord<'_>) -> Option<Cow<'a, str>> {
    let header = record.headers.get("traceparent").and_then(|value| value.to_str().ok());
    let parent = header.map(Cow::Borrowed).or_else(|| {
        let meta = record.message.field(Field::Meta)?;
        message::string(meta.get(scan::member(meta, "traceparent")?.range())?)
    })?;
    let id = parent.split('-').nth(1)?;
    let fits = id.len() == 32 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let named = fits && id.bytes().any(|byte| byte != b'0');
    named.then(|| Cow::Owned(id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_of_a_uri_is_told() {
        for (uri, shown) in [
            ("echo", "echo"),
            ("file:///a/b", "file:///a/b"),
            ("https://h/p?token=x#y", "https://h/p"),
            ("https://h/p#y?z", "https://h/p"),
            ("https://ann:pw@h/p", "https://h/p"),
            ("https://ann:p@w@h/@p", "https://h/@p"),
            ("//ann:pw@h/p?token=x", "//h/p"),
            ("mem:note?token=x", "mem:note"),
            ("mem:ann:pw@note", "mem:note"),
            ("what is this?", "what is this?"),
            ("up_tool", "up_tool"),
        ] {
            assert_eq!(plain(uri), shown);
        }
        assert_eq!(plain_uri("note?token=x"), "note");
    }
}
