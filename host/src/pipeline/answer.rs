//! JSON-RPC answers that plugway authors itself.

use bytes::Bytes;

use super::port::Answer;
use crate::protocol::{Era, Id};

/// A response with this result, as one JSON message. `result` is JSON text.
pub fn result(id: &Id, result: &[u8]) -> Answer {
    Answer::whole(result_text(id, result))
}

/// JSON text of a response with this result.
pub fn result_text(id: &Id, result: &[u8]) -> Bytes {
    let id = id.as_json().as_bytes();
    let parts = [br#"{"jsonrpc":"2.0","id":"#, id, br#","result":"#, result, b"}"];
    Bytes::from(parts.concat())
}

/// A whole response with this JSON text of `error`.
pub fn error_text(id: &Id, error: &[u8]) -> Bytes {
    let id = id.as_json().as_bytes();
    let parts = [br#"{"jsonrpc":"2.0","id":"#, id, br#","error":"#, error, b"}"];
    Bytes::from(parts.concat())
}

/// JSON text of a tool result that says why the tool did not run (`isError`), as it is in this era.
pub fn tool_error(text: &str, era: Era) -> String {
    let text = serde_json::Value::from(text);
    let kind = match era {
        Era::Legacy => "",
        Era::Modern => r#""resultType":"complete","#,
    };
    format!(r#"{{{kind}"content":[{{"type":"text","text":{text}}}],"isError":true}}"#)
}

/// JSON text of a string.
pub fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
