//! What a client of the modern era asked of a server of the legacy era.

use bytes::Bytes;

use crate::protocol::{Id, Message, Method};
use crate::upstream::rewrite;

/// A request whose answer has to become one of the modern era.
#[derive(Clone, Debug)]
pub(super) struct Translated {
    /// What was asked.
    pub(super) method: Method,
    /// The id that the client gave. All clients of one caller share its session at the server and know nothing of each
    /// other's ids: there, each request goes under a number of the session's own.
    pub(super) id: Id,
}

impl Translated {
    /// The server's response as the client gets it.
    pub(super) fn answer(&self, text: Bytes) -> Bytes {
        let text = match Message::parse(text.clone()) {
            Ok(message) => rewrite::response(&text, message.id_span(), &self.id),
            Err(_) => text,
        };
        rewrite::for_modern(text, self.method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_gets_the_clients_id_be_it_a_result_or_an_error() {
        let id = Id::parse(r#""a-1""#).unwrap();
        let translated = Translated { method: Method::ToolsCall, id };
        for (text, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
                r#"{"jsonrpc":"2.0","id":"a-1","result":{"resultType":"complete"}}"#,
            ),
            (
                r#"{"id":7,"error":{"code":1,"message":"id"},"jsonrpc":"2.0"}"#,
                r#"{"id":"a-1","error":{"code":1,"message":"id"},"jsonrpc":"2.0"}"#,
            ),
        ] {
            assert_eq!(translated.answer(Bytes::from(text)), expected);
        }
    }
}
