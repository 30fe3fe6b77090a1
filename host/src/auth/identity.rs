//! What makes a caller the same caller.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::hex::hex;
use crate::pipeline::Caller;

/// The parts of an identity. Two callers are one exactly when all of them are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    /// How the caller was identified: the mode, or the operator's name for a realm.
    pub realm: &'a str,
    /// Who vouches for it.
    pub issuer: Option<&'a str>,
    /// Whom the credential stands for.
    pub subject: Option<&'a str>,
    /// The OAuth client.
    pub client: Option<&'a str>,
    /// The tenant.
    pub tenant: Option<&'a str>,
}

impl Identity<'_> {
    /// The caller's id: SHA-256 over the parts, in hexadecimal digits. Nothing of a token goes into it.
    pub fn id(&self) -> Arc<str> {
        digest(&self.encoded())
    }

    /// The parts, each behind a byte that says whether it is there and eight that say how long it is: no two tuples
    /// have the same bytes.
    fn encoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in [Some(self.realm), self.issuer, self.subject, self.client, self.tenant] {
            put(&mut bytes, part);
        }
        bytes
    }
}

/// The key of what a caller sees: its id, and what it may do now. Two tokens of one caller may differ in that.
pub fn rights(caller: &Caller) -> Arc<str> {
    let mut bytes = Vec::new();
    put(&mut bytes, Some(&caller.id));
    let mut scopes: Vec<&str> = caller.scopes.iter().map(|scope| &**scope).collect();
    scopes.sort_unstable();
    scopes.dedup();
    bytes.extend_from_slice(&(scopes.len() as u64).to_le_bytes());
    for scope in scopes {
        put(&mut bytes, Some(scope));
    }
    for (name, claim) in &caller.claims {
        put(&mut bytes, Some(name));
        put(&mut bytes, Some(claim));
    }
    digest(&bytes)
}

fn put(bytes: &mut Vec<u8>, part: Option<&str>) {
    bytes.push(u8::from(part.is_some()));
    if let Some(part) = part {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
}

fn digest(bytes: &[u8]) -> Arc<str> {
    hex(&Sha256::digest(bytes)).into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{Identity, rights};
    use crate::pipeline::Caller;

    /// Short texts out of few letters: most likely to be taken for each other.
    fn part() -> impl Strategy<Value = Option<String>> {
        prop::option::of("[ab\u{0}\u{1}]{0,3}")
    }

    type Parts = (String, Option<String>, Option<String>, Option<String>, Option<String>);

    fn identity(parts: &Parts) -> Identity<'_> {
        let (realm, issuer, subject, client, tenant) = parts;
        Identity {
            realm,
            issuer: issuer.as_deref(),
            subject: subject.as_deref(),
            client: client.as_deref(),
            tenant: tenant.as_deref(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn ids_are_equal_exactly_where_the_tuples_are(
            one in ("[ab]{0,2}", part(), part(), part(), part()),
            other in ("[ab]{0,2}", part(), part(), part(), part()),
        ) {
            let (one, other) = (identity(&one), identity(&other));
            prop_assert_eq!(one == other, one.encoded() == other.encoded());
            prop_assert_eq!(one == other, one.id() == other.id());
        }

        #[test]
        fn moving_a_letter_to_the_next_part_is_another_caller(
            text in "[ab]{2,6}", cut in 1_usize..5, more in 0_usize..5,
        ) {
            let cut = cut.min(text.len() - 1);
            let other = (cut + more + 1).min(text.len());
            let of = |at: usize| {
                let (subject, client) = text.split_at(at);
                Identity { realm: "r", issuer: None, subject: Some(subject), client: Some(client), tenant: None }.id()
            };
            prop_assert_ne!(of(cut), of(other));
        }
    }

    #[test]
    fn rights_differ_with_scopes_and_claims_and_not_with_their_order() {
        let caller = |scopes: &[&str], claims: &[(&str, &str)]| {
            let mut caller = Caller::anonymous("c");
            caller.scopes = scopes.iter().map(|scope| Arc::from(*scope)).collect();
            caller.claims = claims.iter().map(|(k, v)| (Arc::from(*k), Arc::from(*v))).collect();
            rights(&caller)
        };
        assert_eq!(caller(&["a", "b"], &[]), caller(&["b", "a", "a"], &[]));
        let all = [
            caller(&[], &[]),
            caller(&["a"], &[]),
            caller(&["ab"], &[]),
            caller(&["a", "b"], &[]),
            caller(&[], &[("a", "b")]),
            caller(&["a"], &[("a", "b")]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all.iter().skip(at + 1).all(|other| one != other), "{at}");
        }
    }
}
