//! Who may come in.

use std::sync::Arc;

use http::HeaderValue;

use crate::auth::{Static, refusal};
use crate::fault::Fault;
use crate::pipeline::Caller;
use crate::pipeline::port::Authenticator as _;
use crate::transport::Site;

/// The scope that may administer.
pub const SCOPE: &str = "plugway:admin";

/// Lets in who shows the token of local use, or a credential of a caller with the scope.
#[derive(Debug)]
pub struct Gate {
    /// Knows the token of local use, where there is one.
    pub local: Option<Static>,
}

/// Who was not let in, as far as that is known, and why.
#[derive(Debug)]
pub struct Refused {
    /// The caller.
    pub who: Option<Arc<Caller>>,
    /// Why.
    pub fault: Fault,
}

impl Gate {
    /// The administrator that this credential stands for. Callers are those that the site identifies now.
    pub async fn admit(
        &self,
        site: &Site,
        authorization: Option<&HeaderValue>,
    ) -> Result<Arc<Caller>, Refused> {
        let nobody = |fault| Refused { who: None, fault };
        let mut refused = refusal::missing();
        if let Some(local) = &self.local {
            match local.authenticate(authorization).await {
                Ok(Some(caller)) => return Ok(caller),
                Ok(None) => return Err(nobody(refused)),
                Err(fault) => refused = fault,
            }
        }
        let Some(auth) = &site.auth else { return Err(nobody(refused)) };
        let caller = match auth.authenticate(authorization).await {
            Ok(Some(caller)) => caller,
            Ok(None) => return Err(nobody(refused)),
            Err(fault) => return Err(nobody(fault)),
        };
        if caller.scopes.iter().any(|scope| **scope == *SCOPE) {
            return Ok(caller);
        }
        Err(Refused { who: Some(caller), fault: refusal::forbidden(SCOPE) })
    }
}
