//! Arguments as they may stand in a line, where the operator wants them there at all: what looks like a secret by its name,
//! or like a credential by its beginning, is not shown, and long texts are cut.

use serde_json::Value;

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

/// How credentials begin.
const BEGINNINGS: [&str; 9] =
    ["bearer ", "basic ", "-----begin", "ghp_", "github_pat_", "sk-", "xoxb-", "akia", "eyj"];

/// JSON text of the arguments; none where they are no JSON, or longer than may stand in a line.
pub(super) fn redacted(arguments: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(arguments).ok()?;
    hide(&mut value);
    let text = value.to_string();
    (text.len() <= WHOLE).then_some(text)
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
            let begin: String = text.trim_start().chars().take(16).collect();
            let begin = begin.to_ascii_lowercase();
            if BEGINNINGS.iter().any(|known| begin.starts_with(known)) {
                HIDDEN.clone_into(text);
            } else if let Some((at, _)) = text.char_indices().nth(TEXT) {
                text.truncate(at);
                text.push('…');
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.'));
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    NAMES.iter().any(|known| plain.contains(known)) || plain == "auth" || plain == "pwd"
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
}
