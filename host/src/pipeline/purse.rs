//! What stands for a caller whom nobody identified, by the credential that it has for servers.

use std::sync::{Arc, OnceLock};

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderValue;
use sha2::Sha256;

use crate::hex::hex;

/// A keyed hash of a credential: the same for the same one as long as plugway runs, another one for any other, and of no use
/// to anybody else. None where the system has no randomness.
pub(super) fn of(credential: &HeaderValue) -> Option<Arc<str>> {
    static KEY: OnceLock<Option<[u8; 32]>> = OnceLock::new();
    let key = KEY.get_or_init(|| {
        let mut key = [0; 32];
        getrandom::fill(&mut key).is_ok().then_some(key)
    });
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_ref()?).ok()?;
    mac.update(credential.as_bytes());
    Some(format!("purse:{}", hex(&mac.finalize().into_bytes())).into())
}
