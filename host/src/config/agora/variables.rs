//! A connector that is described by the environment alone: `CONNECTOR_NAME`, `UPSTREAM_CHEM_URL` and others.

use std::collections::BTreeMap;
use std::path::Path;

use super::router::Offers;
use super::url::endpoint;
use super::words::{Fate, TAKE_OUT, VARIABLES, variable as fate_of};
use super::{gateway, router, switch};
use crate::config::check::{Findings, Origin, check};
use crate::config::environment::Environment;
use crate::config::file::{CredentialMode, CredentialUse, File, PrefixWord, Upstream};
use crate::config::key::KeyPath;
use crate::config::load::Flags;
use crate::config::nearest::nearest;
use crate::config::problem::{Problem, Problems};
use crate::config::settings::Settings;

/// Port of the reference.
const PORT: u16 = 8000;
/// Name of a connector that nobody named.
const NAME: &str = "connector";
/// Variables that begin like this belong to this form, be they known or not.
const OWN: &[&str] = &["CONNECTOR_", "UPSTREAM_", "WORKER_", "GATEWAY_", "DISPATCHER_"];
/// Those that only say where to listen, which counts in every form.
const LISTENING: &[&str] = &["CONNECTOR_HOST", "CONNECTOR_PORT"];

/// Whether the environment describes a connector.
pub(in crate::config) fn speaks(environment: &Environment) -> bool {
    environment.names().any(|name| {
        let is_own = OWN.iter().any(|start| name.starts_with(start));
        is_own && fate_of(name).is_some() && !LISTENING.contains(&name)
    })
}

/// Checks the connector that the environment describes; relative paths start at the working directory.
pub(in crate::config) fn environment(
    flags: &Flags,
    environment: &Environment,
) -> Result<Settings, Problems> {
    let mut findings = Findings::default();
    let Some(mode) = mode(environment, &mut findings) else {
        return Err(Problems { file: None, list: findings.problems });
    };
    let mut upstreams = upstreams(environment, &mut findings);
    let mut policies = None;
    match mode {
        Mode::Router => refuse_rules(environment, &mut findings),
        Mode::Gateway => {
            ensure_one(&upstreams, &mut findings);
            for (_, upstream) in &mut upstreams {
                upstream.prefix = Some(PrefixWord::Never);
            }
            policies =
                gateway::of_environment(environment, &mut findings).map(|policy| vec![policy]);
        }
    }
    look_at_others(environment, &mut findings);
    check_openness(environment, &mut findings);
    let name = environment.get("CONNECTOR_NAME").map(str::trim).filter(|name| !name.is_empty());
    let (variables, upstreams): (Vec<_>, Vec<_>) = upstreams.into_iter().unzip();
    let file = File {
        name: Some(name.unwrap_or(NAME).to_owned()),
        router: Some(router::plain(match mode {
            Mode::Router => Offers::All,
            Mode::Gateway => Offers::Search,
        })),
        policies,
        upstreams: Some(if upstreams.is_empty() { vec![stand_in()] } else { upstreams }),
        ..File::default()
    };
    let base = Path::new(".");
    let origin = Origin { file: None, base, flags, environment, default_port: PORT };
    let checked = check(&file, &origin);
    let moved = |problem| moved(problem, &variables);
    match checked {
        Ok(mut settings) if findings.problems.is_empty() => {
            let found = std::mem::take(&mut settings.warnings.list).into_iter().map(moved);
            settings.warnings.list = findings.warnings.into_iter().chain(found).collect();
            Ok(settings)
        }
        Ok(_) => Err(Problems { file: None, list: findings.problems }),
        Err(found) => {
            findings.problems.extend(found.into_iter().map(moved));
            Err(Problems { file: None, list: findings.problems })
        }
    }
}

/// That there is no upstream was said already; the rest is still checked.
fn stand_in() -> Upstream {
    let (name, url) = (NAME.to_owned(), "http://127.0.0.1".to_owned());
    Upstream { name: Some(name), url: Some(url), ..Upstream::default() }
}

/// A problem with what the environment became, as one with a variable.
fn moved(mut problem: Problem, variables: &[KeyPath]) -> Problem {
    let top = KeyPath::top();
    let list = top.key("upstreams");
    if problem.key == top.key("name") {
        problem.key = top.key("CONNECTOR_NAME");
    }
    if problem.key.is_within(&top.key("policies")) {
        problem.key = top.key("CONNECTOR_MODE");
    }
    for (index, variable) in variables.iter().enumerate() {
        if problem.key.is_within(&list.item(index)) {
            problem.key = variable.clone();
        }
    }
    problem
}

/// What the environment describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Router,
    Gateway,
}

/// The mode, where it is one that is served; else the only problem is that it is not.
fn mode(environment: &Environment, findings: &mut Findings) -> Option<Mode> {
    let written = environment.get("CONNECTOR_MODE").unwrap_or("router");
    let mode = written.trim().to_lowercase();
    let key = KeyPath::top().key("CONNECTOR_MODE");
    let lacks = |variable: &str| match fate_of(variable) {
        Some(Fate::NotYet(lacks)) => lacks,
        _ => "it is not part of plugway",
    };
    let sentence = match mode.as_str() {
        "router" | "" => return Some(Mode::Router),
        "gateway" => return Some(Mode::Gateway),
        "dispatcher" => {
            format!("is `dispatcher`, which is not served yet: {}", lacks("WORKER_URLS"))
        }
        _ => {
            let hint = match nearest(&mode, ["router", "gateway", "dispatcher"]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "write `router`, or unset it".to_owned(),
            };
            let sentence = format!("is `{written}`, but can only be router, gateway or dispatcher");
            findings.problem(&key, sentence, &hint);
            return None;
        }
    };
    findings.problem(&key, sentence, "write `router`, or stay with agora-workbench for it");
    None
}

/// What the reference says of several. That there is none was said already.
fn ensure_one(upstreams: &[(KeyPath, Upstream)], findings: &mut Findings) {
    if upstreams.len() < 2 {
        return;
    }
    let names = upstreams.iter().filter_map(|(_, upstream)| upstream.name.as_deref());
    let names: Vec<_> = names.map(|name| format!("'{name}'")).collect();
    let (count, names) = (names.len(), names.join(", "));
    let sentence =
        format!("Gateway mode requires exactly one upstream, but found {count}: [{names}]");
    let hint = "use CONNECTOR_MODE=router for multiple upstreams";
    findings.problem(&KeyPath::top(), sentence, hint);
}

/// Rules that nothing would hold anybody to.
fn refuse_rules(environment: &Environment, findings: &mut Findings) {
    for (variable, _) in gateway::VARIABLES {
        if environment.get(variable).is_some_and(|written| !written.trim().is_empty()) {
            let sentence = "does nothing in the mode `router`";
            let hint = "set CONNECTOR_MODE=gateway, or unset it";
            findings.problem(&KeyPath::top().key(variable), sentence, hint);
        }
    }
}

/// The upstreams by name, each with the variable that it stands in.
fn upstreams(environment: &Environment, findings: &mut Findings) -> Vec<(KeyPath, Upstream)> {
    let mut found: BTreeMap<String, (KeyPath, Upstream)> = BTreeMap::new();
    let mut some = false;
    for name in environment.names() {
        let middle = name.strip_prefix("UPSTREAM_").and_then(|rest| rest.strip_suffix("_URL"));
        let Some(middle) = middle.filter(|middle| !middle.is_empty()) else { continue };
        some = true;
        let key = KeyPath::top().key(name);
        if !is_identifier(middle) {
            let hint = "write UPSTREAM_CHEM_URL: a letter, then letters, digits and `_`";
            findings.problem(&key, format!("names an upstream `{middle}`"), hint);
            continue;
        }
        let url = environment.get(name).map(str::trim).filter(|url| !url.is_empty());
        let Some(url) = url else {
            findings.problem(&key, "is set, but empty", "give it an address, or unset it");
            continue;
        };
        let lower = middle.to_ascii_lowercase();
        let upstream = Upstream {
            name: Some(lower.clone()),
            url: Some(endpoint(url)),
            auth: Some(CredentialUse {
                mode: Some(CredentialMode::Forward),
                ..CredentialUse::default()
            }),
            ..Upstream::default()
        };
        if let Some((other, _)) = found.get(&lower) {
            let sentence = format!("means the same upstream as `{other}`: case does not count");
            findings.problem(&key, sentence, "keep one of them");
            continue;
        }
        found.insert(lower, (key, upstream));
    }
    if !some {
        let hint = "set UPSTREAM_CHEM_URL=http://127.0.0.1:8001, or name a configuration file";
        findings.problem(&KeyPath::top(), "no variable UPSTREAM_<NAME>_URL is set", hint);
    }
    found.into_values().collect()
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Variables that are refused or left out, and those that are probably a slip of the pen.
fn look_at_others(environment: &Environment, findings: &mut Findings) {
    for name in environment.names() {
        let key = KeyPath::top().key(name);
        let is_set = environment.get(name).is_some();
        match fate_of(name) {
            Some(Fate::NotYet(lacks)) if is_set => {
                findings.problem(&key, format!("does nothing yet: {lacks}"), TAKE_OUT);
            }
            Some(Fate::Ignored(sentence, hint)) if is_set => findings.warning(&key, sentence, hint),
            None if OWN.iter().any(|start| name.starts_with(start)) => {
                let hint = match nearest(name, VARIABLES.iter().map(|(known, _)| *known)) {
                    Some(near) => format!("did you mean {}?", near.replace('*', "<NAME>")),
                    None => "upstreams are written UPSTREAM_<NAME>_URL".to_owned(),
                };
                findings.warning(&key, "means nothing to plugway", &hint);
            }
            _ => {}
        }
    }
}

/// The reference serves without authentication only where it is told so. plugway does on this machine, unless it is told
/// not to.
fn check_openness(environment: &Environment, findings: &mut Findings) {
    let name = "CONNECTOR_ALLOW_NOOP_AUTH";
    let Some(word) = environment.get(name) else { return };
    let key = KeyPath::top().key(name);
    match switch::read(word) {
        Some(true) => {}
        Some(false) => {
            let sentence = "forbids to serve without authentication, and this form has none";
            let hint = "unset it, or write a configuration file with `auth`";
            findings.problem(&key, sentence, hint);
        }
        None => {
            let sentence = format!("is `{word}`, but can only be true or false");
            findings.problem(&key, sentence, "write `1` or `0`, or unset it");
        }
    }
}
