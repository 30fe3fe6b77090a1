//! From the operator's configuration to a plugin's own type.

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A configuration that a plugin does not accept: where, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadConfig {
    path: String,
    message: String,
}

impl BadConfig {
    /// `path` as the operator would write it: `limits.per_minute`, `rules[2].names`; empty for the whole.
    pub fn at(path: impl Into<String>, message: impl fmt::Display) -> Self {
        Self { path: path.into(), message: message.to_string() }
    }

    /// Where the fault is.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for BadConfig {}

/// For plugins without configuration: any key is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}

/// Reads a JSON text into a typed configuration; nothing and `null` (a `config:` left empty) count as an empty object.
pub fn parse<C: DeserializeOwned>(text: &str) -> Result<C, BadConfig> {
    let text = if matches!(text.trim(), "" | "null") { "{}" } else { text };
    let mut reader = serde_json::Deserializer::from_str(text);
    let config = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        BadConfig::at(path, without_place(&error.inner().to_string()))
    })?;
    reader.end().map_err(|error| BadConfig::at("", error))?;
    Ok(config)
}

/// The host writes the JSON itself: its lines and columns mean nothing to an operator.
fn without_place(message: &str) -> &str {
    message.rsplit_once(" at line ").map_or(message, |(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(default)]
        rules: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        rate: u32,
    }

    #[test]
    fn empty_text_is_an_empty_object() {
        assert!(parse::<Outer>("").is_ok_and(|outer| outer.rules.is_empty()));
        assert_eq!(parse::<NoConfig>(" {} "), Ok(NoConfig {}));
        assert_eq!(parse::<NoConfig>("null"), Ok(NoConfig {}));
    }

    #[test]
    fn an_error_names_the_path_of_the_key() {
        let error = parse::<Outer>(r#"{"rules": [{"rate": 1}, {"rate": "x"}]}"#).unwrap_err();
        assert_eq!(error.to_string(), "rules[1].rate: invalid type: string \"x\", expected u32");
        assert_eq!(parse::<Outer>(r#"{"rules": [{"rate": 7}]}"#).unwrap().rules[0].rate, 7);
    }

    #[test]
    fn an_unknown_key_is_refused_by_name() {
        let error = parse::<Outer>(r#"{"rules": [{"rate": 1, "rat": 2}]}"#).unwrap_err();
        assert_eq!(error.path(), "rules[0].rat");
        assert!(error.to_string().contains("unknown field `rat`"), "{error}");
        assert!(parse::<NoConfig>(r#"{"a": 1}"#).is_err());
    }
}
