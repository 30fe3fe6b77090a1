//! Names of sessions.

use plugway::session::SessionId;

/// Whatever is read as an id is written the same way: no session has two names.
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(id) = SessionId::parse(&text) {
        assert_eq!(id.to_string(), text);
    }
}
