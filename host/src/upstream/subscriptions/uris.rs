//! The resources of a subscription.

use bytes::Bytes;
use serde_json::Value;

use crate::protocol::{Id, Message, Method, message, scan, subscription};

/// The resources that a `subscriptions/listen` names, or the acknowledgement of one.
pub(super) fn named(message: &Message) -> Vec<String> {
    let member =
        |object: &str, name| object.get(scan::member(object, name)?.range()).map(str::to_owned);
    let filter = message.params().and_then(|params| member(params, "notifications"));
    let uris = filter.and_then(|filter| member(&filter, "resourceSubscriptions"));
    let uris = uris.unwrap_or_default();
    let spans = scan::items(&uris).unwrap_or_default().into_iter();
    spans.filter_map(|span| Some(message::string(uris.get(span.range())?)?.into_owned())).collect()
}

/// The acknowledgement of the subscription of this id to these resources.
pub(super) fn acknowledged(id: &Id, uris: &[String]) -> Bytes {
    let (method, tag) = (Method::Acknowledged.as_str(), subscription::member(id));
    let wishes = wishes(uris);
    format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"_meta":{{{tag}}},"notifications":{wishes}}}}}"#
    )
    .into()
}

/// JSON text of `params.notifications` for these resources.
pub(super) fn wishes<T: AsRef<str>>(uris: &[T]) -> String {
    let uris: Vec<&str> = uris.iter().map(AsRef::as_ref).collect();
    format!(r#"{{"resourceSubscriptions":{}}}"#, Value::from(uris))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_acknowledged_is_read_back() {
        let uris = ["a:1".to_owned(), "\"\n".to_owned()];
        let message = Message::parse(acknowledged(&Id::number(1), &uris)).unwrap();
        assert_eq!(named(&message), uris);
        let other = Message::parse(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#.into());
        assert!(named(&other.unwrap()).is_empty());
    }
}
