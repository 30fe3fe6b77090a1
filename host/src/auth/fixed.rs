//! `auth: static`: tokens that the operator listed.

use std::fmt;
use std::future::ready;
use std::sync::Arc;
use std::time::SystemTime;

use http::HeaderValue;

use super::identity::{self, Identity};
use super::tokens::Tokens;
use super::{bearer, refusal};
use crate::config::StaticToken;
use crate::fault::Fault;
use crate::pipeline::Caller;
use crate::pipeline::port::{Authenticator, Promise};

/// The time of day: given by whoever owns the clock, so that expiry can be tested.
pub type WallClock = Box<dyn Fn() -> SystemTime + Send + Sync>;

/// Tokens that cannot be told apart, or cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// One token, twice.
    #[error(
        "one token stands for the client {one:?} and for the client {other:?}: give each its own"
    )]
    Same {
        /// A client.
        one: Arc<str>,
        /// Another one, or the same.
        other: Arc<str>,
    },
    /// An empty token, or one with spaces: no client can send it.
    #[error(
        "the token of the client {client:?} cannot stand in a header: it is empty or has spaces in it"
    )]
    Unsendable {
        /// The client.
        client: Arc<str>,
    },
    /// The system gave no randomness.
    #[error("{0}")]
    System(#[from] Fault),
}

/// Knows callers by their tokens.
pub struct Static {
    tokens: Tokens<Known>,
    clock: WallClock,
}

/// Whom a token stands for, and until when.
struct Known {
    caller: Arc<Caller>,
    until: Option<SystemTime>,
}

impl Static {
    /// Knows these tokens. `realm` keeps the clients of one list apart from clients of the same name elsewhere.
    pub fn new(realm: &str, listed: &[StaticToken], clock: WallClock) -> Result<Self, Unusable> {
        let mut tokens = Tokens::new()?;
        for entry in listed {
            let text = entry.token.reveal();
            if text.is_empty() || text.contains(|c: char| c.is_ascii_whitespace() || c.is_control())
            {
                return Err(Unusable::Unsendable { client: entry.client_id.clone() });
            }
            let known = Known { caller: Arc::new(caller(realm, entry)), until: entry.expires_at };
            if let Err(known) = tokens.insert(text.as_bytes(), known) {
                let one =
                    tokens.find(text.as_bytes()).and_then(|first| first.caller.client.clone());
                let other = known.caller.client.clone();
                return Err(Unusable::Same {
                    one: one.unwrap_or_default(),
                    other: other.unwrap_or_default(),
                });
            }
        }
        Ok(Self { tokens, clock })
    }

    fn caller(&self, authorization: &HeaderValue) -> Result<Arc<Caller>, Fault> {
        let Some(token) = bearer::token(authorization) else {
            return Err(refusal::invalid("it is no bearer token"));
        };
        let Some(known) = self.tokens.find(token) else {
            return Err(refusal::invalid("no such token"));
        };
        if known.until.is_some_and(|until| (self.clock)() >= until) {
            return Err(refusal::invalid("the token has expired"));
        }
        Ok(known.caller.clone())
    }
}

fn caller(realm: &str, entry: &StaticToken) -> Caller {
    let (client, tenant) = (entry.client_id.clone(), entry.tenant_id.clone());
    let identity = Identity {
        realm,
        issuer: None,
        subject: Some(&client),
        client: Some(&client),
        tenant: tenant.as_deref(),
    };
    let id = identity.id();
    let mut caller = Caller {
        display: entry.shown().into(),
        anonymous: false,
        tenant,
        client: Some(client),
        scopes: entry.scopes.clone(),
        ..Caller::anonymous(id)
    };
    caller.rights = identity::rights(&caller);
    caller
}

impl Authenticator for Static {
    fn authenticate<'a>(
        &'a self,
        authorization: Option<&'a HeaderValue>,
    ) -> Promise<'a, Result<Option<Arc<Caller>>, Fault>> {
        Box::pin(ready(authorization.map(|value| self.caller(value)).transpose()))
    }
}

impl fmt::Debug for Static {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Static").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, SystemTime};

    use futures_util::FutureExt as _;
    use http::HeaderValue;

    use super::{Static, Unusable};
    use crate::config::{Secret, StaticToken};
    use crate::fault::{Code, Fault};
    use crate::pipeline::Caller;
    use crate::pipeline::port::Authenticator as _;

    fn token(text: &str, client: &str, tenant: Option<&str>) -> StaticToken {
        StaticToken {
            token: Secret::new(text),
            client_id: client.into(),
            scopes: vec!["read".into()],
            tenant_id: tenant.map(Arc::from),
            expires_at: None,
        }
    }

    fn known(listed: &[StaticToken]) -> Result<Static, Unusable> {
        Static::new("static", listed, Box::new(SystemTime::now))
    }

    fn ask(known: &Static, value: Option<&str>) -> Result<Option<Arc<Caller>>, Fault> {
        let value = value.map(|value| HeaderValue::from_str(value).unwrap());
        known.authenticate(value.as_ref()).now_or_never().unwrap()
    }

    #[test]
    fn tokens_of_one_client_and_tenant_are_one_caller() {
        let listed = [
            token("old", "ann", None),
            StaticToken { scopes: vec!["write".into()], ..token("new", "ann", None) },
            token("other", "ann", Some("t")),
            token("bob", "bob", None),
        ];
        let known = known(&listed).unwrap();
        let of = |token: &str| ask(&known, Some(&format!("Bearer {token}"))).unwrap().unwrap();
        assert_eq!(of("old").id, of("new").id);
        assert_ne!(of("old").rights, of("new").rights, "they may see different things");
        assert_ne!(of("old").id, of("other").id);
        assert_ne!(of("old").id, of("bob").id);
        let caller = of("other");
        assert_eq!(caller.display, "ann of t".into());
        assert_eq!((caller.client.as_deref(), caller.tenant.as_deref()), (Some("ann"), Some("t")));
        assert!(!caller.anonymous && caller.scopes == ["read".into()]);
    }

    #[test]
    fn nobody_is_none_and_a_wrong_credential_never_is() {
        let known = known(&[token("secret", "ann", None)]).unwrap();
        assert_eq!(ask(&known, None).unwrap(), None);
        for value in ["Bearer wrong", "Bearer", "Bearer secrets", "Basic c2VjcmV0", "secret", ""] {
            let fault = ask(&known, Some(value)).unwrap_err();
            assert_eq!(fault.code(), Code::Unauthenticated, "{value}");
            assert_eq!(fault.challenge(), Some("Bearer error=\"invalid_token\""));
        }
        assert!(ask(&known, Some("bEaReR secret")).is_ok());
    }

    #[test]
    fn a_token_ends_at_its_time_and_is_then_like_one_that_never_was() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let now = Arc::new(AtomicU64::new(0));
        let seconds = now.clone();
        let clock = move || start + Duration::from_secs(seconds.load(Ordering::Relaxed));
        let entry = StaticToken {
            expires_at: Some(start + Duration::from_secs(10)),
            ..token("secret", "ann", None)
        };
        let known = Static::new("static", &[entry], Box::new(clock)).unwrap();
        let ask = |token: &str| ask(&known, Some(token));
        assert!(ask("Bearer secret").is_ok());
        now.store(9, Ordering::Relaxed);
        assert!(ask("Bearer secret").is_ok());
        now.store(10, Ordering::Relaxed);
        let (expired, unknown) = (ask("Bearer secret"), ask("Bearer wrong"));
        let (expired, unknown) = (expired.unwrap_err(), unknown.unwrap_err());
        assert_eq!(expired.public(), unknown.public());
        assert_eq!(expired.challenge(), unknown.challenge());
    }

    #[test]
    fn tokens_that_cannot_work_are_refused() {
        let twice = known(&[token("same", "ann", None), token("same", "bob", None)]);
        let text = twice.unwrap_err().to_string();
        assert!(
            text.contains("\"ann\"") && text.contains("\"bob\"") && !text.contains("same\""),
            "{text}"
        );
        for text in ["", "a b", "a\n"] {
            let refused = known(&[token(text, "ann", None)]);
            assert!(matches!(refused, Err(Unusable::Unsendable { .. })), "{text:?}");
        }
    }
}
