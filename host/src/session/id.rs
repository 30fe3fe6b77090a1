//! Session ids: opaque to the client, 128 random bits behind a version.

use std::fmt;

use crate::fault::{Code, Fault};

const PREFIX: &str = "v1.";

/// The name of a session. Knowing it is what makes a request part of the session, together with the caller.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(u128);

impl SessionId {
    /// A fresh id from the system's randomness.
    pub fn random() -> Result<Self, Fault> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).map_err(|error| {
            Fault::new(Code::Internal, "No session can be made now.").because(error.to_string())
        })?;
        Ok(Self(u128::from_le_bytes(bits)))
    }

    /// The id that a header names; none when no session can have that name.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let lower = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if digits.len() != 32 || !lower {
            return None;
        }
        u128::from_str_radix(digits, 16).ok().map(Self)
    }

    pub(super) fn bits(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{:032x}", self.0)
    }
}

/// Ids stay out of logs: whoever reads one can use it.
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::SessionId;

    #[test]
    fn an_id_reads_back_and_nothing_else_does() {
        let id = SessionId::random().unwrap();
        let text = id.to_string();
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic()));
        assert_eq!(SessionId::parse(&text), Some(id));
        for other in [
            "",
            "v1.",
            "v2.00000000000000000000000000000000",
            text.get(..34).unwrap(),
            &text.to_uppercase(),
        ] {
            assert_eq!(SessionId::parse(other), None, "{other}");
        }
    }
}
