//! An argument of a tool that travels in a header, too (`Mcp-Param-*`; MCP 2026-07-28, "Value Encoding" and "Server
//! Behavior for Custom Headers").

use std::borrow::Cow;

use http::{HeaderName, HeaderValue};

use super::header::{decode, encode};
use super::message::string;
use super::scan::{self, ScanError, Scanner};

/// The largest integer that every language takes for what it is.
const SAFE: u64 = (1 << 53) - 1;

/// One parameter of a tool, and the header that repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirrored {
    header: HeaderName,
    path: Box<[Box<str>]>,
}

impl Mirrored {
    /// `path` are the names of the properties that lead to the parameter.
    pub(super) fn new<T: AsRef<str>>(header: HeaderName, path: &[T]) -> Self {
        Self { header, path: path.iter().map(|name| name.as_ref().into()).collect() }
    }

    /// The whole name of the header.
    pub fn header(&self) -> &HeaderName {
        &self.header
    }

    /// The path of the parameter, with dots.
    pub fn parameter(&self) -> String {
        self.path.join(".")
    }

    /// The header of a call with these arguments (JSON text); none where the parameter has no value, or one that no header
    /// can carry.
    pub fn value(&self, arguments: &str) -> Option<HeaderValue> {
        let text = match self.carried(arguments).ok()?? {
            Carried::Text(text) => return HeaderValue::from_str(&encode(&text)).ok(),
            Carried::Number(text) => {
                integer(text).map_or(text.into(), |number| Cow::Owned(number.to_string()))
            }
            Carried::Literal(text) => Cow::Borrowed(text),
        };
        HeaderValue::from_str(&text).ok()
    }

    /// Whether a call with these arguments (JSON text) may have this header: the same value, and none without a value.
    pub fn agrees(&self, arguments: &str, header: Option<&str>) -> bool {
        let carried = match self.carried(arguments) {
            Ok(carried) => carried,
            Err(Twice) => return false,
        };
        let (carried, header) = match (carried, header) {
            (None, header) => return header.is_none(),
            (Some(_), None) => return false,
            (Some(carried), Some(header)) => (carried, header),
        };
        let Some(said) = decode(header) else { return false };
        match carried {
            Carried::Text(text) => text == said,
            Carried::Literal(text) => text == said,
            Carried::Number(text) => {
                text == said || integer(text).is_some_and(|number| integer(&said) == Some(number))
            }
        }
    }

    fn carried<'a>(&self, arguments: &'a str) -> Result<Option<Carried<'a>>, Twice> {
        let mut value = arguments;
        for name in &self.path {
            let Some(inside) = child(value, name)? else { return Ok(None) };
            value = inside;
        }
        Ok(match value.as_bytes().first() {
            Some(b'"') => string(value).map(Carried::Text),
            Some(b't' | b'f') => Some(Carried::Literal(value)),
            Some(b'-' | b'0'..=b'9') => Some(Carried::Number(value)),
            _ => None,
        })
    }
}

/// A value that a header can carry.
enum Carried<'a> {
    Text(Cow<'a, str>),
    Number(&'a str),
    /// `true` or `false`.
    Literal(&'a str),
}

/// A member stands twice: readers would take different ones.
struct Twice;

/// The member of an object; none where there is no such member, or no object.
fn child<'a>(object: &'a str, name: &str) -> Result<Option<&'a str>, Twice> {
    let Ok(mut scanner) = Scanner::new(object) else { return Ok(None) };
    let (mut found, mut twice) = (None, false);
    let walked: Result<(), ScanError> = scanner.object(|scanner, key| {
        let value = scanner.value()?;
        if object.get(key.range()).and_then(string).is_some_and(|key| key == name) {
            twice |= found.replace(value).is_some();
        }
        Ok(())
    });
    if twice {
        return Err(Twice);
    }
    Ok(walked.ok().and(found).and_then(|span| object.get(span.range())))
}

/// The integer that a JSON number stands for, `42.0` included, where it is a safe one. Nobody writes integers with an
/// exponent: those are compared as text.
fn integer(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let zeros = !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0');
    let number = whole.bytes().last().is_some_and(|byte| byte.is_ascii_digit())
        && whole.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && scan::check(whole, 0).is_ok();
    let value: i64 = Some(whole).filter(|_| zeros && number)?.parse().ok()?;
    (value.unsigned_abs() <= SAFE).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::annotations::mirrored;

    fn parameter() -> Mirrored {
        let tool = r#"{"inputSchema":{"properties":{"o":{"properties":{"p":{"type":"string","x-mcp-header":"P"}}}}}}"#;
        mirrored(tool).unwrap()[0].clone()
    }

    fn arguments(value: &str) -> String {
        format!(r#"{{"q":[1],"o":{{"p":{value}}}}}"#)
    }

    #[test]
    fn what_is_sent_for_a_value_is_what_agrees_with_it() {
        for (value, header) in [
            (r#""us-west1""#, "us-west1"),
            (r#""us\u002dwest1""#, "us-west1"),
            (r#""Hello, 世界""#, "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (r#"" padded ""#, "=?base64?IHBhZGRlZCA=?="),
            (r#""line1\nline2""#, "=?base64?bGluZTEKbGluZTI=?="),
            (r#""=?base64?literal?=""#, "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("42", "42"),
            ("-7", "-7"),
            ("42.0", "42"),
            ("9007199254740993", "9007199254740993"),
            ("1e2", "1e2"),
            ("true", "true"),
            ("false", "false"),
        ] {
            let arguments = arguments(value);
            assert_eq!(parameter().value(&arguments).unwrap(), header, "{value}");
            assert!(parameter().agrees(&arguments, Some(header)), "{value}");
            assert!(!parameter().agrees(&arguments, None), "{value}");
            assert!(!parameter().agrees(&arguments, Some("other")), "{value}");
        }
    }

    #[test]
    fn a_parameter_without_a_value_has_no_header() {
        for none in ["null", "[1]", r#"{"a":1}"#] {
            assert_eq!(parameter().value(&arguments(none)), None);
            assert!(parameter().agrees(&arguments(none), None));
            assert!(!parameter().agrees(&arguments(none), Some("")));
        }
        for absent in ["{}", r#"{"o":{}}"#, r#"{"o":null}"#, r#"{"p":"x"}"#, "null", ""] {
            assert_eq!(parameter().value(absent), None);
            assert!(parameter().agrees(absent, None), "{absent}");
            assert!(!parameter().agrees(absent, Some("x")), "{absent}");
        }
    }

    #[test]
    fn a_header_is_decoded_and_a_number_compared_as_one() {
        for (value, header, agrees) in [
            (r#""Hello""#, "=?base64?SGVsbG8=?=", true),
            (r#""Hello""#, "=?base64?SGVsbG8?=", false),
            (r#""Hello""#, "=?base64?SGVs!!!bG8=?=", false),
            (r#""SGVsbG8=""#, "SGVsbG8=", true),
            (r#""=?base64?SGVsbG8=""#, "=?base64?SGVsbG8=", true),
            (r#""=?BASE64?SGVsbG8=?=""#, "=?BASE64?SGVsbG8=?=", true),
            (r#""""#, "", true),
            (r#""Hello""#, "hello", false),
            ("42", "42.0", true),
            ("42.00", "42", true),
            ("-0", "0", true),
            ("42", "42.", false),
            ("42", "+42", false),
            ("42", "042", false),
            ("42", " 42", false),
            ("42", "42.5", false),
            ("9007199254740993", "9007199254740992", false),
            ("9007199254740993", "9007199254740993.0", false),
            (r#""42""#, "42.0", false),
            ("true", "True", false),
            ("true", "1", false),
        ] {
            assert_eq!(
                parameter().agrees(&arguments(value), Some(header)),
                agrees,
                "{value} {header}"
            );
        }
        let twice = r#"{"o":{"p":"a","\u0070":"b"}}"#;
        assert_eq!(parameter().value(twice), None);
        assert!(["a", "b"].iter().all(|header| !parameter().agrees(twice, Some(header))));
        assert!(!parameter().agrees(twice, None));
    }
}
