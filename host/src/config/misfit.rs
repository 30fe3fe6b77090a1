//! Why a value does not fit, in words of a configuration file rather than of a programming language.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::config::key::KeyPath;
use crate::config::nearest::nearest;
use crate::config::problem::Problem;

/// A value that does not fit.
#[derive(Debug)]
pub(super) struct Misfit {
    /// The innermost value that does not fit; set while the error travels outward.
    pub(super) path: Option<KeyPath>,
    sentence: String,
    hint: Option<String>,
}

impl Misfit {
    pub(super) fn sentence(sentence: impl Into<String>) -> Self {
        Self { path: None, sentence: sentence.into(), hint: None }
    }

    /// Notes where it happened, unless something further inside did already.
    pub(super) fn at(mut self, path: KeyPath) -> Self {
        self.path.get_or_insert(path);
        self
    }

    pub(super) fn into_problem(self) -> Problem {
        let mut problem = Problem::new(self.path.unwrap_or_default(), self.sentence);
        problem.hint = self.hint;
        problem
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Misfit {}

impl de::Error for Misfit {
    /// A custom message is a whole sentence of ours, with a hint after a line break.
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        match message.split_once('\n') {
            Some((sentence, hint)) => {
                Self { path: None, sentence: sentence.to_owned(), hint: Some(hint.to_owned()) }
            }
            None => Self::sentence(message),
        }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let mut misfit =
            Self::sentence(format!("must be {}, not {}", wanted(expected), given(found)));
        if expected.to_string() == "a string"
            && matches!(found, Unexpected::Bool(_) | Unexpected::Float(_) | Unexpected::Unsigned(_))
        {
            misfit.hint = Some("put the value in quotes".to_owned());
        }
        misfit
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        let mut misfit =
            Self::sentence(format!("is `{word}`, but can only be {}", known.join(" or ")));
        misfit.hint =
            nearest(word, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        misfit
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::sentence(format!("has the key `{field}` twice"))
    }
}

/// What serde expects, in plain words.
fn wanted(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "a string" => "text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a set of keys".to_owned(),
        "u8" => "a whole number from 0 to 255".to_owned(),
        "u16" => "a whole number from 0 to 65535".to_owned(),
        "u32" | "u64" | "usize" => "a whole number that is not negative".to_owned(),
        _ => text,
    }
}

/// What was found, in plain words.
fn given(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("the number {value}"),
        Unexpected::Signed(value) => format!("the number {value}"),
        Unexpected::Float(value) => format!("the number {value}"),
        Unexpected::Str(value) => format!("the text `{value}`"),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a set of keys".to_owned(),
        other => other.to_string(),
    }
}
