//! Tokens that can be recognised and not read.

use std::collections::HashMap;
use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::fault::{Code, Fault};

type Digest = [u8; 32];

/// What stands for each token. Kept are HMAC-SHA256 digests under a random key of this table alone, so that a dump of
/// memory holds no token.
///
/// A token is found through the first bytes of its digest rather than by a look at every entry, so that the time does
/// not grow with the table. What that time could tell is about a digest under a key that nobody outside has; the rest of
/// the digest is compared in constant time.
pub struct Tokens<T> {
    keyed: Hmac<Sha256>,
    entries: HashMap<u64, Vec<(Digest, T)>>,
}

impl<T> Tokens<T> {
    /// An empty table under a fresh key.
    pub fn new() -> Result<Self, Fault> {
        let mut key = [0; 32];
        let no_key =
            |why: String| Fault::new(Code::Internal, "The system has no randomness.").because(why);
        getrandom::fill(&mut key).map_err(|error| no_key(error.to_string()))?;
        let keyed = Hmac::new_from_slice(&key).map_err(|error| no_key(error.to_string()))?;
        Ok(Self { keyed, entries: HashMap::new() })
    }

    /// Takes a token in; gives the value back where the token is there already.
    pub fn insert(&mut self, token: &[u8], value: T) -> Result<(), T> {
        if self.find(token).is_some() {
            return Err(value);
        }
        let digest = self.digest(token);
        self.entries.entry(start(&digest)).or_default().push((digest, value));
        Ok(())
    }

    /// What the token stands for.
    pub fn find(&self, token: &[u8]) -> Option<&T> {
        let digest = self.digest(token);
        let alike = self.entries.get(&start(&digest))?;
        alike.iter().find(|(own, _)| bool::from(own.ct_eq(&digest))).map(|(_, value)| value)
    }

    fn digest(&self, token: &[u8]) -> Digest {
        let mut mac = self.keyed.clone();
        mac.update(token);
        mac.finalize().into_bytes().into()
    }
}

fn start(digest: &Digest) -> u64 {
    digest.first_chunk().copied().map_or(0, u64::from_le_bytes)
}

impl<T> fmt::Debug for Tokens<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("len", &self.entries.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Tokens;

    #[test]
    fn a_token_is_found_by_all_of_its_bytes_and_nothing_else_is() {
        let mut tokens = Tokens::new().unwrap();
        for (number, token) in ["alpha", "alph", "beta", "\u{e9}"].into_iter().enumerate() {
            tokens.insert(token.as_bytes(), number).unwrap();
        }
        assert_eq!(tokens.insert(b"beta", 9), Err(9), "there already");
        for (token, expected) in [
            ("alpha", Some(0)),
            ("alph", Some(1)),
            ("beta", Some(2)),
            ("\u{e9}", Some(3)),
            ("alphaa", None),
            ("Alpha", None),
            ("", None),
        ] {
            assert_eq!(tokens.find(token.as_bytes()).copied(), expected, "{token}");
        }
    }

    #[test]
    fn no_token_is_shown() {
        let mut tokens = Tokens::new().unwrap();
        tokens.insert(b"hunter2", ()).unwrap();
        assert!(!format!("{tokens:?}").contains("hunter2"));
    }
}
