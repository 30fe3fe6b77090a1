//! JSON Web Tokens (RFC 7519): three parts, of which the first says how the token is signed; five where it is encrypted (RFC
//! 7516).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Hit;
use super::bytes::{Text, is_base64url};
use crate::kind::Kind;

/// Longest first part that is read.
const HEADER_MAX: usize = 8 << 10;
/// Parts of an encrypted one.
const PARTS_MAX: usize = 5;

#[derive(Deserialize)]
struct Header {
    #[serde(rename = "alg")]
    _alg: IgnoredAny,
}

/// `at` is the J of `eyJ`, with which every JSON object begins in Base64 that begins with a quote.
pub(super) fn at_capital_j(text: Text<'_>, at: usize) -> Option<Hit> {
    let start = at.checked_sub(2)?;
    // Underscore and dash are of the alphabet: a part is looked at once only.
    if !text.until(at).ends_with(b"ey")
        || !text.begins(start)
        || matches!(text.before(start, 1), b'_' | b'-')
    {
        return None;
    }
    let header = text.run(start, is_base64url);
    if text.at(header) != b'.' || header - start > HEADER_MAX {
        return None;
    }
    let payload = text.run(header + 1, is_base64url);
    if text.at(payload) != b'.' {
        return None;
    }
    let json = URL_SAFE_NO_PAD.decode(text.part(start, header)).ok()?;
    serde_json::from_slice::<Header>(&json).ok()?;
    let mut end = payload;
    for _ in 2..PARTS_MAX {
        if text.at(end) != b'.' {
            break;
        }
        end = text.run(end + 1, is_base64url);
    }
    Some(Hit { start, end, kind: Kind::Jwt })
}
