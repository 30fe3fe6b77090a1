//! A user name and a password in an address (RFC 3986, section 3.2.1), which some clients take: they become the header that
//! says the same (RFC 7617), so that they do not stand in logs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The address without its user name and password, and the value of `Authorization` in their place; none where it has none.
pub(super) fn apart(url: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end)?;
    let (login, host) = authority.rsplit_once('@')?;
    let login = decoded(login)?;
    let login = if login.contains(&b':') { login } else { [&*login, b":"].concat() };
    Some((format!("{scheme}://{host}{path}"), format!("Basic {}", STANDARD.encode(login))))
}

/// The text with its percent signs taken for what they stand for.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn a_login_becomes_a_header() {
        let of = |url| apart(url).map(|(url, header)| format!("{url} {header}"));
        let plain = of("http://u:pw@127.0.0.1:1/mcp?x=@");
        assert_eq!(plain.as_deref(), Some("http://127.0.0.1:1/mcp?x=@ Basic dTpwdw=="));
        assert_eq!(of("https://u%40x:p%3A@h").as_deref(), Some("https://h Basic dUB4OnA6"));
        assert_eq!(of("https://u@h/").as_deref(), Some("https://h/ Basic dTo="));
        for none in ["http://h/mcp", "http://h/@", "u:p@h", "http://u:%zz@h"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
