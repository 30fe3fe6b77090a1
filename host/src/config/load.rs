//! The only reader of configuration files and of the environment.

use std::io::Read;
use std::path::Path;

use super::agora::rewrite;
use super::check::{Origin, PORT, check};
use super::desktop::is_desktop;
use super::environment::Environment;
use super::file::{ELSEWHERE, File, NOT_YET};
use super::problem::{Problem, Problems};
use super::read::{Words, read};
use super::settings::Settings;
use super::tree::Node;

/// Largest configuration file.
const MAX_FILE: u64 = 4 << 20;

/// What the command line says about the configuration.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--listen`.
    pub listen: Option<String>,
    /// `--accept-exposure`: the reason.
    pub accept_exposure: Option<String>,
}

impl Environment {
    /// The environment of this process; variables that are not Unicode are left out.
    pub fn of_process() -> Self {
        #[expect(clippy::disallowed_methods, reason = "this is the one reader of the environment")]
        let variables = std::env::vars_os();
        Self::of(variables.filter_map(|(name, value)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            // On Windows `Path` and `PATH` are one variable.
            Some((if cfg!(windows) { name.to_ascii_uppercase() } else { name }, value))
        }))
    }
}

/// Reads and checks a configuration file.
pub fn load(path: &Path, flags: &Flags, environment: &Environment) -> Result<Settings, Problems> {
    let text = read_file(path).map_err(Problems::one)?;
    parse(&text, path, flags, environment)
}

/// Checks the text of a configuration file that would stand at `path`.
pub fn parse(
    text: &str,
    path: &Path,
    flags: &Flags,
    environment: &Environment,
) -> Result<Settings, Problems> {
    let in_file = |list| Problems { file: Some(path.to_owned()), list };
    let tree = Node::parse(text).map_err(|problem| in_file(vec![problem]))?;
    if is_desktop(&tree) {
        let problem = Problem::general("is a file of a desktop client, not one of plugway");
        let shown = path.display();
        let hint = format!(
            "serve it as it is with `plugway serve --mcp-servers {shown}`, or make a configuration \
             of it with `plugway import {shown}`"
        );
        return Err(in_file(vec![problem.hint(hint)]));
    }
    let mut rewritten = rewrite(&tree);
    let (mut problems, mut warnings) = (
        std::mem::take(&mut rewritten.findings.problems),
        std::mem::take(&mut rewritten.findings.warnings),
    );
    let Some(own_words) = &rewritten.tree else {
        return Err(in_file(placed(problems, &tree)));
    };
    let words = Words { not_yet: NOT_YET, elsewhere: ELSEWHERE, also: rewritten.also };
    let (mut file, misfits) = read::<File>(own_words, words);
    rewritten.note(&mut file);
    let misfits: Vec<_> = misfits.into_iter().map(|misfit| rewritten.moved(misfit)).collect();
    let base = base_of(path);
    let origin = Origin { file: Some(path), base, flags, environment, default_port: PORT };
    let found = match check(&file, &origin) {
        Ok(mut settings) if problems.is_empty() && misfits.is_empty() => {
            let found = std::mem::take(&mut settings.warnings.list).into_iter();
            warnings.extend(found.map(|problem| rewritten.moved(problem)));
            settings.warnings = in_file(placed(warnings, &tree));
            return Ok(settings);
        }
        Ok(_) => Vec::new(),
        Err(found) => found,
    };
    // What is missing because it could not be read is not missing for the operator.
    let own: Vec<Problem> = found
        .into_iter()
        .map(|problem| rewritten.moved(problem))
        .filter(|problem| !misfits.iter().any(|misfit| misfit.key.is_within(&problem.key)))
        .collect();
    problems.extend(misfits);
    problems.extend(own);
    Err(in_file(placed(problems, &tree)))
}

/// Where relative paths of a file start. A bare file name has an empty parent, which no child process can be started in.
pub(super) fn base_of(path: &Path) -> &Path {
    path.parent().filter(|base| !base.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Checks a configuration that was put together in code; relative paths start at the working directory.
pub fn assemble(
    file: &File,
    flags: &Flags,
    environment: &Environment,
) -> Result<Settings, Problems> {
    let base = Path::new(".");
    check(file, &Origin { file: None, base, flags, environment, default_port: PORT })
        .map_err(|list| Problems { file: None, list })
}

/// Gives every problem its place, and sorts them as they stand in the file.
pub(super) fn placed(mut problems: Vec<Problem>, tree: &Node) -> Vec<Problem> {
    for problem in &mut problems {
        if problem.place.is_none() {
            problem.place = tree.place_of(&problem.key);
        }
    }
    problems.sort_by_key(|problem| (problem.place.is_none(), problem.place));
    problems
}

/// What is in a file, a little more than is taken at most.
pub(super) fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    #[expect(clippy::disallowed_methods, reason = "this is the one reader of configuration files")]
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A small JSON file beside a configuration: what somebody wrote down to try something.
pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Problem> {
    let broken = |what: String| Problem::general(format!("{} {what}", path.display()));
    let bytes = read_bytes(path).map_err(|error| broken(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(broken("is larger than 4 MiB".to_owned()));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| broken(format!("is not what it should be: {error}")))
}

pub(super) fn read_file(path: &Path) -> Result<String, Problem> {
    let broken = |what: &str, hint: &str| {
        Problem::general(format!("the configuration {} {what}", path.display())).hint(hint)
    };
    let bytes = read_bytes(path).map_err(|error| {
        broken(
            &format!("cannot be read: {error}"),
            "name a file (`plugway serve FILE`), or write plugway.yaml; \
             `name: hub` and `upstreams: [{name: .., url: ..}]` are enough; or set \
             UPSTREAM_<NAME>_URL",
        )
    })?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(broken("is larger than 4 MiB", "name the right file"));
    }
    String::from_utf8(bytes).map_err(|error| {
        broken(&format!("is not UTF-8: {}", error.utf8_error()), "save it as UTF-8")
    })
}
