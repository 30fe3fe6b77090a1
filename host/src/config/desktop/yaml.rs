//! Text of YAML: as little of it as an import needs.

/// Lines with indentation.
#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
}

impl Writer {
    /// A comment on a line of its own.
    pub(super) fn comment(&mut self, depth: usize, text: &str) {
        self.line(depth, &format!("# {}", one_line(text)));
    }

    /// A line as it is.
    pub(super) fn line(&mut self, depth: usize, line: &str) {
        self.text.extend(std::iter::repeat_n("  ", depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// `key: value`.
    pub(super) fn text(&mut self, depth: usize, key: &str, value: &str) {
        self.line(depth, &format!("{}: {}", scalar(key), scalar(value)));
    }

    /// `key: [value, ..]`.
    pub(super) fn list(&mut self, depth: usize, key: &str, values: &[&str]) {
        let values: Vec<_> = values.iter().map(|value| scalar(value)).collect();
        self.line(depth, &format!("{key}: [{}]", values.join(", ")));
    }

    /// Everything.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// A text as it may stand anywhere: plain where nobody can take it for something else, else as in JSON.
fn scalar(text: &str) -> String {
    let starts = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./@".contains(&byte);
    // Addresses and references hold a colon, but none that a space follows.
    let is_address = text.contains("://") && text.bytes().all(|byte| plain(byte) || byte == b':');
    let word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = word.iter().any(|word| text.eq_ignore_ascii_case(word));
    if starts && !is_word && (text.bytes().all(plain) || is_address) && !text.ends_with(':') {
        return text.to_owned();
    }
    let quoted = serde_json::Value::from(text).to_string();
    quoted.chars().map(escaped).collect()
}

/// Characters that JSON leaves as they are and YAML does not print.
fn escaped(character: char) -> String {
    match character {
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
            format!("\\u{:04x}", u32::from(character))
        }
        _ => character.to_string(),
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::{Writer, scalar};
    use crate::config::tree::{Node, Value};

    #[rustfmt::skip]
    const TEXTS: &[&str] = &[
        "npx", "-y", "no", "Yes", "1.5", "007", "0x1F", "~", "null", "", " a", "a ", "a: b",
        "a #b", "#a", "@scope/name", "file://s#a.b", "env://NAME", "http://127.0.0.1:1/mcp",
        "a:", "*a", "&a", "!a", "{a}", "[a]", "a,b", "\"", "'", "\\", "é", "a\nb", "\u{7f}",
        "1:30", "a://b:", "/home/me/x", "%a", "`a`", ">", "|", "- a", "? a", "2026-01-01",
        "\u{1}", "\u{85}", "\u{2028}", "\u{feff}",
    ];

    #[test]
    fn what_is_written_is_read_again() {
        for text in TEXTS {
            let mut writer = Writer::default();
            writer.text(0, "key", text);
            writer.list(0, "list", &[text]);
            let written = writer.finish();
            let node =
                Node::parse(&written).unwrap_or_else(|problem| panic!("{text:?} {problem:?}"));
            assert_eq!(
                node.value_of("key").unwrap().value,
                Value::Text((*text).to_owned()),
                "{written}"
            );
            let Value::List(items) = &node.value_of("list").unwrap().value else { panic!("list") };
            assert_eq!(items[0].node.value, Value::Text((*text).to_owned()), "{written}");
        }
        assert_eq!(scalar("http://127.0.0.1:1/mcp"), "http://127.0.0.1:1/mcp");
    }
}
