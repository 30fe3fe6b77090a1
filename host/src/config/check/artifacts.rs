//! Links to files of servers.

use std::sync::Arc;
use std::time::Duration;

use http::Uri;

use super::findings::Findings;
use super::limits::Bounds;
use super::target::check_url;
use crate::config::file::{Artifacts as Written, File, LinksWord, Upstream};
use crate::config::key::KeyPath;
use crate::config::settings::{Artifacts, HttpTransport};

/// How long a link is good.
const LIFETIME: Duration = Duration::from_hours(1);
/// Origins of one upstream.
const ORIGINS: usize = 8;

/// How links are shown; none leaves them as they are.
pub(super) fn check(
    written: Option<&Written>,
    public: Option<&Arc<str>>,
    key: &KeyPath,
    findings: &mut Findings,
) -> Option<Artifacts> {
    let written = written.cloned().unwrap_or_default();
    let lifetime = Bounds { key, findings }.span("lifetime", written.lifetime, LIFETIME);
    let open = match written.links {
        Some(LinksWord::Untouched) => return None,
        Some(LinksWord::Holder) => true,
        Some(LinksWord::Caller) | None => false,
    };
    Some(Artifacts { open, lifetime, public: public.cloned() })
}

/// The URL of plugway for its clients, without a slash at the end.
pub(super) fn check_public(file: &File, findings: &mut Findings) -> Option<Arc<str>> {
    let key = &KeyPath::top().key("public_url");
    let uri = check_url(file.public_url.as_deref()?, key, findings)?;
    if uri.query().is_some() {
        let hint = "write what stands before the paths of connectors: https://mcp.example.com";
        findings.problem(key, "has a query", hint);
        return None;
    }
    let path = uri.path().trim_end_matches('/');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._~-".contains(&byte);
    if !path.bytes().all(plain) {
        let hint = "use letters, digits, `.`, `_`, `~` and `-` in its path";
        findings.problem(key, "has a path with other characters than a path needs", hint);
        return None;
    }
    let origin = origin(&uri)?;
    Some(format!("{origin}{path}").into())
}

fn origin(uri: &Uri) -> Option<String> {
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
}

/// The origins under which an upstream serves files; none where nobody says that it does.
pub(super) fn check_origins(
    upstream: &Upstream,
    transport: HttpTransport,
    key: &KeyPath,
    findings: &mut Findings,
) -> Option<Vec<Arc<str>>> {
    let key = key.key("artifact_origins");
    let written = upstream.artifact_origins.as_deref()?;
    if transport == HttpTransport::Sse {
        let sentence =
            "means nothing with `transport: sse`: links of such servers stay as they are";
        findings.warning(&key, sentence, "take it out");
    }
    if written.len() > ORIGINS {
        let sentence = format!("has more than {ORIGINS} origins");
        findings.problem(&key, sentence, "name those that the server puts into links");
    }
    let mut origins = Vec::new();
    for (index, text) in written.iter().enumerate() {
        let key = key.item(index);
        let Some(uri) = check_url(text, &key, findings) else { continue };
        if uri.query().is_some() || !matches!(uri.path(), "" | "/") {
            let hint = "write scheme, host and port alone: https://chem.example.com";
            findings.problem(&key, "is more than an origin", hint);
        } else if let Some(origin) = origin(&uri) {
            origins.push(origin.into());
        }
    }
    Some(origins)
}
