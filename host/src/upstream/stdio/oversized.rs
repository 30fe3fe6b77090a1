//! What a line was that is too long to be taken, as far as its ends show it.

use crate::protocol::lines::Ends;

/// What was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skipped {
    /// The answer to the request with this number.
    Answer(u64),
    /// A notification or a request: nobody waits for it.
    Told,
    /// It cannot be said: some call may wait for it for ever.
    Unknown,
}

/// Reads the members before the long one, and the `id` behind it. Servers of the official SDKs write `id` before `result`
/// (Python, Rust) or `result` before `id` (TypeScript).
pub(super) fn skipped(ends: &Ends) -> Skipped {
    let Some(mut rest) = ends.head.trim_ascii_start().strip_prefix(b"{") else {
        return Skipped::Unknown;
    };
    let mut number = None;
    loop {
        let Some((key, value)) = key(rest) else { return Skipped::Unknown };
        let end = match key {
            b"method" | b"params" => return Skipped::Told,
            b"result" | b"error" => {
                let number = number.or_else(|| last(&ends.tail));
                return number.map_or(Skipped::Unknown, Skipped::Answer);
            }
            b"jsonrpc" => text(value).map(|(_, end)| end),
            b"id" => digits(value).map(|(id, end)| {
                number = Some(id);
                end
            }),
            _ => None,
        };
        let next = end.and_then(|end| value.get(end..)?.trim_ascii_start().strip_prefix(b","));
        let Some(next) = next else { return Skipped::Unknown };
        rest = next;
    }
}

/// A key without escapes, and what follows its colon.
fn key(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = rest.trim_ascii_start();
    let (key, end) = text(rest)?;
    let value = rest.get(end..)?.trim_ascii_start().strip_prefix(b":")?;
    Some((key, value.trim_ascii_start()))
}

/// A JSON string without escapes, and where it ends.
fn text(rest: &[u8]) -> Option<(&[u8], usize)> {
    let inside = rest.strip_prefix(b"\"")?;
    let end = inside.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    (inside.get(end) == Some(&b'"')).then_some(())?;
    Some((inside.get(..end)?, end + 2))
}

/// A number of plugway's own, and where it ends.
fn digits(rest: &[u8]) -> Option<(u64, usize)> {
    let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    let number = std::str::from_utf8(rest.get(..end)?).ok()?.parse().ok()?;
    Some((number, end))
}

/// The `id` at the end of the message, with nothing but `jsonrpc` behind it. In JSON, a quotation mark inside a string has a
/// backslash before it, so that a key is found only where one is.
fn last(tail: &[u8]) -> Option<u64> {
    const KEY: &[u8] = b"\"id\"";
    let place = memchr::memmem::rfind(tail, KEY)?;
    let before = tail.get(..place)?.trim_ascii_end();
    let value = tail.get(place + KEY.len()..)?.trim_ascii_start();
    let value = value.strip_prefix(b":")?.trim_ascii_start();
    let (number, end) = digits(value)?;
    let mut rest = value.get(end..)?.trim_ascii_start();
    if let Some(more) = rest.strip_prefix(b",") {
        let (b"jsonrpc", value) = key(more)? else { return None };
        let (_, end) = text(value)?;
        rest = value.get(end..)?.trim_ascii_start();
    }
    (before.ends_with(b",") && rest.trim_ascii_end() == b"}").then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(head: &str, tail: &str) -> Skipped {
        skipped(&Ends { head: head.into(), tail: tail.into() })
    }

    #[test]
    fn an_answer_is_known_by_its_number_wherever_that_stands() {
        let long = "xxxxxxxx";
        for (head, tail) in [
            (r#"{"jsonrpc":"2.0","id":17,"result":{"content":"#, long),
            (r#" { "id" : 17 , "jsonrpc" : "2.0" , "error" : {"#, long),
            (r#"{"result":{"content":"#, r#"xx"}]},"jsonrpc":"2.0","id":17}"#),
            (r#"{"result":"xx"#, "xx\" , \"id\" : 17 , \"jsonrpc\" : \"2.0\" } \r"),
            (r#"{"jsonrpc":"2.0","result":{"id":4,"#, r#"xx"},"id":17}"#),
        ] {
            assert_eq!(of(head, tail), Skipped::Answer(17), "{head} .. {tail}");
        }
    }

    #[test]
    fn what_the_server_tells_answers_nothing() {
        let tail = r#"xx"},"jsonrpc":"2.0","id":17}"#;
        for head in [
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"#,
            r#"{"jsonrpc":"2.0","id":17,"method":"sampling/createMessage","params":"#,
            r#"{"params":{"#,
        ] {
            assert_eq!(of(head, tail), Skipped::Told, "{head}");
        }
    }

    #[test]
    fn what_cannot_be_known_is_not_guessed() {
        let head = r#"{"result":{"content":"#;
        for (head, tail) in [
            ("", ""),
            ("xxxx", "xxxx"),
            ("[{", "}]"),
            (r#"{"x":"#, r#","id":17}"#),
            (r#"{"id":"17","result":"#, r"}"),
            (head, "xxxx"),
            (head, r#"xx,"id":17}}"#),
            (head, r#"xx,\"id\":17}"#),
            (head, r#""id":17,"more":1}"#),
            (head, r#"{"id":17}"#),
            (head, r#","id":1.5}"#),
        ] {
            assert_eq!(of(head, tail), Skipped::Unknown, "{head} .. {tail}");
        }
    }
}
