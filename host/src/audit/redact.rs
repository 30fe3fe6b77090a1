//! Arguments as they may stand in a line, where the operator wants them there at all: what looks like a secret by its name,
//! or has something in it that looks like a credential, is not shown, and long texts are cut.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Characters of one text of the arguments.
pub(super) const TEXT: usize = 256;
/// Bytes of the arguments in a line; what is longer is left out, and its length told.
pub(super) const WHOLE: usize = 8 * 1024;

const HIDDEN: &str = "[redacted]";

/// What stands in the names of members that hold secrets, without `_`, `-` and capitals.
const NAMES: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "authorization",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "credential",
    "cookie",
    "sessionid",
    "connectionstring",
];

/// Names of members that hold secrets where they are all of the name.
const WHOLE_NAMES: [&str; 8] = ["auth", "pwd", "pass", "pw", "key", "pin", "otp", "sig"];

/// How credentials begin, in small letters.
const BEGINNINGS: [&str; 26] = [
    "bearer ",
    "basic ",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxr-",
    "xoxs-",
    "xapp-",
    "akia",
    "eyj",
    "npm_",
    "pypi-",
    "hf_",
    "ya29.",
];

/// The beginning of a key in a file, wherever it stands.
const KEY_FILE: &str = "-----begin";

/// Letters of a credential behind its beginning, where it stands in the middle of a text; fewer are taken for prose.
const LETTERS: usize = 4;

/// JSON text of the arguments; none where they are no JSON, name a member twice (nobody knows which of them a server takes), or
/// are longer than may stand in a line.
pub(super) fn redacted(arguments: &str) -> Option<String> {
    let mut reader = serde_json::Deserializer::from_str(arguments);
    let mut value = Once.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    hide(&mut value);
    let text = value.to_string();
    (text.len() <= WHOLE).then_some(text)
}

/// Reads a value in which no object has two members of one name.
struct Once;

impl<'de> DeserializeSeed<'de> for Once {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Once {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(Self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            if members.insert(name, from.next_value_seed(Self)?).is_some() {
                return Err(A::Error::custom("a name stands twice"));
            }
        }
        Ok(Value::Object(members))
    }
}

fn hide(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if is_secret(name) && !member.is_null() {
                    *member = HIDDEN.into();
                } else {
                    hide(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::String(text) => {
            if holds_secret(text) {
                HIDDEN.clone_into(text);
            } else if let Some((at, _)) = text.char_indices().nth(TEXT) {
                text.truncate(at);
                text.push('…');
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether something in a text looks like a credential: it begins as one does, is assigned to a name as secrets have, or is the
/// user of a URI.
fn holds_secret(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    let begin = small.trim_start();
    begin.contains(KEY_FILE)
        || BEGINNINGS.iter().any(|known| begin.starts_with(known) || stands_in(&small, known))
        || has_user(&small)
        || is_assigned(&small)
}

/// Whether a credential with this beginning stands in the middle of a text.
fn stands_in(text: &str, beginning: &str) -> bool {
    text.match_indices(beginning).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let behind = text.get(at + beginning.len()..).unwrap_or_default();
        let letters = behind.bytes().take_while(|byte| is_letter(*byte)).count();
        before.is_none_or(|letter| !letter.is_alphanumeric()) && letters >= LETTERS
    })
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(&byte)
}

/// Whether there is a URI with a user (`scheme://user:password@host`).
fn has_user(text: &str) -> bool {
    text.match_indices("//").any(|(at, _)| {
        let rest = text.get(at + 2..).unwrap_or_default();
        let ends =
            |letter: char| matches!(letter, '/' | '?' | '#' | '"' | '\'') || letter.is_whitespace();
        rest.split(ends).next().is_some_and(|authority| authority.contains('@'))
    })
}

/// Whether something is assigned to a name as secrets have: a parameter of a URI, a field of a form, a variable, a header.
fn is_assigned(text: &str) -> bool {
    text.match_indices(['=', ':']).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '"', '\'']);
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        let name = before.trim_end_matches(is_part);
        let name = before.get(name.len()..).unwrap_or_default();
        let behind = text.get(at + 1..).unwrap_or_default();
        let is_sure = text.get(at..).is_some_and(|sign| sign.starts_with('='));
        // `key: ..` in prose is no secret, `key=..` is one.
        let secret = if is_sure { is_secret(name) } else { holds_name(&letters(name)) };
        secret && !behind.trim_start().is_empty()
    })
}

fn is_secret(name: &str) -> bool {
    let plain = letters(name);
    holds_name(&plain) || WHOLE_NAMES.contains(&plain.as_str())
}

fn holds_name(plain: &str) -> bool {
    NAMES.iter().any(|known| plain.contains(known))
}

fn letters(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.'));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_by_name_and_by_beginning_and_long_texts_cut() {
        let long = "x".repeat(TEXT + 1);
        let cut = format!("{}…", "x".repeat(TEXT));
        for (arguments, expected) in [
            (r#"{"city":"Oslo","n":1.5,"b":true}"#.to_owned(), r#"{"city":"Oslo","n":1.5,"b":true}"#.to_owned()),
            (
                r#"{"API-Key":"a","user":{"db_Password":5,"access_token":null}}"#.to_owned(),
                r#"{"API-Key":"[redacted]","user":{"db_Password":"[redacted]","access_token":null}}"#.to_owned(),
            ),
            (r#"{"x":["Bearer abc","-----BEGIN KEY"]}"#.to_owned(), r#"{"x":["[redacted]","[redacted]"]}"#.to_owned()),
            (r#"{"secrets":{"a":"b"}}"#.to_owned(), r#"{"secrets":"[redacted]"}"#.to_owned()),
            (format!(r#"{{"t":"{long}"}}"#), format!(r#"{{"t":"{cut}"}}"#)),
        ] {
            let shown: Value = serde_json::from_str(&redacted(&arguments).unwrap()).unwrap();
            assert_eq!(shown, serde_json::from_str::<Value>(&expected).unwrap());
        }
        let many: Vec<String> = (0..100).map(|_| "y".repeat(TEXT)).collect();
        assert_eq!(redacted(&serde_json::to_string(&many).unwrap()), None);
    }

    #[test]
    fn credentials_in_the_middle_of_a_text_are_hidden() {
        for text in [
            "glpat-aaaaaaaaaaaaaaaaaaaa",
            "use sk_live_abcdabcdabcd, please",
            "postgres://u:PASSW@h/db",
            "//u:PASSW@h/db",
            "curl -H 'Authorization: Bearer SEKRET'",
            "xoxp-1-2-3",
            "gho_aaaa",
            "https://h/?a=b&api_key=SEKRET",
            "https://h/?key=SEKRET",
            "DB_PASSWORD=SEKRET",
            r#"{"client_secret": "SEKRET"}"#,
            "x\n-----BEGIN KEY",
        ] {
            let shown = redacted(&serde_json::json!([text]).to_string()).unwrap();
            assert_eq!(shown, r#"["[redacted]"]"#, "{text}");
        }
        for text in [
            "the bearer of news",
            "a task-list",
            "mail ann@example.org",
            "https://h/@ann?page=2",
            "key: C minor",
            "1 + 1 = 2",
        ] {
            let plain = serde_json::json!([text]).to_string();
            assert_eq!(redacted(&plain).unwrap(), plain);
        }
        let members = r#"{"key":"a","pin":1,"keyboard":"qwerty"}"#;
        let shown = redacted(members).unwrap();
        assert_eq!(shown, r#"{"key":"[redacted]","pin":"[redacted]","keyboard":"qwerty"}"#);
    }

    #[test]
    fn members_that_stand_twice_are_not_shown() {
        for arguments in [r#"{"a":1,"a":2}"#, r#"[{"b":{"a":1,"\u0061":2}}]"#, "{} x", "{"] {
            assert_eq!(redacted(arguments), None, "{arguments}");
        }
        let all = r#"{"a":[true,null,-1,1.5,"x",18446744073709551615]}"#;
        assert_eq!(redacted(all).as_deref(), Some(all));
    }
}
