//! The map of tokens: `{TOKEN: {client_id, scopes, tenant_id, expires_at}}`. No sentence shows a token, nor anything
//! that could be one because it stands in the wrong place: entries are counted instead.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::date;
use super::findings::Findings;
use crate::config::key::KeyPath;
use crate::config::secret::Secret;
use crate::config::settings::StaticToken;
use crate::config::tree::{Member, Node, Value};

/// Tokens in one map.
const MAX_TOKENS: usize = 10_000;
/// A shorter token can be guessed; a longer one is no token.
const TOKEN_LENGTHS: std::ops::RangeInclusive<usize> = 16..=4096;
/// Longest name of a client, a tenant or a scope.
const LONGEST_NAME: usize = 256;
/// Scopes of one token.
const MAX_SCOPES: usize = 128;
/// Problems that are said of one map.
const MAX_PROBLEMS: usize = 20;
const SHAPE: &str =
    "write `{TOKEN: {client_id: NAME, scopes: [..], tenant_id: NAME, expires_at: DATE}}`";

/// The tokens in a text of JSON or YAML; none where something is wrong with them.
pub(super) fn parse(
    text: &str,
    key: &KeyPath,
    findings: &mut Findings,
) -> Option<Vec<StaticToken>> {
    let node = match Node::parse(text) {
        Ok(node) => node,
        Err(problem) => {
            // The sentence of the parser may quote a token.
            let line = problem.place.map_or(String::new(), |at| format!(" (line {})", at.line));
            let sentence = format!("is neither JSON nor YAML, or has a token twice{line}");
            findings.problem(key, sentence, SHAPE);
            return None;
        }
    };
    let Value::Map(members) = &node.value else {
        findings.problem(key, "is no map of tokens", SHAPE);
        return None;
    };
    if members.is_empty() || members.len() > MAX_TOKENS {
        let sentence = format!("holds {} tokens, but must hold 1 to {MAX_TOKENS}", members.len());
        findings.problem(key, sentence, SHAPE);
        return None;
    }
    let mut tokens = Vec::with_capacity(members.len());
    let mut wrong = 0;
    for (index, member) in members.iter().enumerate() {
        match token(member) {
            Ok(token) => {
                warn_of_end(&token, index, key, findings);
                tokens.push(token);
            }
            Err(sentence) => {
                wrong += 1;
                if wrong <= MAX_PROBLEMS {
                    let sentence = format!("has an entry, number {}, that {sentence}", index + 1);
                    findings.problem(key, sentence, SHAPE);
                }
            }
        }
    }
    (wrong == 0).then_some(tokens)
}

fn warn_of_end(token: &StaticToken, index: usize, key: &KeyPath, findings: &mut Findings) {
    if token.expires_at.is_some_and(|end| end <= SystemTime::now()) {
        let client = &token.client_id;
        let sentence = format!("has an entry, number {}, of `{client}`, that ended", index + 1);
        findings.warning(key, sentence, "take it out, or give it another `expires_at`");
    }
}

fn token(member: &Member) -> Result<StaticToken, String> {
    let token = member.key.as_str();
    if !TOKEN_LENGTHS.contains(&token.len()) {
        return Err("has a token of fewer than 16 or more than 4096 characters".to_owned());
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("has a token with spaces or characters that no header carries".to_owned());
    }
    let Value::Map(members) = &member.node.value else {
        return Err("has no set of keys after its token".to_owned());
    };
    let (mut client_id, mut scopes, mut tenant_id, mut expires_at) = (None, Vec::new(), None, None);
    for Member { key, node, .. } in members {
        match (key.as_str(), &node.value) {
            ("client_id", value) => client_id = Some(name(value, "client_id")?),
            ("tenant_id" | "scopes" | "expires_at", Value::Null) => {}
            ("tenant_id", value) => tenant_id = Some(name(value, "tenant_id")?),
            ("scopes", value) => scopes = scopes_of(value)?,
            ("expires_at", value) => expires_at = Some(end(value)?),
            _ => return Err("has a key that plugway does not know".to_owned()),
        }
    }
    let Some(client_id) = client_id else { return Err("has no `client_id`".to_owned()) };
    let token = Secret::new(token);
    Ok(StaticToken { token, client_id, scopes, tenant_id, expires_at })
}

fn name(value: &Value, key: &str) -> Result<Arc<str>, String> {
    match value {
        Value::Text(text)
            if (1..=LONGEST_NAME).contains(&text.len()) && !text.contains(char::is_control) =>
        {
            Ok(text.as_str().into())
        }
        Value::Unsigned(number) => Ok(number.to_string().into()),
        _ => Err(format!("has a `{key}` that is no text of 1 to {LONGEST_NAME} bytes")),
    }
}

/// A list of words, or a text of words with spaces between them.
fn scopes_of(value: &Value) -> Result<Vec<Arc<str>>, String> {
    let wrong = || format!("has `scopes` that are no list of at most {MAX_SCOPES} words");
    let word = |word: &str| {
        let fits = (1..=LONGEST_NAME).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Arc::from(word))
    };
    let scopes: Option<Vec<Arc<str>>> = match value {
        Value::Text(text) => text.split_ascii_whitespace().map(word).collect(),
        Value::List(items) => items
            .iter()
            .map(|item| match &item.node.value {
                Value::Text(text) => word(text),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    scopes.filter(|scopes| scopes.len() <= MAX_SCOPES).ok_or_else(wrong)
}

/// Seconds since 1970, or a date of RFC 3339.
fn end(value: &Value) -> Result<SystemTime, String> {
    let seconds = match value {
        Value::Unsigned(seconds) => Some(*seconds),
        Value::Text(text) => date::seconds(text),
        _ => None,
    };
    // Far beyond any date, and within what a clock can hold.
    let seconds = seconds.filter(|seconds| *seconds <= date::LAST);
    seconds.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).ok_or_else(|| {
        "has an `expires_at` that is neither seconds since 1970 nor a date such as \
         2027-01-31T12:00:00Z"
            .to_owned()
    })
}
