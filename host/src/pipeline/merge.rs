//! Merging a policy's members into the arguments of a call (RFC 7396).

use crate::protocol::merge::{self, merge};
use crate::protocol::{Field, Malformed, Message, splice};

/// A merge that cannot be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum MergeError {
    /// The patch or the arguments are no unambiguous JSON object.
    #[error(transparent)]
    Merge(#[from] merge::MergeError),
    /// The call has no params to put arguments into.
    #[error("the call has no params")]
    NoParams,
    /// The edited message is not one that would have been accepted.
    #[error("the edited message is broken")]
    Broken(#[from] Malformed),
}

/// The message with the patch merged into `params.arguments`. Arguments that are null count as none.
pub(super) fn into_arguments(message: &Message, patch: &str) -> Result<Message, MergeError> {
    let span = message.span(Field::Arguments);
    let arguments = message.field(Field::Arguments).filter(|arguments| *arguments != "null");
    let merged = merge(arguments.unwrap_or("{}"), patch)?;
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::into_arguments;
    use crate::protocol::{Field, Message};

    fn merged(params: &str) -> String {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let message = Message::parse(Bytes::from(text)).unwrap();
        let merged = into_arguments(&message, r#"{"a":1}"#).unwrap();
        assert_eq!(merged.string(Field::Name), message.string(Field::Name));
        merged.field(Field::Arguments).unwrap_or_default().to_owned()
    }

    #[test]
    fn arguments_appear_where_there_were_none() {
        for params in ["{}", "{ }", r#"{"name":"x"}"#, r#"{"arguments":null}"#] {
            assert_eq!(merged(params), r#"{"a":1}"#, "{params}");
        }
        assert_eq!(merged(r#"{"arguments":{ "b" : 2 }}"#), r#"{"b" : 2,"a":1}"#);
    }

    #[test]
    fn what_is_no_object_is_not_merged() {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":[1]}}"#;
        let message = Message::parse(Bytes::from(text)).unwrap();
        assert!(into_arguments(&message, "{}").is_err());
    }
}
