//! Other spellings of a URI that a server may take for the same (RFC 3986, section 6.2.2): who names what is forbidden must not
//! be passed by writing it in another way.

/// Schemes in which a host follows `//`. In others, which servers invent, a server may read a path there.
const HOSTED: [&str; 6] = ["http", "https", "ws", "wss", "ftp", "file"];

/// The URI with a scheme in small letters, escapes of unreserved characters decoded, the digits of others in capitals, and
/// without dot segments; none where that is how it is spelt, or it is no URI. Under a scheme of a server's own all that
/// follows `//` counts as a path.
pub fn normalised(uri: &str) -> Option<String> {
    spelt(uri, false).filter(|spelt| spelt != uri)
}

/// All spellings that differ from the URI: [`normalised`], and the one for which a host follows `//` whatever the scheme.
pub fn others(uri: &str) -> impl Iterator<Item = String> {
    let first = normalised(uri);
    let hosted = first.as_ref().and_then(|_| spelt(uri, true));
    let second = hosted.filter(|spelt| spelt != uri && Some(spelt) != first.as_ref());
    first.into_iter().chain(second)
}

fn spelt(uri: &str, hosted: bool) -> Option<String> {
    let (scheme, rest) = uri.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme {
        return None;
    }
    let decoded = decoded(rest);
    let end = decoded.find(['?', '#']).unwrap_or(decoded.len());
    let (path, tail) = decoded.split_at_checked(end)?;
    let scheme = scheme.to_ascii_lowercase();
    let (before, path) = match path.strip_prefix("//") {
        None => ("", path),
        Some(after) if hosted || HOSTED.contains(&&*scheme) => {
            let end = after.find('/').unwrap_or(after.len());
            path.split_at_checked(2 + end)?
        }
        Some(after) => ("//", after),
    };
    Some(format!("{scheme}:{before}{}{tail}", without_dots(path)))
}

/// Without dot segments (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let (root, path) = path.strip_prefix('/').map_or(("", path), |path| ("/", path));
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_dots = matches!(segment, "." | "..");
        if segment == ".." {
            kept.pop();
        }
        if !is_dots {
            kept.push(segment);
        } else if segments.peek().is_none() && !kept.is_empty() {
            // What ends in one is a folder.
            kept.push("");
        }
    }
    format!("{root}{}", kept.join("/"))
}

fn decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        let digits = after.get(..2).filter(|digits| !digits.starts_with('+')).unwrap_or_default();
        let Ok(byte) = u8::from_str_radix(digits, 16) else {
            decoded.push('%');
            rest = after;
            continue;
        };
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            decoded.push(char::from(byte));
        } else {
            decoded.push('%');
            decoded.push_str(&digits.to_ascii_uppercase());
        }
        rest = after.get(2..).unwrap_or_default();
    }
    decoded.push_str(rest);
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_one_normal_spelling() {
        for (uri, normal) in [
            ("notes://%70rivate/x", Some("notes://private/x")),
            ("notes://public/../private/x", Some("notes://private/x")),
            ("notes://public/%2E%2e/private/x", Some("notes://private/x")),
            ("notes://../../private/./x", Some("notes://private/x")),
            ("notes://a/b/..", Some("notes://a/")),
            ("NOTES://A/%2fb", Some("notes://A/%2Fb")),
            ("file:///srv/a/../b?x=/../y#%7e", Some("file:///srv/b?x=/../y#~")),
            ("https://host/../a", Some("https://host/a")),
            ("https://host/..", Some("https://host/")),
            ("urn:a:%62", Some("urn:a:b")),
            ("notes://a//b/", None),
            ("notes://a/...", None),
            ("notes://a/%2F%zz%é", None),
            ("notes://a%2", None),
            ("notes://a%+7b", None),
            ("notes://", None),
            ("clock_now", None),
            ("1:a/../b", None),
            ("", None),
        ] {
            assert_eq!(normalised(uri).as_deref(), normal, "{uri}");
            let again = normal.and_then(normalised);
            assert_eq!(again, None, "{uri}");
        }
    }

    #[test]
    fn what_may_be_a_host_counts_both_ways() {
        let all = |uri| others(uri).collect::<Vec<_>>();
        assert_eq!(all("notes://public/../x"), ["notes://x", "notes://public/x"]);
        assert_eq!(all("notes://%70/x"), ["notes://p/x"]);
        assert!(all("notes://p/x").is_empty());
    }
}
