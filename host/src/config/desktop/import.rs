//! Writes what a desktop file holds as a configuration of plugway, with its secrets in a file of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::suspicion;
use super::variables::Wanted;
use super::whole::{CONNECTOR, Read, Server};
use super::yaml::Writer;
use crate::config::environment::Environment;
use crate::config::file::{SecretText, Text, TransportWord};
use crate::config::load::{placed, read_file};
use crate::config::problem::Problems;
use crate::config::reference::Reference;
use crate::config::secret::Secret;

/// What an import gives.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Text of the configuration.
    pub configuration: String,
    /// Text of the file of secrets; none where there are no secrets.
    pub secrets: Option<Secret>,
    /// Servers in the configuration.
    pub servers: usize,
    /// Secrets in their file.
    pub kept_apart: usize,
    /// What deserves a word.
    pub warnings: Problems,
}

/// Reads the desktop file at `path`. The configuration will stand at `output` and refer to the file `secrets`.
pub fn import(
    path: &Path,
    (output, secrets): (&Path, &Path),
    environment: &Environment,
) -> Result<Imported, Problems> {
    let text = read_file(path).map_err(Problems::one)?;
    let in_file = |list| Problems { file: Some(path.to_owned()), list };
    let read = Read::new(&text, path, Wanted::Importing, environment).map_err(in_file)?;
    if !read.findings.problems.is_empty() {
        return Err(in_file(placed(read.findings.problems, &read.tree)));
    }
    let mut importer = Importer {
        writer: Writer::default(),
        secrets: BTreeMap::new(),
        reference: reference_to(secrets, output),
        workspace: (folder_of(output) != read.workspace).then(|| read.workspace.clone()),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    importer.writer.comment(0, &format!("Made of {name} by `plugway import`."));
    importer.writer.text(0, "name", CONNECTOR);
    importer.writer.line(0, "upstreams:");
    for server in &read.servers {
        importer.server(server);
    }
    let kept_apart = importer.secrets.len();
    Ok(Imported {
        configuration: importer.writer.finish(),
        secrets: (kept_apart > 0).then(|| secrets_text(&importer.secrets)),
        servers: read.servers.len(),
        kept_apart,
        warnings: in_file(placed(read.findings.warnings, &read.tree)),
    })
}

fn folder_of(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.parent().unwrap_or(Path::new("/")).to_owned()
}

/// The file of secrets as the configuration names it.
fn reference_to(secrets: &Path, output: &Path) -> String {
    match secrets.file_name() {
        Some(name) if folder_of(secrets) == folder_of(output) => {
            name.to_string_lossy().into_owned()
        }
        _ => {
            let absolute = std::path::absolute(secrets).unwrap_or_else(|_| secrets.to_owned());
            absolute.to_string_lossy().into_owned()
        }
    }
}

fn secrets_text(secrets: &BTreeMap<String, Secret>) -> Secret {
    let mut writer = Writer::default();
    writer.comment(0, "Secrets of the configuration beside it: `file://THIS_FILE#NAME`.");
    for (name, secret) in secrets {
        writer.text(0, name, secret.reveal());
    }
    Secret::new(writer.finish())
}

struct Importer {
    writer: Writer,
    secrets: BTreeMap<String, Secret>,
    /// The file of secrets as the configuration names it.
    reference: String,
    /// Where programs start, if it is not the folder of the configuration.
    workspace: Option<PathBuf>,
}

impl Importer {
    fn server(&mut self, server: &Server) {
        let upstream = &server.upstream;
        let name = upstream.name.as_deref().unwrap_or_default();
        if server.original != name {
            let original = serde_json::Value::from(server.original.as_str());
            self.writer.comment(1, &format!("called {original} in the file that was imported"));
        }
        self.writer.line(1, &format!("- name: {name}"));
        if upstream.disabled {
            self.writer.line(2, "disabled: true");
        }
        if let Some(url) = &upstream.url {
            self.writer.text(2, "url", url);
        }
        if upstream.transport == Some(TransportWord::Sse) {
            self.writer.line(2, "transport: sse");
        }
        if let Some(command) = &upstream.command {
            self.writer.text(2, "command", command);
            let args = upstream.args.as_deref().unwrap_or_default();
            if !args.is_empty() {
                let args: Vec<_> = args.iter().map(|Text(arg)| arg.as_str()).collect();
                self.writer.list(2, "args", &args);
            }
            let cwd = match (&self.workspace, &upstream.cwd) {
                (Some(workspace), cwd) => Some(workspace.join(cwd.as_deref().unwrap_or_default())),
                (None, cwd) => cwd.as_deref().map(PathBuf::from),
            };
            if let Some(cwd) = cwd {
                self.writer.text(2, "cwd", cwd.to_string_lossy().trim_end_matches('/'));
            }
        }
        self.map(name, "env", upstream.env.as_ref());
        if let Some(token) = upstream.auth.as_ref().and_then(|auth| auth.token.as_ref()) {
            self.writer.line(2, "auth:");
            self.writer.line(3, "mode: bearer");
            let token = self.value(name, "Authorization", token);
            self.writer.text(3, "token", &token);
        }
        self.map(name, "headers", upstream.headers.as_ref());
        if let Some(tools) = &upstream.expose {
            let tools: Vec<_> = tools.iter().map(String::as_str).collect();
            self.writer.list(2, "expose", &tools);
        }
        if let Some(tools) = &upstream.hide {
            let tools: Vec<_> = tools.iter().map(String::as_str).collect();
            self.writer.list(2, "hide", &tools);
        }
        if let Some(answer) = upstream.timeouts.answer {
            self.writer.line(2, &format!("timeouts: {{answer: {}ms}}", answer.0.as_millis()));
        }
    }

    fn map(&mut self, server: &str, key: &str, map: Option<&BTreeMap<String, SecretText>>) {
        let Some(map) = map.filter(|map| !map.is_empty()) else { return };
        self.writer.line(2, &format!("{key}:"));
        for (name, secret) in map {
            let value = self.value(server, name, secret);
            self.writer.text(3, name, &value);
        }
    }

    /// The value itself where it is no secret, else a reference to it.
    fn value(&mut self, server: &str, name: &str, secret: &SecretText) -> String {
        let text = secret.written().reveal();
        let is_plain = Reference::of(text).is_none() && !suspicion::is_secret(name, text);
        if !secret.is_literal() || is_plain {
            return text.to_owned();
        }
        let entry = format!("{server}.{name}").replace('#', "_");
        self.secrets.insert(entry.clone(), secret.written().clone());
        format!("file://{}#{entry}", self.reference)
    }
}
