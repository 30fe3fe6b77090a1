//! Which subscription a notification belongs to (MCP 2026-07-28, "Subscriptions"): said in its `_meta`.

use bytes::Bytes;

use super::edit::splice;
use super::id::Id;
use super::message::{Field, Message, string};
use super::scan::{Span, members};

const KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// The notification as one of the subscription with this id.
pub fn tagged(notification: &Message, id: &Id) -> Bytes {
    let text = notification.text();
    let known = notification.span(Field::MetaSubscriptionId);
    if !known.is_empty() {
        return splice(text, &[(known, id.as_json().as_bytes())]);
    }
    let member = member(id);
    let (object, span, before, after) =
        match (notification.field(Field::Meta), notification.params()) {
            (Some(meta), _) if meta.starts_with('{') => {
                (meta, notification.span(Field::Meta), "", "")
            }
            (_, Some(params)) => (params, notification.params_span(), r#""_meta":{"#, "}"),
            (_, None) => {
                let end = notification.method_span().range().end;
                let params = format!(r#","params":{{"_meta":{{{member}}}}}"#);
                return splice(text, &[(Span::new(end, end), params.as_bytes())]);
            }
        };
    let alone = members(object).is_none_or(|members| members.is_empty());
    let comma = if alone { "" } else { "," };
    let start = span.range().start + 1;
    let new = format!("{before}{member}{after}{comma}");
    splice(text, &[(Span::new(start, start), new.as_bytes())])
}

/// The notification as one of no subscription, as the legacy era has it.
pub fn untagged(notification: &Message) -> Bytes {
    let text = notification.text();
    let cut = || {
        let meta = notification.field(Field::Meta)?;
        let (start, inside) = match cut(meta, KEY)? {
            Cut::Member(span) => (notification.span(Field::Meta).range().start, span),
            // Nothing else stood in `_meta`: a server of the legacy era would not have sent it.
            Cut::All => match cut(notification.params()?, "_meta")? {
                Cut::Member(span) => (notification.params_span().range().start, span),
                Cut::All => {
                    let params = notification.params_span();
                    return Some((params, "{}"));
                }
            },
        };
        let inside = inside.range();
        Some((Span::new(start + inside.start, start + inside.end), ""))
    };
    match cut() {
        Some((span, new)) => splice(text, &[(span, new.as_bytes())]),
        None => text.clone(),
    }
}

/// JSON text of the member of `_meta` that names a subscription.
pub fn member(id: &Id) -> String {
    format!(r#""{KEY}":{id}"#)
}

enum Cut {
    /// These bytes hold the member and one comma.
    Member(Span),
    /// The object has no other member.
    All,
}

/// What is to go from the text of an object to be rid of a member.
fn cut(object: &str, name: &str) -> Option<Cut> {
    let members = members(object)?;
    let is_it =
        |key: &Span| object.get(key.range()).and_then(string).is_some_and(|key| key == name);
    let place = members.iter().position(|(key, _)| is_it(key))?;
    let (key, value) = members.get(place)?;
    let before = place.checked_sub(1).and_then(|before| members.get(before));
    Some(match (before, members.get(place + 1)) {
        (Some((_, before)), _) => Cut::Member(Span::new(before.range().end, value.range().end)),
        (None, Some((next, _))) => Cut::Member(Span::new(key.range().start, next.range().start)),
        (None, None) => Cut::All,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(text: &str) -> Message {
        Message::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    #[test]
    fn an_id_is_put_in_replaced_and_taken_out() {
        let id = Id::parse(r#""a""#).unwrap();
        for (plain, with) in [
            (
                r#"{"jsonrpc":"2.0","method":"m"}"#,
                r#"{"jsonrpc":"2.0","method":"m","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"a"}}}"#,
            ),
            (
                r#"{"params":{ },"method":"m","jsonrpc":"2.0"}"#,
                r#"{"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"a"} },"method":"m","jsonrpc":"2.0"}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","params":{"uri":"x", "n":1.0}}"#,
                r#"{"jsonrpc":"2.0","method":"m","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"a"},"uri":"x", "n":1.0}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","params":{"_meta":{"k":1},"uri":"x"}}"#,
                r#"{"jsonrpc":"2.0","method":"m","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"a","k":1},"uri":"x"}}"#,
            ),
        ] {
            assert_eq!(tagged(&message(plain), &id), with);
            let numbered = with.replace(r#""a""#, "7");
            assert_eq!(tagged(&message(&numbered), &id), with);
        }
        for (with, plain) in [
            (r#"{"k":1, "io.modelcontextprotocol/subscriptionId":7}"#, r#"{"k":1}"#),
            (r#"{"io.modelcontextprotocol/subscriptionId":7 , "k":1}"#, r#"{"k":1}"#),
        ] {
            let around = |meta: &str| {
                format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"_meta":{meta}}}}}"#)
            };
            assert_eq!(untagged(&message(&around(with))), around(plain));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_tagged_and_untagged_says_what_it_said(
            meta in prop::collection::btree_map("[a-z/]{1,4}", any::<i64>(), 0..3),
            others in prop::collection::btree_map("[a-z]{1,4}", any::<i64>(), 0..3),
            number in any::<u64>(),
        ) {
            let mut params = serde_json::to_value(&others).unwrap();
            if !meta.is_empty() {
                params["_meta"] = serde_json::to_value(&meta).unwrap();
            }
            let text = serde_json::json!({"jsonrpc": "2.0", "method": "m", "params": params});
            let with = tagged(&message(&text.to_string()), &Id::number(number));
            let with = message(std::str::from_utf8(&with).unwrap());
            let number = number.to_string();
            prop_assert_eq!(with.field(Field::MetaSubscriptionId), Some(number.as_str()));
            let back: serde_json::Value = serde_json::from_slice(&untagged(&with)).unwrap();
            prop_assert_eq!(back, text);
        }
    }
}
