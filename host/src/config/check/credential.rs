//! How plugway identifies itself at an upstream, and the headers that every request carries.

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};

use super::findings::Findings;
use super::header::{self, Wanted};
use super::secret::{self, Literal};
use super::whole::Origin;
use crate::config::file::{CredentialMode, CredentialUse, SecretText, Upstream};
use crate::config::key::KeyPath;
use crate::config::secret::Secret;
use crate::config::settings::Credential;

/// The credential and the headers of an upstream.
pub(super) fn check(
    upstream: &Upstream,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> (Credential, Vec<(HeaderName, Secret)>) {
    if upstream.command.is_some() && upstream.url.is_none() {
        for (name, stands) in
            [("auth", upstream.auth.is_some()), ("headers", upstream.headers.is_some())]
        {
            if stands {
                let sentence = "belongs to `url`, but this upstream has a `command`";
                findings.problem(&key.key(name), sentence, "give the program its secrets in `env`");
            }
        }
        return (Credential::None, Vec::new());
    }
    let credential = match &upstream.auth {
        None => Credential::None,
        Some(written) => credential(written, &key.key("auth"), origin, findings),
    };
    let headers = headers(upstream, &key.key("headers"), origin, findings);
    let taken = match &credential {
        Credential::None => None,
        Credential::Forward { .. } => Some(&AUTHORIZATION),
        Credential::Header(name, _) => Some(name),
    };
    if let Some((name, _)) = headers.iter().find(|(name, _)| Some(name) == taken) {
        let sentence = format!("sets `{name}`, which `auth` sets too");
        findings.problem(&key.key("headers"), sentence, "keep one of them");
    }
    (credential, headers)
}

fn credential(
    written: &CredentialUse,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Credential {
    refuse_foreign_keys(written, key, findings);
    let mut value = |name: &str, text: &Option<SecretText>, before: &str| {
        let key = key.key(name);
        let Some(text) = text else {
            findings.problem(&key, "is missing", "write `env://NAME` or `file://PATH`");
            return None;
        };
        let secret = secret::check(text, Literal::Warned, &key, origin, findings)?;
        header_value(&secret, before, &key, findings)
    };
    let found = match written.mode {
        None => {
            let hint = "write `{mode: bearer, token: env://NAME}`";
            findings.problem(key, "has no `mode`", hint);
            None
        }
        Some(CredentialMode::None) => None,
        Some(CredentialMode::Forward) => {
            let own = written.own.as_ref().and_then(|_| value("own", &written.own, ""));
            Some(Credential::Forward { own })
        }
        Some(CredentialMode::Bearer) => value("token", &written.token, "Bearer ")
            .map(|token| Credential::Header(AUTHORIZATION, token)),
        Some(CredentialMode::Header) => {
            let value = value("value", &written.value, "");
            let key = key.key("name");
            let name = if let Some(name) = &written.name {
                header::check(name, Wanted::ForUpstream, &key, findings)
            } else {
                findings.problem(&key, "is missing", "write `name: X-Api-Key`");
                None
            };
            name.zip(value).map(|(name, value)| Credential::Header(name, value))
        }
    };
    found.unwrap_or_default()
}

fn refuse_foreign_keys(written: &CredentialUse, key: &KeyPath, findings: &mut Findings) {
    let Some(mode) = written.mode else { return };
    for (name, stands, owner, word) in [
        ("token", written.token.is_some(), CredentialMode::Bearer, "bearer"),
        ("name", written.name.is_some(), CredentialMode::Header, "header"),
        ("value", written.value.is_some(), CredentialMode::Header, "header"),
        ("own", written.own.is_some(), CredentialMode::Forward, "forward"),
    ] {
        if stands && mode != owner {
            let sentence = format!("belongs to the mode `{word}`");
            findings.problem(&key.key(name), sentence, "take it out, or change the mode");
        }
    }
}

fn headers(
    upstream: &Upstream,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Vec<(HeaderName, Secret)> {
    let mut headers: Vec<(HeaderName, Secret)> = Vec::new();
    for (name, text) in upstream.headers.iter().flatten() {
        let key = key.key(name);
        let Some(header) = header::check(name, Wanted::ForUpstream, &key, findings) else {
            continue;
        };
        if headers.iter().any(|(other, _)| *other == header) {
            let sentence = "stands twice: case makes no difference in names of headers";
            findings.problem(&key, sentence, "keep one of them");
            continue;
        }
        let secret = secret::check(text, Literal::Fine, &key, origin, findings);
        let value = secret.and_then(|secret| header_value(&secret, "", &key, findings));
        headers.extend(value.map(|value| (header, value)));
    }
    headers
}

/// The value of a header; what is wrong with it is said without showing it.
fn header_value(
    secret: &Secret,
    before: &str,
    key: &KeyPath,
    findings: &mut Findings,
) -> Option<Secret> {
    let text = secret.reveal();
    if !before.is_empty()
        && text.get(..before.len()).is_some_and(|s| s.eq_ignore_ascii_case(before))
    {
        let sentence = format!("begins with `{before}`, which plugway adds itself");
        findings.problem(key, sentence, "write the token alone");
        return None;
    }
    let is_plain = text.trim() == text && text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    let value = [before, text].concat();
    if !is_plain || HeaderValue::from_str(&value).is_err() {
        let sentence = "is no value of a header: it has line ends, spaces around it, or characters \
                        that are not ASCII";
        findings.problem(key, sentence, "write the value alone, on one line");
        return None;
    }
    Some(Secret::new(value))
}
