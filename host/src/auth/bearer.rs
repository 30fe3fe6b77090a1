//! The header `Authorization: Bearer ..` (RFC 6750, section 2.1).

use http::HeaderValue;

/// The token of a value of `Authorization`; none where it holds another scheme or no token. The scheme's name may be in
/// any case (RFC 9110, section 11.1).
pub fn token(value: &HeaderValue) -> Option<&[u8]> {
    let bytes = value.as_bytes();
    let (scheme, rest) = bytes.split_at(memchr::memchr(b' ', bytes)?);
    let token = rest.trim_ascii();
    let is_one = !token.is_empty() && !token.iter().any(u8::is_ascii_whitespace);
    (scheme.eq_ignore_ascii_case(b"bearer") && is_one).then_some(token)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::token;

    #[test]
    fn only_one_token_behind_the_scheme_is_taken() {
        for (value, expected) in [
            ("Bearer abc", Some("abc")),
            ("bearer abc", Some("abc")),
            ("BEARER   abc ", Some("abc")),
            ("Bearer a.b-c_d~e+f/g==", Some("a.b-c_d~e+f/g==")),
            ("Bearer", None),
            ("Bearer ", None),
            ("Bearer a b", None),
            ("Basic YTpi", None),
            ("abc", None),
            (" Bearer abc", None),
            ("Bearer\tabc", None),
            ("", None),
        ] {
            let value = HeaderValue::from_str(value).unwrap();
            assert_eq!(token(&value), expected.map(str::as_bytes), "{value:?}");
        }
    }
}
