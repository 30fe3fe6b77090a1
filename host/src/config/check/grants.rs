//! What a plugin may do besides deciding.

use http::{HeaderName, Uri};

use super::findings::Findings;
use super::header::{self, Wanted};
use crate::config::file::{Grants, Text};
use crate::config::key::KeyPath;
use crate::config::settings::GrantSettings;

/// Bytes of the name of a query parameter.
const PARAMETER: usize = 128;

/// Checks every grant of a plugin.
pub(super) fn check(grants: &Grants, key: &KeyPath, findings: &mut Findings) -> GrantSettings {
    let origins = key.key("fetch");
    let fetch: Vec<Uri> = grants
        .fetch
        .iter()
        .enumerate()
        .filter_map(|(index, text)| origin(text, &origins.item(index), findings))
        .collect();
    if grants.fetch_private && grants.fetch.is_empty() {
        let sentence = "means nothing without `fetch`";
        findings.warning(&key.key("fetch_private"), sentence, "name the origins in `fetch`");
    }
    let read = (&grants.headers, "headers", Wanted::ByPluginToRead);
    let set = (&grants.set_headers, "set_headers", Wanted::ByPluginToSet);
    let [headers, set_headers] =
        [read, set].map(|(names, list, wanted)| headers(names, wanted, &key.key(list), findings));
    GrantSettings {
        headers,
        query: parameters(&grants.query, &key.key("query"), findings),
        set_headers,
        upstreams: grants.upstreams,
        reveal: grants.reveal,
        fetch,
        fetch_private: grants.fetch_private,
    }
}

fn headers(
    names: &[Text],
    wanted: Wanted,
    key: &KeyPath,
    findings: &mut Findings,
) -> Vec<HeaderName> {
    names
        .iter()
        .enumerate()
        .filter_map(|(index, Text(name))| header::check(name, wanted, &key.item(index), findings))
        .collect()
}

fn parameters(names: &[Text], key: &KeyPath, findings: &mut Findings) -> Vec<String> {
    for (index, Text(name)) in names.iter().enumerate() {
        if name.is_empty() || name.len() > PARAMETER || name.contains(char::is_control) {
            let hint = "write a name such as `tools`, as it stands before `=`";
            findings.problem(&key.item(index), "is no name of a query parameter", hint);
        }
    }
    names.iter().map(|Text(name)| name.clone()).collect()
}

/// Scheme, host and port, and nothing else. The text is not repeated where it may hold a credential.
fn origin(text: &str, key: &KeyPath, findings: &mut Findings) -> Option<Uri> {
    let hint = "write scheme, host and port: `https://api.example.com`, `http://127.0.0.1:8080`";
    let mut refuse = |sentence: String| {
        findings.problem(key, sentence, hint);
        None
    };
    let Ok(uri) = text.parse::<Uri>() else { return refuse("is no origin".to_owned()) };
    let (Some("http" | "https"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return refuse("is no origin of http or https".to_owned());
    };
    if authority.as_str().contains('@') {
        return refuse("holds a credential".to_owned());
    }
    let has_port = authority.as_str().len() > authority.host().len();
    if authority.host().is_empty() || (has_port && authority.port_u16().is_none()) {
        return refuse("has no host, or a port that is none".to_owned());
    }
    if authority.host().contains('*') {
        return refuse(format!("is `{text}`: wildcards are not taken"));
    }
    let is_bare = uri.path_and_query().is_none_or(|rest| rest.as_str() == "/");
    if !is_bare || text.contains('#') {
        return refuse("has more than an origin: a path, a query or a fragment".to_owned());
    }
    Some(uri)
}
