//! What is wrong with a configuration, as sentences with a place and a hint.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use super::key::KeyPath;

/// A line and a column, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
}

/// One thing that is wrong, or that deserves a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key it is about; the top for the file as a whole.
    pub key: KeyPath,
    /// Where the key stands in the file, if it stands there.
    pub place: Option<Place>,
    /// One sentence.
    pub sentence: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem with a key.
    pub fn new(key: KeyPath, sentence: impl Into<String>) -> Self {
        Self { key, place: None, sentence: sentence.into(), hint: None }
    }

    /// A problem that is not about one key.
    pub fn general(sentence: impl Into<String>) -> Self {
        Self::new(KeyPath::top(), sentence)
    }

    /// Moves the problem, whose key is relative, below another key.
    #[must_use]
    pub(super) fn under(mut self, key: &KeyPath) -> Self {
        self.key = self.key.inside(key);
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Writes `file:line:column: key: sentence`, and the hint on a line of its own.
    fn write(&self, f: &mut fmt::Formatter<'_>, word: &str, file: Option<&Path>) -> fmt::Result {
        write!(f, "{word}: ")?;
        if let Some(file) = file {
            write!(f, "{}", file.display())?;
            if let Some(place) = self.place {
                write!(f, ":{}:{}", place.line, place.column)?;
            }
            f.write_str(": ")?;
        }
        if !self.key.is_top() {
            write!(f, "`{}` ", self.key)?;
        }
        f.write_str(&self.sentence)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong with a configuration: never empty as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// The file they were found in; none when there is no file.
    pub file: Option<PathBuf>,
    /// In the order of the file where the place is known, then in the order of the checks.
    pub list: Vec<Problem>,
}

impl Problems {
    /// One problem without a file.
    pub fn one(problem: Problem) -> Self {
        Self { file: None, list: vec![problem] }
    }

    /// Writes them with another first word than `error`.
    pub fn as_warnings(&self) -> impl fmt::Display + '_ {
        Worded { word: "warning", problems: self }
    }
}

struct Worded<'a> {
    word: &'static str,
    problems: &'a Problems,
}

impl fmt::Display for Worded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.write(f, self.word, self.problems.file.as_deref())?;
        }
        Ok(())
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Worded { word: "error", problems: self }.fmt(f)
    }
}

impl Error for Problems {}
