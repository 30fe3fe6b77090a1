//! The reference of the configuration: a table for each set of keys.

use std::collections::VecDeque;
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::config::file::NOT_YET;

const HEAD: &str = "\
<!-- Made by `plugway schema --format markdown > docs/config.md`; a test tells when it is not current. The texts are the
     comments in host/src/config/file. -->

# Configuration

A configuration is one file of YAML, of which JSON is a part. `name` and `upstreams` are enough:

```yaml
name: hub
upstreams:
  - {name: clock, url: \"http://127.0.0.1:3000/mcp\"}
```

- `plugway check FILE` explains what a file would run, or says everything that is wrong with it at once, with line, column
  and the key that was probably meant. `plugway serve FILE` serves it.
- Unknown keys are refused, and so are keys that do nothing yet.
- Where to listen is decided by `--listen`, then `CONNECTOR_HOST` and `CONNECTOR_PORT`, then `MCP_SERVER_HOST` and
  `MCP_SERVER_PORT`, then `HOST` and `PORT`, then the file.
- `MCP_ENABLED_TOOLS`, `MCP_DISABLED_TOOLS`, `MCP_ENABLED_TAGS` and `MCP_DISABLED_TAGS` give every connector the policy `visibility`,
  for which they hold besides what the file says ([visibility.md](visibility.md)).
- While plugway serves, a file that changed, or SIGHUP, puts what is valid in place: sessions, calls and servers whose
  entries are the same stay. An invalid file changes nothing, and is named in the log and in `/ready`.
- Relative paths start at the folder of the file.
- Secrets are written as references, see [secret](#secret). Nothing that plugway prints or logs shows one.
- Editors: `plugway schema` prints the JSON Schema, which is also in `schema/plugway.json`; a first line
  `# yaml-language-server: $schema=PATH` makes most editors use it.
- A file of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf or Cline is served as it is with
  `plugway serve --mcp-servers FILE`, and made a configuration by `plugway import FILE`.
- [examples/router/plugway.yaml](../examples/router/plugway.yaml) shows most keys in their place.
";

/// The reference, made of the schema.
pub fn markdown(schema: &Value) -> String {
    let mut page = Page { schema, text: HEAD.to_owned(), queue: VecDeque::new(), seen: Vec::new() };
    page.section("The whole file", schema);
    while let Some(name) = page.queue.pop_front() {
        if let Some(definition) = schema.pointer(&format!("/$defs/{name}")) {
            page.section(&name, definition);
        }
    }
    page.not_yet();
    page.text
}

struct Page<'a> {
    schema: &'a Value,
    text: String,
    /// Definitions that were named and have no section yet.
    queue: VecDeque<String>,
    seen: Vec<String>,
}

impl Page<'_> {
    /// A heading, a description and a table.
    fn section(&mut self, title: &str, schema: &Value) {
        self.line(&format!("\n## {title}\n"));
        self.line(description(schema));
        let parts = match schema.get("anyOf").and_then(Value::as_array) {
            Some(parts) => parts.clone(),
            None => vec![schema.clone()],
        };
        for part in &parts {
            if parts.len() > 1 {
                self.part(part);
            }
            self.keys(part);
        }
    }

    /// One of several forms.
    fn part(&mut self, part: &Value) {
        let form = self.form(part);
        match description(part) {
            "" => self.line(&format!("\n- {form}")),
            text => self.line(&format!("\n- {form}: {text}")),
        }
    }

    fn keys(&mut self, schema: &Value) {
        let entries = schema.get("additionalProperties").filter(|entries| entries.is_object());
        let Some(keys) = [Some(schema), entries].into_iter().flatten().find_map(properties) else {
            return;
        };
        self.line("\n| key | form | meaning |\n|---|---|---|");
        for (key, value) in keys.clone() {
            let form = self.form(&value);
            let meaning = match description(&value) {
                "" => self.words(&value),
                text => text.to_owned(),
            };
            self.line(&format!("| `{key}` | {} | {} |", cell(&form), cell(&meaning)));
        }
    }

    /// What the definition behind a value says, and what each of its words means.
    fn words(&self, value: &Value) -> String {
        let Some((_, definition)) = self.definition(value) else { return String::new() };
        let mut text = description(definition).to_owned();
        for word in definition.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
            let name = word.get("const").and_then(Value::as_str).unwrap_or_default();
            // Writing to text cannot fail.
            let _always_fits = write!(text, " `{name}`: {}", description(word));
        }
        text
    }

    /// The form of a value in a word or two; sections of definitions are linked.
    fn form(&mut self, value: &Value) -> String {
        if let Some((name, definition)) = self.definition(value) {
            let words = words_of(definition);
            if !words.is_empty() {
                return words.join(", ");
            }
            if !self.seen.contains(&name) {
                self.seen.push(name.clone());
                self.queue.push_back(name.clone());
            }
            return format!("[{name}](#{name})");
        }
        let words = words_of(value);
        if !words.is_empty() {
            return words.join(", ");
        }
        let names: Vec<&str> = match value.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let forms: Vec<String> = names.iter().map(|name| self.named(name, value)).collect();
        if forms.is_empty() { "anything".to_owned() } else { forms.join(" or ") }
    }

    fn named(&mut self, name: &str, value: &Value) -> String {
        match name {
            "string" => "text".to_owned(),
            "integer" => "number".to_owned(),
            "boolean" => "true or false".to_owned(),
            "array" => match value.get("items") {
                Some(items) => format!("list of {}", self.form(items)),
                None => "list".to_owned(),
            },
            "object" => match value.get("additionalProperties") {
                Some(entries) if entries.is_object() && properties(entries).is_none() => {
                    format!("names, each with {}", self.form(entries))
                }
                _ => "set of keys".to_owned(),
            },
            other => other.to_owned(),
        }
    }

    fn definition(&self, value: &Value) -> Option<(String, &Value)> {
        let name = value.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        Some((name.to_owned(), self.schema.pointer(&format!("/$defs/{name}"))?))
    }

    /// Keys that are refused for now.
    fn not_yet(&mut self) {
        self.line("\n## Not yet\n");
        self.line("Keys with a place in the design that do nothing yet, and are refused:\n");
        self.line("| in | key | for now |\n|---|---|---|");
        for (owner, key, sentence) in NOT_YET {
            let owner = if *owner == "file" { "the whole file" } else { owner };
            self.line(&format!("| {owner} | `{key}` | {sentence} |"));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// The words that a value can be.
fn words_of(schema: &Value) -> Vec<String> {
    let constants = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let constants = constants.filter_map(|part| part.get("const"));
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    constants.chain(listed).filter_map(Value::as_str).map(|word| format!("`{word}`")).collect()
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
