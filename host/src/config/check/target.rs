//! How an upstream is reached: an address or a program.

use std::collections::BTreeMap;
use std::path::Path;

use http::Uri;

use super::artifacts;
use super::findings::Findings;
use super::limits::Bounds;
use super::secret::{self, Literal};
use super::whole::Origin;
use crate::config::file::{SharingWord, Text, TransportWord, Upstream};
use crate::config::key::KeyPath;
use crate::config::secret::Secret;
use crate::config::settings::{Address, Child, HttpTransport, Sharing, Target};

/// Variables that a child gets unless the file says otherwise: without them hardly any program is found or starts.
const INHERITED: &[&str] = if cfg!(windows) { WINDOWS } else { &["PATH", "HOME"] };
/// The same on Windows, where names are upper case here however they were written.
const WINDOWS: &[&str] = &[
    "PATH",
    "PATHEXT",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "COMSPEC",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMFILES",
    "PROGRAMDATA",
];

/// The target, if it can be told.
pub(super) fn check(
    upstream: &Upstream,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<Target> {
    match (&upstream.url, &upstream.command) {
        (Some(url), None) => {
            refuse_child_keys(upstream, key, findings);
            let transport = transport_of(upstream);
            let url = check_url(url, &key.key("url"), findings)?;
            let artifact_origins = artifacts::check_origins(upstream, transport, key, findings);
            Some(Target::Http(Address { url, transport, artifact_origins }))
        }
        (None, Some(command)) => {
            if upstream.transport.is_some() {
                let sentence = "belongs to `url`, but this upstream has a `command`";
                findings.problem(&key.key("transport"), sentence, "take it out");
            }
            if upstream.artifact_origins.is_some() {
                let sentence = "belongs to `url`, but this upstream has a `command`";
                findings.problem(&key.key("artifact_origins"), sentence, "take it out");
            }
            if upstream.catalog.is_some() {
                let sentence = "belongs to `url`, but this upstream has a `command`";
                findings.problem(&key.key("catalog"), sentence, "take it out");
            }
            if command.trim().is_empty() {
                findings.problem(&key.key("command"), "is empty", "name the server's program");
                return None;
            }
            if command.contains(char::is_whitespace) && upstream.args.is_none() {
                let hint = "write `command: npx` and `args: [-y, ..]`; no shell is involved";
                let sentence = "holds spaces, but names only the program";
                findings.warning(&key.key("command"), sentence, hint);
            }
            Some(Target::Stdio(child(command, upstream, key, origin, findings)))
        }
        (Some(_), Some(_)) => {
            let sentence = "has both `url` and `command`";
            findings.problem(key, sentence, "keep one: an address or a program to start");
            None
        }
        (None, None) if upstream.accept_leases.is_some() => {
            refuse_child_keys(upstream, key, findings);
            Some(Target::Leased(transport_of(upstream)))
        }
        (None, None) => {
            let sentence = "has neither `url` nor `command`";
            findings.problem(
                key,
                sentence,
                "say how to reach it: an address or a program to start",
            );
            None
        }
    }
}

fn transport_of(upstream: &Upstream) -> HttpTransport {
    match upstream.transport {
        None | Some(TransportWord::Http) => HttpTransport::Streamable,
        Some(TransportWord::Sse) => HttpTransport::Sse,
    }
}

pub(super) fn check_url(text: &str, key: &KeyPath, findings: &mut Findings) -> Option<Uri> {
    let hint = "write the whole address: http://127.0.0.1:3000/mcp";
    let Ok(uri) = text.parse::<Uri>() else {
        findings.problem(key, "is no URL", hint);
        return None;
    };
    let authority = uri.authority();
    let sentence = match uri.scheme_str() {
        None => Some("has no scheme".to_owned()),
        Some("http" | "https") => match authority {
            None => Some("has no host".to_owned()),
            Some(authority) if authority.host().is_empty() => Some("has no host".to_owned()),
            Some(authority) if authority.as_str().contains('@') => {
                let hint = "take the user name and password out: they would end up in logs";
                findings.problem(key, "holds a credential", hint);
                return None;
            }
            Some(authority) if has_port(authority) && authority.port_u16().is_none() => {
                Some("has a port that is no number from 0 to 65535".to_owned())
            }
            Some(_) if text.contains('#') => Some("has a fragment".to_owned()),
            Some(_) => None,
        },
        Some(other) => Some(format!("has the scheme `{other}`, but can only be http or https")),
    };
    match sentence {
        Some(sentence) => {
            findings.problem(key, sentence, hint);
            None
        }
        None => Some(uri),
    }
}

fn has_port(authority: &http::uri::Authority) -> bool {
    authority.as_str().len() > authority.host().len()
}

fn refuse_child_keys(upstream: &Upstream, key: &KeyPath, findings: &mut Findings) {
    for (name, stands) in [
        ("args", upstream.args.is_some()),
        ("env", upstream.env.is_some()),
        ("inherit_env", upstream.inherit_env.is_some()),
        ("cwd", upstream.cwd.is_some()),
        ("sharing", upstream.sharing.is_some()),
        ("max_children", upstream.max_children.is_some()),
        ("idle_stop", upstream.idle_stop.is_some()),
    ] {
        if stands {
            let sentence = "belongs to `command`, but this upstream has a `url`";
            findings.problem(&key.key(name), sentence, "take it out");
        }
    }
}

fn child(
    command: &str,
    upstream: &Upstream,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Child {
    let args = upstream.args.as_deref().unwrap_or_default();
    let mut bounds = Bounds { key, findings };
    let max_children = upstream.max_children.map_or(16, |count| count as usize);
    bounds.within("max_children", (1..=1024).contains(&max_children), "from 1 to 1024");
    let idle_stop = bounds.span("idle_stop", upstream.idle_stop, std::time::Duration::from_mins(5));
    let cwd = Path::new(upstream.cwd.as_deref().unwrap_or_default());
    Child {
        command: command.to_owned(),
        args: args.iter().map(|Text(arg)| arg.clone()).collect(),
        env: environment(upstream, key, origin, findings),
        cwd: origin.base.join(cwd),
        sharing: match upstream.sharing {
            Some(SharingWord::Connector) => Sharing::Connector,
            Some(SharingWord::Session) | None => Sharing::Session,
        },
        max_children,
        idle_stop,
    }
}

/// The whole environment of a child: what it inherits by name, then what is written for it.
fn environment(
    upstream: &Upstream,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Vec<(String, Secret)> {
    let mut variables = BTreeMap::new();
    match &upstream.inherit_env {
        None => {
            for name in INHERITED {
                if let Some(value) = origin.environment.get(name) {
                    variables.insert((*name).to_owned(), Secret::new(value));
                }
            }
        }
        Some(names) => {
            for (index, name) in names.iter().enumerate() {
                match origin.environment.get(name) {
                    Some(value) => {
                        variables.insert(name.clone(), Secret::new(value));
                    }
                    None => findings.warning(
                        &key.key("inherit_env").item(index),
                        format!("names `{name}`, which is not set here"),
                        "the child starts without it",
                    ),
                }
            }
        }
    }
    for (name, written) in upstream.env.iter().flatten() {
        let key = key.key("env").key(name);
        let value = secret::check(written, Literal::Fine, &key, origin, findings);
        let is_plain = |value: &Secret| !value.reveal().contains('\0');
        if name.is_empty() || name.contains(['=', '\0']) || !value.as_ref().is_none_or(is_plain) {
            let hint = "write NAME: value";
            findings.problem(&key, "cannot be a variable of an environment", hint);
        }
        variables.extend(value.map(|value| (name.clone(), value)));
    }
    variables.into_iter().collect()
}
