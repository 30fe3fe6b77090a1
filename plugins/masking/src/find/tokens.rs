//! Keys and tokens that begin with a word of whoever issues them. The formats are those that the issuers publish or that their
//! tools print; lengths are lower bounds where the issuer says that tokens may grow.

use super::Hit;
use super::bytes::{Text, is_alphanumeric, is_base64, is_base64url};
use crate::kind::Kind;

/// Names of tokens at GitLab, "Token overview": <https://docs.gitlab.com/security/tokens/#token-prefixes>.
const GITLAB: [&[u8]; 14] = [
    b"glpat", b"gloas", b"gldt", b"glrt", b"glrtr", b"glcbt", b"glptt", b"glft", b"glimt",
    b"glagent", b"glwt", b"glsoat", b"glffct", b"glrmr",
];
/// Kinds of keys at `OpenAI` that say more than `sk-`: <https://platform.openai.com/api-keys>.
const OPENAI: [&[u8]; 4] = [b"proj-", b"svcacct-", b"admin-", b"None-"];
/// What the middle of their keys says: their name in Base64.
const OPENAI_MIDDLE: &[u8] = b"T3BlbkFJ";

/// How many bytes of which class there are behind the word of a token.
#[derive(Clone, Copy)]
struct Shape(usize, fn(u8) -> bool, Kind);

/// `ghp_`, `github_pat_`, `sk_live_`, `whsec_`, `npm_`: `at` is the first underscore.
pub(super) fn at_underscore(text: Text<'_>, at: usize) -> Option<Hit> {
    let before = text.until(at);
    // <https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/>
    if let [.., b'g', b'h', b'p' | b'o' | b'u' | b's' | b'r'] = before {
        return token(text, at - 3, at + 1, Shape(36, is_word, Kind::Github));
    }
    if before.ends_with(b"github") && text.from(at).starts_with(b"_pat_") {
        return token(text, at - 6, at + 5, Shape(60, is_word, Kind::Github));
    }
    // <https://docs.stripe.com/keys>
    if let [.., b's' | b'r', b'k'] = before {
        let after = text.from(at);
        if after.starts_with(b"_live_") || after.starts_with(b"_test_") {
            return token(text, at - 2, at + 6, Shape(16, is_alphanumeric, Kind::Stripe));
        }
    }
    if before.ends_with(b"whsec") {
        let class = |byte| is_base64(byte) || byte == b'=';
        return token(text, at - 5, at + 1, Shape(24, class, Kind::Stripe));
    }
    // <https://github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format/>
    if before.ends_with(b"npm") {
        return token(text, at - 3, at + 1, Shape(36, is_alphanumeric, Kind::Npm));
    }
    None
}

/// `xoxb-`, `glpat-`, `sk-`, `GOCSPX-`: `at` is the first dash.
pub(super) fn at_dash(text: Text<'_>, at: usize) -> Option<Hit> {
    let before = text.until(at);
    if let [.., b's', b'k'] = before {
        return secret_key(text, at);
    }
    // <https://docs.slack.dev/authentication/tokens/>
    let class = |byte| is_alphanumeric(byte) || byte == b'-';
    if let [.., b'x', b'o', b'x', b'a' | b'b' | b'c' | b'd' | b'e' | b'o' | b'p' | b'r' | b's'] =
        before
    {
        return drawn(text, at - 4, at + 1, Shape(16, class, Kind::Slack));
    }
    if before.ends_with(b"xapp") {
        return drawn(text, at - 4, at + 1, Shape(20, class, Kind::Slack));
    }
    if before.ends_with(b"GOCSPX") {
        return token(text, at - 6, at + 1, Shape(28, is_base64url, Kind::Google));
    }
    let word = GITLAB.iter().find(|word| before.ends_with(word))?;
    let mut hit = token(text, at - word.len(), at + 1, Shape(20, is_base64url, Kind::Gitlab))?;
    // Routable tokens end with their length and a checksum: `.01.0123456789`.
    for _ in 0..2 {
        let end = text.run(hit.end + 1, is_alphanumeric);
        if text.at(hit.end) == b'.' && (2..=12).contains(&(end - hit.end - 1)) {
            hit.end = end;
        }
    }
    Some(hit)
}

/// `sk-ant-..` of Anthropic (<https://docs.claude.com/en/api/overview>), and what begins with `sk-` at `OpenAI`.
fn secret_key(text: Text<'_>, at: usize) -> Option<Hit> {
    let (start, after) = (at.checked_sub(2)?, text.from(at + 1));
    if after.starts_with(b"ant-") {
        return token(text, start, at + 5, Shape(32, is_base64url, Kind::Anthropic));
    }
    if let Some(word) = OPENAI.iter().find(|word| after.starts_with(word)) {
        return drawn(text, start, at + 1 + word.len(), Shape(32, is_base64url, Kind::Openai));
    }
    let has_middle = |hit: &Hit| {
        let whole = text.part(hit.start, hit.end);
        whole.len() >= 48 || memchr::memmem::find(whole, OPENAI_MIDDLE).is_some()
    };
    drawn(text, start, at + 1, Shape(32, is_alphanumeric, Kind::Openai)).filter(has_middle)
}

/// `AKIA..` and `ASIA..` of AWS, `AIza..` of Google: `at` is the I.
pub(super) fn at_capital_i(text: Text<'_>, at: usize) -> Option<Hit> {
    // <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids>
    if let (b'A', b'K' | b'S', b'A') = (text.before(at, 2), text.before(at, 1), text.at(at + 1)) {
        let start = at.checked_sub(2)?;
        let class = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        return exact(text, start, Shape(20, class, Kind::Aws), is_word);
    }
    // <https://docs.cloud.google.com/docs/authentication/api-keys>
    if text.before(at, 1) == b'A' && text.from(at + 1).starts_with(b"za") {
        let start = at.checked_sub(1)?;
        // Base64 may hold the same letters by chance.
        let more = |byte| is_base64url(byte) || is_base64(byte);
        let is_inside = matches!(text.before(start, 1), b'/' | b'+');
        let found = exact(text, start, Shape(39, is_base64url, Kind::Google), more);
        return found.filter(|_| !is_inside);
    }
    None
}

/// A token from `start` whose own part begins at `own` and has at least so many bytes. The rest is looked at only where it is
/// one, so that no part of a text is looked at often.
fn token(text: Text<'_>, start: usize, own: usize, shape: Shape) -> Option<Hit> {
    let Shape(least, class, kind) = shape;
    let head = text.part(own, own + least);
    let fits = head.len() == least && head.iter().all(|byte| class(*byte)) && text.begins(start);
    fits.then(|| Hit { start, end: text.run(own, class), kind })
}

/// The same for words that also begin other names: what was drawn by chance has a digit or a capital
/// letter, words have none.
fn drawn(text: Text<'_>, start: usize, own: usize, shape: Shape) -> Option<Hit> {
    let head = text.part(own, own + shape.0);
    let is_drawn = head.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    if is_drawn { token(text, start, own, shape) } else { None }
}

/// A token of exactly so many bytes, behind which no `more` stands.
fn exact(text: Text<'_>, start: usize, shape: Shape, more: fn(u8) -> bool) -> Option<Hit> {
    let Shape(length, class, kind) = shape;
    let end = start + length;
    let whole = text.part(start, end);
    let fits = whole.len() == length && whole.iter().all(|byte| class(*byte));
    (fits && !more(text.at(end)) && text.begins(start)).then_some(Hit { start, end, kind })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
