//! What kind of result a response is, read from its bytes as they come (`resultType`, MCP 2026-07-28).

use memchr::memchr2;

use crate::protocol::message::string;

/// Bytes of a member's name or value that are kept: every letter of the longest word of interest may be an escape.
const TOKEN: usize = 96;

/// Reads the pieces of one JSON-RPC response. What is no JSON is nobody's question.
#[derive(Debug, Default)]
pub(super) struct ResultType {
    depth: usize,
    /// Inside of a string, and whether behind a backslash.
    string: Option<bool>,
    /// The newest string outside of anything nested.
    token: Vec<u8>,
    /// Which member the value at hand is that of.
    member: Option<Member>,
    /// Whether the members at hand are those of `result`.
    in_result: bool,
    /// Whether the result says to ask for input. A member that comes twice counts by the one that asks.
    asks: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Result,
    ResultType,
}

impl ResultType {
    /// Whether the result asks for input.
    pub(super) fn asks(&self) -> bool {
        self.asks == Some(true)
    }

    /// Whether it has not yet said what it is.
    pub(super) fn is_unknown(&self) -> bool {
        self.asks.is_none()
    }

    /// Reads the next piece.
    pub(super) fn read(&mut self, mut bytes: &[u8]) {
        loop {
            bytes = if self.string.is_some() { self.in_string(bytes) } else { self.outside(bytes) };
            if bytes.is_empty() {
                return;
            }
        }
    }

    /// Up to the end of the string; gives the rest.
    fn in_string<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some((first, rest)) = bytes.split_first() else { return bytes };
        if self.string == Some(true) {
            self.keep(&[*first]);
            self.string = Some(false);
            return rest;
        }
        let Some(at) = memchr2(b'"', b'\\', bytes) else {
            self.keep(bytes);
            return &[];
        };
        let (kept, rest) = bytes.split_at(at);
        self.keep(kept);
        if rest.starts_with(b"\\") {
            self.keep(b"\\");
            self.string = Some(true);
        } else {
            self.string = None;
            if self.depth == 2 && self.member == Some(Member::ResultType) {
                let asks = self.token_is("input_required");
                self.asks = Some(self.asks() || asks);
            }
        }
        rest.get(1..).unwrap_or_default()
    }

    /// Up to the beginning of a string; gives what is inside of it.
    fn outside<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => {
                    self.token.clear();
                    self.string = Some(false);
                    return bytes.get(at + 1..).unwrap_or_default();
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    if self.depth == 2 {
                        self.in_result = self.member == Some(Member::Result) && *byte == b'{';
                    }
                    self.member = None;
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.member = None;
                }
                b':' if self.depth == 1 && self.token_is("result") => {
                    self.member = Some(Member::Result);
                }
                b':' if self.depth == 2 && self.in_result && self.token_is("resultType") => {
                    self.member = Some(Member::ResultType);
                }
                b',' => self.member = None,
                _ => {}
            }
        }
        &[]
    }

    fn keep(&mut self, bytes: &[u8]) {
        // One byte more than fits makes it no word of interest.
        let room = (TOKEN + 1).saturating_sub(self.token.len());
        if self.depth <= 2 {
            self.token.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        }
    }

    fn token_is(&self, word: &str) -> bool {
        if !self.token.contains(&b'\\') {
            return self.token == word.as_bytes();
        }
        let text = std::str::from_utf8(&self.token).ok().filter(|text| text.len() <= TOKEN);
        let text = text.map(|text| format!("\"{text}\""));
        text.is_some_and(|text| string(&text).is_some_and(|text| text == word))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pipeline::translate::input::Required;
    use crate::protocol::Message;

    fn asks(text: &str, piece: usize) -> bool {
        let mut kind = ResultType::default();
        for piece in text.as_bytes().chunks(piece) {
            kind.read(piece);
        }
        kind.asks()
    }

    /// A JSON value with the words of interest at every place.
    fn value() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just(r#""result""#),
            Just(r#""resultType""#),
            Just(r#""result\u0054ype""#),
            Just(r#""input_required""#),
            Just(r#""input\u005frequired""#),
            Just(r#""complete""#),
            Just(r#""a\"b\\""#),
        ];
        let leaf = prop_oneof![word.clone().prop_map(str::to_owned), Just("1.0".to_owned())];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            let members = prop::collection::vec((word.clone(), inner.clone()), 0..4);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(" ,"))),
                members.prop_map(|all| {
                    let mut seen = std::collections::HashSet::new();
                    let all = all.into_iter().filter(|(key, _)| seen.insert(string(key).unwrap()));
                    let all: Vec<_> = all.map(|(key, value)| format!("{key} : {value}")).collect();
                    format!("{{{}}}", all.join(", "))
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pieces_say_what_the_whole_says(value in value(), piece in 1usize..9) {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"x":{value},"result":{value}}}"#);
            if let Ok(message) = Message::parse(text.clone().into()) {
                let whole = !matches!(Required::read(&message), Ok(None));
                prop_assert_eq!(asks(&text, piece), whole, "{}", text);
            }
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1usize..9) {
            let mut kind = ResultType::default();
            for piece in bytes.chunks(piece) {
                kind.read(piece);
            }
        }
    }

    #[test]
    fn the_one_that_asks_counts() {
        for (text, want) in [
            (r#"{"result":{"resultType":"input_required","resultType":"complete"}}"#, true),
            (
                r#"{"result":{"resultType":"complete"},"result":{"resultType":"input_required"}}"#,
                true,
            ),
            (r#"{"result":[{"resultType":"input_required"}]}"#, false),
            (r#"{"result":{"a":"resultType","b":"input_required"}}"#, false),
            (r#"{"params":{"resultType":"input_required"}}"#, false),
        ] {
            assert_eq!(asks(text, 3), want, "{text}");
        }
    }
}
