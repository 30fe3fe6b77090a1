//! Who callers are, out of the settings.

use std::sync::Arc;
use std::time::SystemTime;

use super::error::StartError;
use crate::auth::Static;
use crate::config::Auth;
use crate::pipeline::port::Authenticator;

/// Keeps the clients of `auth: static` apart from clients of the same name that other ways may know.
const STATIC: &str = "static";

/// What identifies callers; none = nobody is identified.
pub(super) fn build(settings: &Auth) -> Result<Option<Arc<dyn Authenticator>>, StartError> {
    match settings {
        Auth::None => Ok(None),
        Auth::Static(tokens) => {
            let known = Static::new(STATIC, tokens, Box::new(SystemTime::now))?;
            Ok(Some(Arc::new(known)))
        }
    }
}
