//! References to secrets, and the only reader of the files they name.

use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::problem::Problem;
use super::secret::Secret;
use super::tree::{Node, Value};

/// Largest file of a secret.
const MAX_FILE: u64 = 64 << 10;

/// The secret that a reference of the command line names; relative paths start where plugway was started.
pub fn secret(text: &str, environment: &Environment) -> Result<Secret, Problem> {
    let Some(reference) = Reference::of(text) else {
        let sentence = "`--key` is no reference".to_owned();
        return Err(Problem::general(sentence).hint("write `env://NAME` or `file://PATH`"));
    };
    let resolved = reference.resolve(Path::new(""), environment);
    resolved.map(|resolved| resolved.secret).map_err(|unresolved| {
        Problem::general(format!("`--key` {}", unresolved.sentence)).hint(unresolved.hint)
    })
}

/// Where a secret is, as the operator wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference<'a> {
    /// `env://NAME`.
    Variable(&'a str),
    /// `file://PATH`, or `file://PATH#NAME` for one entry of a file that holds several.
    File(&'a str),
    /// `openbao://..`, which nobody reads yet.
    OpenBao,
}

/// What a reference stands for.
pub(super) struct Resolved {
    pub(super) secret: Secret,
    /// A sentence about the file, where others than its owner can read it.
    pub(super) warning: Option<String>,
}

/// Why a reference stands for nothing: a sentence that names the place, and what to do. The secret is in neither.
pub(super) struct Unresolved {
    pub(super) sentence: String,
    pub(super) hint: &'static str,
}

impl<'a> Reference<'a> {
    /// The reference in a text, if it is one.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        if let Some(name) = text.strip_prefix("env://") {
            return Some(Self::Variable(name));
        }
        if let Some(path) = text.strip_prefix("file://") {
            return Some(Self::File(path));
        }
        text.starts_with("openbao://").then_some(Self::OpenBao)
    }

    /// The file that is read for it, if it names one.
    pub(super) fn file(self, base: &Path) -> Option<PathBuf> {
        let Self::File(path) = self else { return None };
        let path = path.rsplit_once('#').map_or(path, |(path, _)| path);
        (!path.is_empty()).then(|| base.join(path))
    }

    /// Reads the secret; relative paths start at `base`.
    pub(super) fn resolve(
        self,
        base: &Path,
        environment: &Environment,
    ) -> Result<Resolved, Unresolved> {
        match self {
            Self::Variable(name) => variable(name, environment),
            Self::File(path) if path.is_empty() || path.contains('\0') => {
                refuse("names no file".to_owned(), "write `file://PATH`")
            }
            Self::File(path) => match path.rsplit_once('#') {
                Some((path, name)) => entry(&base.join(path), name),
                None => file(&base.join(path)),
            },
            Self::OpenBao => refuse(
                "refers to OpenBao, which does nothing yet".to_owned(),
                "write `env://NAME` or `file://PATH`",
            ),
        }
    }
}

fn refuse<T>(sentence: String, hint: &'static str) -> Result<T, Unresolved> {
    Err(Unresolved { sentence, hint })
}

fn variable(name: &str, environment: &Environment) -> Result<Resolved, Unresolved> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    // Whatever else stands there may be the secret itself.
    if name.is_empty() || !name.bytes().all(plain) {
        return refuse(
            "refers to a variable whose name is none".to_owned(),
            "write `env://NAME` with letters, digits and `_`",
        );
    }
    match environment.get(name) {
        Some(value) => Ok(Resolved { secret: Secret::new(value), warning: None }),
        None => refuse(
            format!("refers to the variable `{name}`, which is not set"),
            "set it where plugway is started",
        ),
    }
}

fn file(path: &Path) -> Result<Resolved, Unresolved> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| Unresolved {
        sentence: format!("refers to {shown}, which cannot be read: {error}"),
        hint: "write the secret into that file, readable for plugway alone",
    };
    // Asked first: opening a pipe would wait for somebody to write.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return refuse(
            format!("refers to {shown}, which is no regular file"),
            "name the file itself",
        );
    }
    #[expect(clippy::disallowed_methods, reason = "this is the one reader of files of secrets")]
    let opened = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    opened.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE {
        return refuse(format!("refers to {shown}, which is larger than 64 KiB"), "name the file");
    }
    // The error holds the bytes.
    let Ok(text) = String::from_utf8(bytes) else {
        return refuse(format!("refers to {shown}, which is not UTF-8"), "save it as UTF-8");
    };
    let text = without_line_end(&text);
    if text.is_empty() {
        return refuse(format!("refers to {shown}, which is empty"), "write the secret into it");
    }
    let warning = others_can_read(&metadata)
        .then(|| format!("refers to {shown}, which every user of this machine can read"));
    Ok(Resolved { secret: Secret::new(text), warning })
}

/// One entry of a file that is a map of names and texts, in YAML or JSON.
fn entry(path: &Path, name: &str) -> Result<Resolved, Unresolved> {
    let Resolved { secret, warning } = file(path)?;
    let shown = path.display();
    // The sentence of the parser may quote a secret.
    let Ok(tree) = Node::parse(secret.reveal()) else {
        let hint = "write `NAME: \"secret\"` on each line";
        return refuse(format!("refers to {shown}, which is neither YAML nor JSON"), hint);
    };
    let text = match tree.value_of(name).map(|node| &node.value) {
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Unsigned(number)) => number.to_string(),
        _ => {
            let sentence = format!("refers to {shown}, which has no text under `{name}`");
            return refuse(sentence, "write `NAME: \"secret\"` on each line");
        }
    };
    Ok(Resolved { secret: Secret::new(text), warning })
}

/// One line end, which editors and `echo` add, is not part of a secret.
fn without_line_end(text: &str) -> &str {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}

#[cfg(unix)]
fn others_can_read(metadata: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o004 != 0
}

#[cfg(not(unix))]
fn others_can_read(_: &Metadata) -> bool {
    false
}
