//! A whole desktop file.

use std::path::{Path, PathBuf};

use super::variables::{Surroundings, Wanted};
use super::{fields, jsonc, name, server, servers};
use crate::config::check::{Findings, Origin, PORT, check};
use crate::config::environment::Environment;
use crate::config::file::{File, Upstream};
use crate::config::key::KeyPath;
use crate::config::load::{Flags, placed, read_file};
use crate::config::problem::{Problem, Problems};
use crate::config::settings::Settings;
use crate::config::tree::Node;

/// Name of the one connector that a desktop file becomes.
pub(super) const CONNECTOR: &str = "hub";
/// Folders of clients inside the folder of a project.
const INSIDE: &[&str] = &[".vscode", ".cursor", ".roo", ".windsurf"];

/// Reads a desktop file and checks what it would run: one connector at `/`, named `hub`, with each server as an
/// upstream.
pub fn desktop(
    path: &Path,
    flags: &Flags,
    environment: &Environment,
) -> Result<Settings, Problems> {
    let text = read_file(path).map_err(Problems::one)?;
    let in_file = |list| Problems { file: Some(path.to_owned()), list };
    let read = Read::new(&text, path, Wanted::Serving, environment).map_err(in_file)?;
    let file = File {
        name: Some(CONNECTOR.to_owned()),
        upstreams: Some(read.servers.iter().map(|server| server.upstream.clone()).collect()),
        ..File::default()
    };
    let base = &*read.workspace;
    let origin = Origin { file: Some(path), base, flags, environment, default_port: PORT };
    let checked = check(&file, &origin);
    let mut problems = read.findings.problems.clone();
    match checked {
        Ok(mut settings) if problems.is_empty() => {
            let checked = std::mem::take(&mut settings.warnings.list);
            let warnings = read.findings.warnings.iter().cloned();
            let warnings = warnings.chain(checked.into_iter().map(|problem| read.moved(problem)));
            settings.warnings = in_file(placed(warnings.collect(), &read.tree));
            settings.sources.extend(read.findings.sources.iter().cloned());
            Ok(settings)
        }
        Ok(_) => Err(in_file(placed(problems, &read.tree))),
        Err(checked) => {
            let own = checked.into_iter().map(|problem| read.moved(problem));
            // What is missing because it could not be read is not missing for the operator.
            let own: Vec<Problem> = own
                .filter(|own| !problems.iter().any(|other| other.key.is_within(&own.key)))
                .collect();
            problems.extend(own);
            Err(in_file(placed(problems, &read.tree)))
        }
    }
}

/// A file that was read.
pub(super) struct Read {
    pub(super) tree: Node,
    /// The folder that relative paths start at: the project's, where the file stands in a client's folder inside it.
    pub(super) workspace: PathBuf,
    /// The key of the map of servers.
    list: KeyPath,
    pub(super) servers: Vec<Server>,
    pub(super) findings: Findings,
}

/// A server and where it stands.
pub(super) struct Server {
    /// The name in the file.
    pub(super) original: String,
    key: KeyPath,
    /// The key of its address.
    address: &'static str,
    pub(super) upstream: Upstream,
}

impl Read {
    /// Reads the servers; problems with them are in the findings, as far as there are servers at all.
    pub(super) fn new(
        text: &str,
        path: &Path,
        wanted: Wanted,
        environment: &Environment,
    ) -> Result<Self, Vec<Problem>> {
        let tree = jsonc::parse(text).map_err(|problem| vec![problem])?;
        let workspace = workspace_of(path);
        let surroundings = Surroundings { environment, workspace: &workspace, wanted };
        let mut findings = Findings::default();
        let Some((list, members)) = servers::find(&tree, &mut findings) else {
            return Err(placed(findings.problems, &tree));
        };
        let originals: Vec<&str> = members.iter().map(|member| member.key.as_str()).collect();
        let names = name::fit_all(&originals);
        let mut servers = Vec::with_capacity(members.len());
        for (member, name) in members.iter().zip(names) {
            let key = list.key(&member.key);
            if name != member.key {
                let sentence = format!("is called `{name}` by plugway");
                let hint = "names are 1 to 32 letters, digits, `_` and `-`: they stand before \
                            names of tools";
                findings.warning(&key, sentence, hint);
            }
            let mut upstream = server::read(&member.node, &key, &surroundings, &mut findings);
            upstream.name = Some(name);
            let stands = |address: &&&str| member.node.value_of(address).is_some();
            let address = server::ADDRESSES.iter().find(stands).copied().unwrap_or("url");
            servers.push(Server { original: member.key.clone(), key, address, upstream });
        }
        Ok(Self { tree, workspace, list, servers, findings })
    }

    /// A problem with what the file became, as one with the file.
    fn moved(&self, mut problem: Problem) -> Problem {
        let upstreams = KeyPath::top().key("upstreams");
        if problem.key == upstreams {
            problem.key = self.list.clone();
        }
        for (index, server) in self.servers.iter().enumerate() {
            let from = upstreams.item(index);
            if problem.key == from.key("url") {
                problem.key = server.key.key(server.address);
            } else if let Some(key) = problem.key.moved(&from, &server.key) {
                problem.key = key;
            }
        }
        problem
    }
}

/// The folder of the project that a file belongs to.
fn workspace_of(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = absolute.parent().unwrap_or(Path::new("/"));
    let is_inside = |name: &std::ffi::OsStr| INSIDE.iter().any(|inside| name == *inside);
    match folder.parent() {
        Some(project) if folder.file_name().is_some_and(is_inside) => project.to_owned(),
        _ => folder.to_owned(),
    }
}

/// Whether a tree has the form of a desktop file, which may have been given as a configuration by mistake.
pub(in crate::config) fn is_desktop(tree: &Node) -> bool {
    let holds = |key| tree.value_of(key).is_some_and(|node| fields::members(node).is_some());
    let is_own = ["name", "upstreams", "connectors"].iter().any(|key| tree.value_of(key).is_some());
    !is_own && (holds("mcpServers") || holds("servers"))
}
