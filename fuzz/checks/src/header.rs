//! Values in headers.

use http::HeaderValue;
use plugway::protocol::header::{decode, encode};

/// Whatever the text, it travels in a header and comes back; whatever the header, it is read without harm.
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let encoded = encode(&text);
    assert_eq!(decode(&encoded).as_deref(), Some(&*text));
    let value = HeaderValue::from_str(&encoded);
    assert!(value.is_ok_and(|value| value.to_str().is_ok()), "{encoded:?}");
    assert_eq!(encoded.trim(), encoded, "nobody on the way trims it");
    if let Some(decoded) = decode(&text) {
        assert!(decoded.len() <= text.len());
    }
}
