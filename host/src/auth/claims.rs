//! A caller by what is claimed of it: the members of a token that was verified, or of a file that somebody wrote to try a
//! policy.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::identity::{self, Identity};
use crate::pipeline::Caller;

/// Claims of which no caller can be made: one sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unclear(&'static str);

/// The caller of these claims. `sub` is the subject, `client_id` (or `azp`) the client, `tenant` (or `tid`) the tenant, `scope`
/// scopes with blanks between them, `scopes` a list of them; every claim can be read by plugins that ask for it. No claims
/// at all are nobody: an anonymous caller.
pub fn caller(realm: &str, claims: &Map<String, Value>) -> Result<Caller, Unclear> {
    if claims.is_empty() {
        return Ok(Caller::anybody());
    }
    let issuer = text(claims, &["iss"])?;
    let client = text(claims, &["client_id", "azp"])?;
    let tenant = text(claims, &["tenant", "tid"])?;
    let subject = text(claims, &["sub"])?
        .or(client)
        .ok_or(Unclear("the claims name neither `sub` nor `client_id`"))?;
    let identity = Identity { realm, issuer, subject: Some(subject), client, tenant };
    let shown =
        tenant.map_or_else(|| subject.to_owned(), |tenant| format!("{subject} of {tenant}"));
    let mut caller = Caller {
        display: shown.into(),
        anonymous: false,
        tenant: tenant.map(Arc::from),
        client: client.map(Arc::from),
        scopes: scopes(claims)?,
        claims: claims
            .iter()
            .map(|(name, value)| (name.as_str().into(), value.to_string().into()))
            .collect(),
        ..Caller::anonymous(identity.id())
    };
    caller.rights = identity::rights(&caller);
    Ok(caller)
}

/// The first of these claims that is there.
fn text<'a>(claims: &'a Map<String, Value>, names: &[&str]) -> Result<Option<&'a str>, Unclear> {
    let found = names.iter().find_map(|name| claims.get(*name));
    match found {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
        Some(_) => Err(Unclear(
            "`iss`, `sub`, `client_id`, `azp`, `tenant` and `tid` are texts that are not empty",
        )),
    }
}

fn scopes(claims: &Map<String, Value>) -> Result<Vec<Arc<str>>, Unclear> {
    const WRONG: Unclear =
        Unclear("`scope` is a text with blanks between scopes, `scopes` a list of texts");
    let mut scopes: Vec<Arc<str>> = match claims.get("scope") {
        None => Vec::new(),
        Some(Value::String(text)) => text.split_ascii_whitespace().map(Arc::from).collect(),
        Some(_) => return Err(WRONG),
    };
    match claims.get("scopes") {
        None => {}
        Some(Value::Array(list)) => {
            for scope in list {
                scopes.push(scope.as_str().ok_or(WRONG)?.into());
            }
        }
        Some(_) => return Err(WRONG),
    }
    Ok(scopes)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Unclear, caller};
    use crate::pipeline::Caller;

    #[expect(clippy::needless_pass_by_value, reason = "tables are written with values")]
    fn of(claims: Value) -> Result<Caller, Unclear> {
        caller("r", claims.as_object().unwrap())
    }

    #[test]
    fn claims_make_a_caller() {
        let ann = of(json!({
            "sub": "ann", "azp": "cli", "tid": "t", "scope": "a b", "scopes": ["c"], "groups": ["g"],
        }))
        .unwrap();
        assert_eq!(&*ann.display, "ann of t");
        assert_eq!((ann.client.as_deref(), ann.tenant.as_deref()), (Some("cli"), Some("t")));
        assert_eq!(ann.scopes, ["a".into(), "b".into(), "c".into()]);
        assert_eq!(ann.claims.get("groups").map(|text| &**text), Some(r#"["g"]"#));
        assert!(!ann.anonymous);
        assert_ne!(ann.id, of(json!({"sub": "ann"})).unwrap().id);
        assert_eq!(of(json!({"client_id": "cli"})).unwrap().client.as_deref(), Some("cli"));
    }

    #[test]
    fn nobody_is_anonymous_and_half_an_identity_is_refused() {
        assert!(of(json!({})).unwrap().anonymous);
        for wrong in [
            json!({"scope": "a"}),
            json!({"sub": 1}),
            json!({"sub": ""}),
            json!({"sub": "a", "tenant": []}),
            json!({"sub": "a", "scope": ["a"]}),
            json!({"sub": "a", "scopes": "a"}),
            json!({"sub": "a", "scopes": [1]}),
        ] {
            assert!(of(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
