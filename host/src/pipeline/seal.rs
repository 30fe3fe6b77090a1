//! Seals what plugway gives to a client and takes back later: cursors, states, ids of tasks. A client can neither read it
//! nor change it, and it means something only together with what it was sealed about.

use std::fmt;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use subtle::ConstantTimeEq as _;

use crate::fault::{Code, Fault};

/// Bytes of a tag: nobody finds one by trying.
const TAG: usize = 16;

/// Keys that are made at their first use and live as long as the process (RFC 8439, RFC 2104).
#[derive(Default)]
pub struct Sealer {
    key: OnceLock<LessSafeKey>,
    mark: OnceLock<Box<str>>,
    tagging: OnceLock<hmac::Key>,
}

impl Sealer {
    /// The sealed form of `content`, in letters that any JSON string, header and URL can hold. Only who names the same
    /// things in `about`, in the same order, opens it.
    pub fn seal(&self, about: &[&str], content: &[u8]) -> Result<String, Fault> {
        let mut nonce = [0; NONCE_LEN];
        random(&mut nonce)?;
        let mut sealed = content.to_vec();
        let aad = Aad::from(joined(about));
        let tag = self
            .key()?
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)
            .map_err(failed)?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce, &*sealed, tag.as_ref()].concat()))
    }

    /// What was sealed; none when it was not sealed here, or about something else.
    pub fn open(&self, about: &[&str], sealed: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut content = sealed.to_vec();
        let aad = Aad::from(joined(about));
        let opened = self.key().ok()?.open_in_place(nonce, aad, &mut content).ok()?.len();
        content.truncate(opened);
        Some(content)
    }

    /// What this sealer puts before what could be taken for somebody else's: no other sealer has it.
    pub fn mark(&self) -> Result<&str, Fault> {
        if let Some(mark) = self.mark.get() {
            return Ok(mark);
        }
        let mut bytes = [0; 12];
        random(&mut bytes)?;
        let mark = format!("plugway.{}.", URL_SAFE_NO_PAD.encode(bytes));
        Ok(self.mark.get_or_init(|| mark.into()))
    }

    /// A short text that nobody else can make about these things, and that is always the same.
    pub fn tag(&self, about: &[&str]) -> Result<String, Fault> {
        let key = if let Some(key) = self.tagging.get() {
            key
        } else {
            let mut bytes = [0; 32];
            random(&mut bytes)?;
            self.tagging.get_or_init(|| hmac::Key::new(hmac::HMAC_SHA256, &bytes))
        };
        let tag = hmac::sign(key, &joined(about));
        Ok(URL_SAFE_NO_PAD.encode(tag.as_ref().get(..TAG).unwrap_or_default()))
    }

    /// Whether the tag was made about these things here.
    pub fn is_tag(&self, about: &[&str], tag: &str) -> bool {
        self.tag(about).is_ok_and(|own| own.as_bytes().ct_eq(tag.as_bytes()).into())
    }

    fn key(&self) -> Result<&LessSafeKey, Fault> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        let mut bytes = [0; 32];
        random(&mut bytes)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(failed)?;
        Ok(self.key.get_or_init(|| LessSafeKey::new(key)))
    }
}

/// Each part behind its length, so that no two lists run together to the same bytes.
fn joined(about: &[&str]) -> Vec<u8> {
    let mut joined = Vec::new();
    for part in about {
        joined.extend_from_slice(&(part.len() as u64).to_le_bytes());
        joined.extend_from_slice(part.as_bytes());
    }
    joined
}

fn random(bytes: &mut [u8]) -> Result<(), Fault> {
    getrandom::fill(bytes).map_err(|error| {
        Fault::new(Code::Internal, "The system has no randomness.").because(error.to_string())
    })
}

fn failed(error: ring::error::Unspecified) -> Fault {
    Fault::new(Code::Internal, "Nothing can be sealed now.").because(error.to_string())
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(..)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Sealer;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn only_the_same_about_opens_it(
            content in prop::collection::vec(any::<u8>(), 0..64),
            about in prop::collection::vec("[ab]{0,2}", 1..4),
            other in prop::collection::vec("[ab]{0,2}", 1..4),
        ) {
            let sealer = Sealer::default();
            let about: Vec<&str> = about.iter().map(String::as_str).collect();
            let other: Vec<&str> = other.iter().map(String::as_str).collect();
            let sealed = sealer.seal(&about, &content).unwrap();
            prop_assert_eq!(sealer.open(&about, &sealed), Some(content));
            if about != other {
                prop_assert_eq!(sealer.open(&other, &sealed), None);
            }
            prop_assert_eq!(Sealer::default().open(&about, &sealed), None);
        }

        #[test]
        fn what_was_changed_or_made_up_does_not_open(text in "[A-Za-z0-9_-]{0,80}", at in any::<usize>()) {
            let sealer = Sealer::default();
            prop_assert_eq!(sealer.open(&["a"], &text), None);
            let sealed = sealer.seal(&["a"], b"content").unwrap();
            let mut bytes = sealed.into_bytes();
            let at = at % bytes.len();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            // The last letter may hold bits that mean nothing.
            if at + 1 < changed.len() {
                prop_assert_eq!(sealer.open(&["a"], &changed), None);
            }
        }
    }
}
