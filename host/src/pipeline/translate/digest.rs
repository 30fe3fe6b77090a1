//! What makes a call the same call when it is sent again.

use sha2::{Digest as _, Sha256};

use super::limits::LEVELS;
use crate::hex::hex;
use crate::protocol::message::string;
use crate::protocol::{Span, scan};

/// Members of params that belong to the one request and not to what it asks for.
const OWN: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// Digest of what params ask for. The order of members and the way a string is escaped mean nothing; how a number is
/// written does.
pub(in crate::pipeline) fn of(params: &str) -> String {
    let mut hash = Sha256::new();
    object(&mut hash, params, LEVELS, |key| !OWN.contains(&key));
    hex(&hash.finalize())
}

/// Digest of all that a JSON text says, in the same way.
pub(in crate::pipeline) fn whole(text: &str) -> String {
    let mut hash = Sha256::new();
    value(&mut hash, text, LEVELS);
    hex(&hash.finalize())
}

fn object(hash: &mut Sha256, text: &str, levels: u32, takes: impl Fn(&str) -> bool) {
    let part = |span: Span| text.get(span.range()).unwrap_or_default();
    let members = scan::members(text).unwrap_or_default();
    let mut members: Vec<_> = members
        .into_iter()
        .filter_map(|(key, value)| Some((string(part(key))?, part(value))))
        .filter(|(key, _)| takes(key))
        .collect();
    members.sort();
    open(hash, b'{', members.len());
    for (key, member) in members {
        put(hash, b'k', &key);
        value(hash, member, levels);
    }
}

fn value(hash: &mut Sha256, text: &str, levels: u32) {
    match text.as_bytes().first() {
        Some(b'{') if levels > 0 => object(hash, text, levels - 1, |_| true),
        Some(b'[') if levels > 0 => {
            let items = scan::items(text).unwrap_or_default();
            open(hash, b'[', items.len());
            for item in items {
                value(hash, text.get(item.range()).unwrap_or_default(), levels - 1);
            }
        }
        Some(b'"') => put(hash, b's', &string(text).unwrap_or_default()),
        _ => put(hash, b'v', text),
    }
}

fn open(hash: &mut Sha256, kind: u8, length: usize) {
    hash.update([kind]);
    hash.update((length as u64).to_le_bytes());
}

/// Behind its length, so that no two texts run together.
fn put(hash: &mut Sha256, kind: u8, text: &str) {
    open(hash, kind, text.len());
    hash.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_call_is_the_same_however_it_is_written_and_another_one_is_not() {
        let call = r#"{"name":"a","arguments":{"x":[1.0,{"p":1,"q":2}],"y":"é"}}"#;
        for same in [
            r#"{ "arguments" : {"y":"\u00e9","x":[1.0, {"q":2,"p":1}]}, "name":"\u0061"}"#,
            r#"{"requestState":"s","inputResponses":{"a":{}},"_meta":{"k":1},"name":"a","arguments":{"x":[1.0,{"p":1,"q":2}],"y":"é"}}"#,
        ] {
            assert_eq!(of(same), of(call), "{same}");
        }
        for other in [
            r#"{"name":"a","arguments":{"x":[1,{"p":1,"q":2}],"y":"é"}}"#,
            r#"{"name":"a","arguments":{"x":[{"p":1,"q":2},1.0],"y":"é"}}"#,
            r#"{"name":"a","arguments":{"x":[1.0,{"p":1,"q":2}],"y":"é","_meta":1}}"#,
            r#"{"name":"b","arguments":{"x":[1.0,{"p":1,"q":2}],"y":"é"}}"#,
            r#"{"name":"a"}"#,
            "{}",
        ] {
            assert_ne!(of(other), of(call), "{other}");
        }
        assert_ne!(of(r#"{"a":"bc"}"#), of(r#"{"ab":"c"}"#));
        assert_ne!(of(r#"{"a":"1"}"#), of(r#"{"a":1}"#));
    }
}
