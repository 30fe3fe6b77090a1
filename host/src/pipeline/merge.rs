//! Merging a policy's members into the arguments of a call (RFC 7396). Values that do not change keep their bytes.

use indexmap::IndexMap;
use serde_json::value::RawValue;

use crate::protocol::{Field, Malformed, Message, splice};

type Object = IndexMap<String, Box<RawValue>>;

/// A merge that cannot be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum MergeError {
    /// The patch or the arguments are no JSON object.
    #[error("the arguments to merge are no JSON object")]
    NoObject(#[from] serde_json::Error),
    /// The call has no params to put arguments into.
    #[error("the call has no params")]
    NoParams,
    /// The edited message is not one that would have been accepted.
    #[error("the edited message is broken")]
    Broken(#[from] Malformed),
}

/// The message with the patch merged into `params.arguments`.
pub(super) fn into_arguments(message: &Message, patch: &str) -> Result<Message, MergeError> {
    let span = message.span(Field::Arguments);
    let merged = merge(message.field(Field::Arguments).unwrap_or("{}"), patch)?;
    let text = if span.is_empty() {
        let params = message.params().ok_or(MergeError::NoParams)?;
        let rest = params.strip_prefix('{').unwrap_or_default();
        let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
        let params = format!(r#"{{"arguments":{merged}{comma}{rest}"#);
        splice(message.text(), &[(message.params_span(), params.as_bytes())])
    } else {
        splice(message.text(), &[(span, merged.as_bytes())])
    };
    Ok(Message::parse(text)?)
}

fn merge(target: &str, patch: &str) -> Result<String, serde_json::Error> {
    let mut object: Object = serde_json::from_str(target)?;
    let patch: Object = serde_json::from_str(patch)?;
    for (key, value) in patch {
        if value.get() == "null" {
            object.shift_remove(&key);
            continue;
        }
        let value = match object.get(&key) {
            Some(old) if is_object(old) && is_object(&value) => {
                RawValue::from_string(merge(old.get(), value.get())?)?
            }
            _ if is_object(&value) => RawValue::from_string(merge("{}", value.get())?)?,
            _ => value,
        };
        object.insert(key, value);
    }
    serde_json::to_string(&object)
}

fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{into_arguments, merge};
    use crate::protocol::{Field, Message};

    #[test]
    fn members_are_added_replaced_removed_and_kept_to_the_byte() {
        for (target, patch, merged) in [
            (r#"{"a":1}"#, r#"{"b":2}"#, r#"{"a":1,"b":2}"#),
            (r#"{"a":1,"b":2}"#, r#"{"a":null}"#, r#"{"b":2}"#),
            (
                r#"{"n":12345678901234567890123.50}"#,
                r#"{"b":2}"#,
                r#"{"n":12345678901234567890123.50,"b":2}"#,
            ),
            (r#"{"a":{"x":1,"y":2}}"#, r#"{"a":{"x":null,"z":3}}"#, r#"{"a":{"y":2,"z":3}}"#),
            (r#"{"a":[1]}"#, r#"{"a":{"x":null}}"#, r#"{"a":{}}"#),
        ] {
            assert_eq!(merge(target, patch).unwrap(), merged, "{target} {patch}");
        }
    }

    #[test]
    fn arguments_appear_where_there_were_none() {
        for params in [r#"{}"#, r#"{ }"#, r#"{"name":"x"}"#] {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
            let message = Message::parse(Bytes::from(text)).unwrap();
            let merged = into_arguments(&message, r#"{"a":1}"#).unwrap();
            assert_eq!(merged.field(Field::Arguments), Some(r#"{"a":1}"#), "{params}");
        }
    }
}
