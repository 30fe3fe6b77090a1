//! Tells a result from an error while the bytes of a response pass: `isError` of the result, or the code of the error. Looks
//! at the two outer objects only; texts are skipped as fast as they can be.

use crate::pipeline::port::CallEnd;

/// The longest name or number that matters.
const WORD: usize = 16;

/// A response as far as it was seen. What is no response counts as a result.
#[derive(Debug, Default)]
pub(super) struct Sniff {
    depth: u32,
    /// Where within a text the reading is.
    text: Text,
    /// The letters of the last name or value at a place that matters.
    word: Vec<u8>,
    /// Whether a value is being read, not a name.
    value: bool,
    outer: Place,
    inner: Place,
    is_error: bool,
    whole: bool,
    code: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Inside,
    /// Behind a backslash.
    Escaped,
    /// Within the four digits of a character: how many of them are to come, and what the others say.
    Digits(u8, u16),
}

/// Which member of an object is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Other,
    Result,
    Error,
    IsError,
    Code,
}

impl Sniff {
    /// More of it.
    pub(super) fn see(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            match self.text {
                Text::Escaped => self.escaped(byte),
                Text::Digits(left, before) => self.digit(byte, left, before),
                Text::Inside => {
                    let end = memchr::memchr2(b'"', b'\\', bytes);
                    let (within, behind) = bytes.split_at(end.unwrap_or(bytes.len()));
                    within.iter().take(WORD).for_each(|byte| self.keep(*byte));
                    let Some((mark, behind)) = behind.split_first() else { return };
                    self.text = if *mark == b'"' { Text::Outside } else { Text::Escaped };
                    bytes = behind;
                    continue;
                }
                Text::Outside => self.outside(byte),
            }
            bytes = rest;
        }
    }

    /// A name is the same one however its letters are written (RFC 8259, section 7).
    fn escaped(&mut self, byte: u8) {
        self.text = Text::Inside;
        match byte {
            b'u' => self.text = Text::Digits(4, 0),
            b'"' | b'\\' | b'/' => self.keep(byte),
            // A control, which stands in no name that matters.
            _ => self.keep(0),
        }
    }

    fn digit(&mut self, byte: u8, left: u8, before: u16) {
        let digit = char::from(byte).to_digit(16).and_then(|digit| u16::try_from(digit).ok());
        let so_far = before << 4 | digit.unwrap_or_default();
        if left > 1 {
            self.text = Text::Digits(left - 1, so_far);
        } else {
            self.text = Text::Inside;
            // What is no letter of ASCII stands in no name that matters.
            self.keep(u8::try_from(so_far).ok().filter(u8::is_ascii).unwrap_or_default());
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth <= 2 && self.word.len() < WORD {
            self.word.push(byte);
        }
    }

    fn outside(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.text = Text::Inside;
                self.word.clear();
            }
            b':' => {
                let word = std::mem::take(&mut self.word);
                match self.depth {
                    1 => {
                        self.outer = match word.as_slice() {
                            b"result" => Place::Result,
                            b"error" => Place::Error,
                            _ => Place::Other,
                        }
                    }
                    2 => {
                        self.inner = match (self.outer, word.as_slice()) {
                            (Place::Result, b"isError") => Place::IsError,
                            (Place::Error, b"code") => Place::Code,
                            _ => Place::Other,
                        }
                    }
                    _ => {}
                }
                self.value = true;
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.begin();
            }
            b'}' | b']' => {
                self.value_ends();
                self.depth = self.depth.saturating_sub(1);
                self.whole |= self.depth == 0;
                self.begin();
            }
            b',' => {
                self.value_ends();
                self.begin();
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            letter => self.keep(letter),
        }
    }

    fn begin(&mut self) {
        self.word.clear();
        self.value = false;
        if self.depth == 2 {
            self.inner = Place::Other;
        }
    }

    fn value_ends(&mut self) {
        if self.depth != 2 || !self.value {
            return;
        }
        match self.inner {
            Place::IsError => self.is_error = self.word == b"true",
            Place::Code => {
                self.code = std::str::from_utf8(&self.word).ok().and_then(|word| word.parse().ok());
            }
            _ => {}
        }
    }

    /// Whether all of it was seen.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// What it was.
    pub(super) fn end(&self) -> CallEnd {
        match self.code {
            Some(code) => CallEnd::RpcError(code),
            None if self.is_error => CallEnd::ToolError,
            None => CallEnd::Ok,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;

    const CASES: [(&str, CallEnd); 13] = [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#, CallEnd::Ok),
        (r#"{"id":1,"result":{"content":[],"isError":true}}"#, CallEnd::ToolError),
        (r#"{"id":1,"result":{"isError" : true , "content":[]}}"#, CallEnd::ToolError),
        (r#"{"id":1,"result":{"isError":false,"x":{"isError":true}}}"#, CallEnd::Ok),
        (r#"{"id":1,"result":{"x":[{"isError":true}],"y":"\"isError\":true"}}"#, CallEnd::Ok),
        (r#"{"id":"{","result":{"a\\":"}","isError":true}}"#, CallEnd::ToolError),
        (r#"{"error":{"code":-32601,"message":"x"},"id":1}"#, CallEnd::RpcError(-32_601)),
        (
            r#"{"error":{"message":"code","data":{"code":5},"code": -1},"id":1}"#,
            CallEnd::RpcError(-1),
        ),
        (r#"{"x":{"code":5,"isError":true},"result":{}}"#, CallEnd::Ok),
        (r#"{"result":{"isError":"true"},"id":1}"#, CallEnd::ToolError),
        (r#"{"res\u0075lt":{"is\u0045rror":true},"id":1}"#, CallEnd::ToolError),
        (r#"{"error":{"\u0063\u006fd\u0065":7},"id":1}"#, CallEnd::RpcError(7)),
        (r#"{"result":{"isEr\ror":true,"is\u0145rror":true},"id":1}"#, CallEnd::Ok),
    ];

    proptest! {
        #[test]
        fn whatever_the_pieces(size in 1_usize..9, case in 0_usize..CASES.len()) {
            let (text, expected) = CASES[case];
            let mut sniff = Sniff::default();
            text.as_bytes().chunks(size).for_each(|piece| {
                assert!(!sniff.is_whole(), "{text}");
                sniff.see(piece);
            });
            assert!(sniff.is_whole());
            assert_eq!(sniff.end(), expected, "{text}");
        }

        #[test]
        fn no_text_in_a_result_is_taken_for_an_error(text in any::<String>(), size in 1_usize..20) {
            let text = serde_json::Value::from(text);
            let response = format!(r#"{{"id":1,"result":{{"content":[{{"text":{text}}}],"k":{text}}}}}"#);
            let mut sniff = Sniff::default();
            response.as_bytes().chunks(size).for_each(|piece| sniff.see(piece));
            assert_eq!(sniff.end(), CallEnd::Ok);
        }
    }
}
