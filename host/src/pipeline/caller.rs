//! Who calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderValue;

use super::purse;

/// The identity that was established for a request. A session binds to it, never to a token's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Opaque and collision-free: a hash over (realm, issuer, subject, client, tenant).
    pub id: Arc<str>,
    /// The key of what it may see and do now: as [`Caller::id`], over scopes and claims besides.
    pub rights: Arc<str>,
    /// Readable form for logs and messages.
    pub display: Arc<str>,
    /// Whether nobody was identified.
    pub anonymous: bool,
    /// Tenant, where the identity has one.
    pub tenant: Option<Arc<str>>,
    /// OAuth client, where the identity has one.
    pub client: Option<Arc<str>>,
    /// Granted scopes.
    pub scopes: Vec<Arc<str>>,
    /// Verified claims, as JSON text by name.
    pub claims: BTreeMap<Arc<str>, Arc<str>>,
    /// Of one whom nobody identified: what stands for the credential that it began with.
    pub purse: Option<Arc<str>>,
}

/// What all requests of the modern era are called that nobody was identified for.
const ANYBODY: &str = "anonymous";

impl Caller {
    /// Whoever sends a request of the modern era without identity: all of them are one.
    pub fn anybody() -> Self {
        Self::anonymous(ANYBODY)
    }

    /// Whether it may be many people.
    pub fn is_anybody(&self) -> bool {
        self.anonymous && &*self.id == ANYBODY
    }

    /// Nobody in particular. `id` tells apart whom plugway can tell apart: a legacy session; all modern requests
    /// without identity are one caller.
    pub fn anonymous(id: impl Into<Arc<str>>) -> Self {
        let id = id.into();
        Self {
            rights: id.clone(),
            id,
            display: "anonymous".into(),
            anonymous: true,
            tenant: None,
            client: None,
            scopes: Vec::new(),
            claims: BTreeMap::new(),
            purse: None,
        }
    }

    /// The same, with a credential for servers that is its own.
    #[must_use]
    pub fn with_credential(self, credential: Option<&HeaderValue>) -> Self {
        Self { purse: credential.and_then(purse::of), ..self }
    }

    /// What stands for it where servers say what they offer to callers only; none for somebody without a credential.
    pub(super) fn lender(&self) -> Option<&Arc<str>> {
        if self.anonymous { self.purse.as_ref() } else { Some(&self.id) }
    }
}
