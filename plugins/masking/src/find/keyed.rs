//! Keys that nothing but the name in front of them gives away.

use super::Hit;
use super::bytes::{Text, is_base64};
use crate::kind::Kind;

/// So many quotes, spaces and the like may stand between a name and its value.
const BETWEEN_MAX: usize = 8;
/// A name is not longer than this, with dashes and underscores.
const NAME_MAX: usize = 64;
/// Names in lower case without dashes and underscores, of which one has to end with this, and whose key it is. A secret access
/// key has 40 characters (<https://docs.aws.amazon.com/IAM/latest/UserGuide/security-creds.html>), a key of Azure 32 or 64 bytes
/// in Base64 (<https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string>).
const NAMES: [(&[u8], Kind); 4] = [
    (b"secretaccesskey", Kind::Aws),
    (b"awssecretkey", Kind::Aws),
    (b"accountkey", Kind::Azure),
    (b"sharedaccesskey", Kind::Azure),
];

/// What a whole text is that stands under this name.
pub(super) fn under(key: &[u8], text: &[u8]) -> Option<Kind> {
    let kind = named(key)?;
    (value(Text(text), 0, kind)? == text.len()).then_some(kind)
}

/// `at` is an equals sign, a colon, or the percent sign of one.
pub(super) fn at_assignment(text: Text<'_>, at: usize) -> Option<Hit> {
    let after = match text.at(at) {
        b'%' if matches!(text.part(at + 1, at + 3), b"3D" | b"3d" | b"3A" | b"3a") => at + 3,
        b'%' => return None,
        _ => at + 1,
    };
    if text.until(at).ends_with(b"sig") {
        return signature(text, at - 3, after);
    }
    let until = text.until(at);
    let skipped = until.iter().rev().take(BETWEEN_MAX).take_while(|byte| is_between(**byte));
    let end = at - skipped.count();
    // Most colons end here.
    if !matches!(text.before(end, 1), b'y' | b'Y') {
        return None;
    }
    let kind = named(text.until(end))?;
    let skipped = text.from(after).iter().take(BETWEEN_MAX).take_while(|byte| is_between(**byte));
    let start = after + skipped.count();
    let end = value(text, start, kind)?;
    Some(Hit { start, end, kind })
}

fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'=' | b':' | b'>')
}

fn named(text: &[u8]) -> Option<Kind> {
    NAMES.iter().find_map(|(name, kind)| {
        let mut letters =
            text.iter().rev().take(NAME_MAX).filter(|byte| !matches!(byte, b'_' | b'-'));
        let is = name
            .iter()
            .rev()
            .all(|wanted| letters.next().is_some_and(|byte| byte.to_ascii_lowercase() == *wanted));
        is.then_some(*kind)
    })
}

/// Where the value ends that begins there; none where it cannot be such a key.
fn value(text: Text<'_>, start: usize, kind: Kind) -> Option<usize> {
    let end = text.run(start, is_base64);
    let padded = text.run(end, |byte| byte == b'=').min(end + 2);
    let fits = match kind {
        Kind::Aws => end - start == 40 && padded == end,
        _ => matches!(padded - start, 44 | 88),
    };
    fits.then_some(padded)
}

/// The signature of an address: 32 bytes in Base64, in which percent signs may stand
/// (<https://learn.microsoft.com/rest/api/storageservices/create-service-sas>).
fn signature(text: Text<'_>, name: usize, start: usize) -> Option<Hit> {
    if !text.begins(name) || matches!(text.before(name, 1), b'_' | b'-') {
        return None;
    }
    let (mut end, mut length) = (start, 0);
    while length < 45 {
        end += match text.at(end) {
            b'%' if text.part(end + 1, end + 3).iter().all(u8::is_ascii_hexdigit) => 3,
            b'%' => break,
            byte if is_base64(byte) || matches!(byte, b'=' | b'-' | b'_') => 1,
            _ => break,
        };
        length += 1;
    }
    (43..=44).contains(&length).then_some(Hit { start, end, kind: Kind::Azure })
}
