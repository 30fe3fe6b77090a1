//! What a client hears that is not let in. It is one sentence for every token that is not accepted, so that nobody
//! learns which ones there are or were.

use crate::fault::{Code, Fault};

/// There is no credential, and one is needed (RFC 6750, section 3.1: no error code then).
pub fn missing() -> Fault {
    let text = "This server needs a credential: send the header `Authorization: Bearer` with a token of its operator.";
    Fault::new(Code::Unauthenticated, text).with_challenge("Bearer")
}

/// There is one, and it is not accepted. `why` is for the log.
pub fn invalid(why: &'static str) -> Fault {
    let text = "The credential is not accepted here: ask the operator of this server for a token.";
    Fault::new(Code::Unauthenticated, text)
        .with_challenge("Bearer error=\"invalid_token\"")
        .because(why)
}

/// The caller may not do this. `scope` is what it lacks.
pub fn forbidden(scope: &str) -> Fault {
    let text = format!("This needs the scope {scope:?}, which the credential does not have.");
    Fault::new(Code::Forbidden, text)
        .with_challenge(format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\""))
}
