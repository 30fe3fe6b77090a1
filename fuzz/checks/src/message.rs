//! One JSON-RPC message, against what `serde_json` reads.

use bytes::Bytes;
use plugway::protocol::scan::{self, MAX_DEPTH};
use plugway::protocol::{Field, Kind, Malformed, Message, splice};
use serde_json::Value;

use crate::json::{Pairs, depth, is_json, reads};

const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
const PARAMS: [(&str, Field); 11] = [
    ("name", Field::Name),
    ("uri", Field::Uri),
    ("arguments", Field::Arguments),
    ("_meta", Field::Meta),
    ("cursor", Field::Cursor),
    ("ref", Field::Ref),
    ("requestId", Field::RequestId),
    ("protocolVersion", Field::ProtocolVersion),
    ("capabilities", Field::Capabilities),
    ("clientInfo", Field::ClientInfo),
    ("progressToken", Field::ProgressToken),
];
const META: [(&str, Field); 4] = [
    ("progressToken", Field::MetaProgressToken),
    ("io.modelcontextprotocol/protocolVersion", Field::MetaProtocolVersion),
    ("io.modelcontextprotocol/clientCapabilities", Field::MetaCapabilities),
    ("io.modelcontextprotocol/clientInfo", Field::MetaClientInfo),
];

/// The scanner agrees with the grammar; a message is accepted exactly where the reference accepts it, and its fields
/// are those that the reference finds.
pub(crate) fn check(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let parsed = Message::parse(bytes.clone());
    let Ok(text) = std::str::from_utf8(data) else {
        assert!(matches!(parsed, Err(Malformed::Utf8 { .. })));
        return;
    };
    let is_sound = is_json(text) && depth(text) <= MAX_DEPTH as usize;
    assert_eq!(scan::check(text, 0).is_ok(), is_sound, "the grammar");
    let broken_string = text.contains("\\u");
    if is_sound && !broken_string {
        assert_ne!(reads::<Value>(text), Some(false), "a value is read from what was accepted");
    }
    let expected = Reference::read(text).filter(|_| is_sound);
    assert_eq!(parsed.is_ok(), expected.is_some(), "{parsed:?}");
    match (parsed, expected) {
        (Ok(message), Some(expected)) => compare(&message, &expected, &bytes),
        (Err(Malformed::Scan(_)), _) => assert!(!is_sound, "only broken text is called broken"),
        _ => {}
    }
}

struct Reference {
    kind: Kind,
    id: Option<Value>,
    method: String,
    fields: Vec<(Field, String)>,
}

impl Reference {
    fn read(text: &str) -> Option<Self> {
        let top = object(text, &ENVELOPE)?;
        let find = |key: &str| top.iter().find(|(known, _)| known == key).map(|(_, raw)| &**raw);
        let (id, method) = (find("id"), find("method"));
        let outcomes = usize::from(find("result").is_some()) + usize::from(find("error").is_some());
        let kind = match (method, id, outcomes) {
            (Some(_), Some(_), 0) => Kind::Request,
            (Some(_), None, 0) => Kind::Notification,
            (None, _, 1) => Kind::Response,
            _ => return None,
        };
        let id = match id {
            Some("null") if kind == Kind::Response => None,
            Some(id) => Some(identifier(id)?),
            None => None,
        };
        let method = match method {
            Some(method) => serde_json::from_str::<String>(method).ok()?,
            None => String::new(),
        };
        if find("jsonrpc") != Some("\"2.0\"") {
            return None;
        }
        let mut fields = Vec::new();
        if let Some(params) = find("params") {
            let names = PARAMS.map(|(name, _)| name);
            let params = object(params, &names)?;
            take(&params, &PARAMS, &mut fields);
            let meta = params.iter().find(|(key, _)| key == "_meta");
            if let Some((_, meta)) = meta.filter(|(_, meta)| meta.starts_with('{')) {
                let names = META.map(|(name, _)| name);
                take(&object(meta, &names)?, &META, &mut fields);
            }
        }
        Some(Self { kind, id, method, fields })
    }
}

/// An id, with integers as text so that none is too large.
fn identifier(raw: &str) -> Option<Value> {
    if raw.starts_with('"') {
        return serde_json::from_str::<String>(raw).ok().map(Value::String);
    }
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    let integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    let sign = if digits.len() < raw.len() && digits != "0" { "-" } else { "" };
    integer.then(|| serde_json::json!({ "integer": format!("{sign}{digits}") }))
}

/// The members of an object whose keys every reader takes for the same ones.
fn object(text: &str, known: &[&str]) -> Option<Vec<(String, String)>> {
    let pairs: Pairs = serde_json::from_str(text).ok()?;
    let mut keys = std::collections::HashSet::new();
    for (key, _) in &pairs.0 {
        let exact = known.contains(&key.as_str());
        let similar = known.iter().any(|known| ignoring_case(known, key));
        if (similar && !exact) || !keys.insert(key.clone()) {
            return None;
        }
    }
    Some(pairs.0.into_iter().map(|(key, raw)| (key, raw.get().to_owned())).collect())
}

fn ignoring_case(known: &str, key: &str) -> bool {
    let same = |a: char, b: char| {
        a == b
            || a.to_lowercase().eq(b.to_lowercase())
            || a.to_uppercase().eq(b.to_uppercase())
            || (a.eq_ignore_ascii_case(&'i') && b == '\u{130}')
    };
    known.chars().count() == key.chars().count()
        && known.chars().zip(key.chars()).all(|(a, b)| same(a, b))
}

fn take(pairs: &[(String, String)], known: &[(&str, Field)], fields: &mut Vec<(Field, String)>) {
    for (name, field) in known {
        if let Some((_, raw)) = pairs.iter().find(|(key, _)| key == name) {
            fields.push((*field, raw.clone()));
        }
    }
}

fn compare(message: &Message, expected: &Reference, bytes: &Bytes) {
    assert_eq!(message.kind(), expected.kind);
    assert_eq!(message.method_name(), expected.method);
    let id = message.id().map(|id| identifier(id.as_json()));
    assert_eq!(id, expected.id.clone().map(Some), "the id");
    for (_, field) in PARAMS.iter().chain(&META) {
        let raw = expected.fields.iter().find(|(known, _)| known == field);
        assert_eq!(message.field(*field), raw.map(|(_, raw)| raw.as_str()), "{field:?}");
        let text = raw.and_then(|(_, raw)| serde_json::from_str::<String>(raw).ok());
        assert_eq!(message.string(*field).as_deref(), text.as_deref(), "{field:?}");
    }
    replace_the_name(message, bytes);
}

/// Replacing the name changes nothing but the name.
fn replace_the_name(message: &Message, bytes: &Bytes) {
    let span = message.span(Field::Name);
    if span.is_empty() {
        return;
    }
    let edited = splice(bytes, &[(span, b"\"new\\u0020name\"")]);
    let after = bytes.len() - span.range().end;
    assert_eq!(edited.get(..span.range().start), bytes.get(..span.range().start));
    assert_eq!(edited.get(edited.len() - after..), bytes.get(span.range().end..));
    let reparsed = Message::parse(edited);
    assert!(reparsed.is_ok_and(|edited| {
        edited.string(Field::Name).as_deref() == Some("new name")
            && edited.id() == message.id()
            && edited.field(Field::Arguments) == message.field(Field::Arguments)
    }));
}
