//! E-mail addresses, as people write them: a part of RFC 5321. Quoted names, addresses of numbers and names of hosts without a
//! dot or in other scripts are not found.

use super::Hit;
use super::bytes::Text;
use crate::kind::Kind;

/// Longest local part and longest domain (RFC 5321, 4.5.3.1).
const LOCAL_MAX: usize = 64;
const DOMAIN_MAX: usize = 255;
/// Longest part of a domain (RFC 1035).
const LABEL_MAX: usize = 63;
/// What stands at the end of names of files, of units and of hosts, and at the end of no domain: `icon@2x.png`, `getty@tty1.service`.
const NO_DOMAINS: [&[u8]; 25] = [
    b"service", b"socket", b"timer", b"mount", b"ico", b"map", b"local", b"png", b"jpg", b"jpeg",
    b"gif", b"svg", b"webp", b"avif", b"bmp", b"css", b"html", b"js", b"json", b"tsx", b"jsx",
    b"xml", b"yaml", b"yml", b"txt",
];

/// `at` is the sign in the middle.
pub(super) fn at_sign(text: Text<'_>, at: usize) -> Option<Hit> {
    let local = text.until(at).iter().rev().take(LOCAL_MAX + 1).take_while(|byte| is_local(**byte));
    let local = local.count();
    if local > LOCAL_MAX {
        return None;
    }
    let mut start = at - local;
    // The ends of quotes and of sentences are not part of it, nor is the escape of a text within this one.
    while start < at && !text.at(start).is_ascii_alphanumeric() && text.at(start) != b'_' {
        start += 1;
    }
    if text.before(start, 1) == b'\\'
        && matches!(text.at(start), b'n' | b'r' | b't')
        && start + 1 < at
    {
        start += 1;
    }
    let own = text.part(start, at);
    if own.is_empty() || own.ends_with(b".") || memchr::memmem::find(own, b"..").is_some() {
        return None;
    }
    let end = domain(text, at + 1)?;
    // `git@github.com:owner/name` is an address of another sort.
    let is_remote = own == b"git" && matches!(text.at(end), b':' | b'/');
    (!is_remote).then_some(Hit { start, end, kind: Kind::Email })
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'' | b'&' | b'~' | b'!')
}

/// Where the domain ends that begins there: the longest one whose last part is a name.
fn domain(text: Text<'_>, start: usize) -> Option<usize> {
    let mut end = None;
    let mut at = start;
    loop {
        let next = text.run(at, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let label = text.part(at, next);
        let trimmed = label.len() - label.iter().rev().take_while(|byte| **byte == b'-').count();
        if trimmed == 0 || trimmed > LABEL_MAX || label.starts_with(b"-") {
            return end;
        }
        if at > start && is_top(label.get(..trimmed).unwrap_or_default()) {
            end = Some(at + trimmed);
        }
        if trimmed < label.len() || text.at(next) != b'.' || next + 1 - start > DOMAIN_MAX {
            return end;
        }
        at = next + 1;
    }
}

fn is_top(label: &[u8]) -> bool {
    let lower = label.to_ascii_lowercase();
    let is_name =
        label.len() >= 2 && label.len() <= 24 && label.iter().all(u8::is_ascii_alphabetic);
    (is_name || lower.starts_with(b"xn--")) && !NO_DOMAINS.contains(&&*lower)
}
