//! Which server it is that leaves: `?url=..` of a request that ends a lease.

use http::Uri;

use super::request::LONGEST_URL;
use crate::fault::{Code, Fault};

/// The query by which a server at this address leaves.
pub fn query(url: &str) -> String {
    let mut query = String::from("url=");
    for byte in url.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/[]".contains(&byte) {
            query.push(char::from(byte));
        } else {
            query.extend(format!("%{byte:02X}").chars());
        }
    }
    query
}

/// The address that a query says; none where there is no query. Anything else in it is refused: whoever errs here would end a
/// lease that another server needs.
pub fn address(query: Option<&str>) -> Result<Option<Uri>, Fault> {
    let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(None) };
    let invalid = |text: &str| Fault::new(Code::InvalidParams, text.to_owned());
    let value = query.strip_prefix("url=").filter(|value| !value.contains('&'));
    let value = value.ok_or_else(|| invalid("The query may only be `url=ADDRESS`."))?;
    let no_url = || invalid("The url of the query is no address.");
    let text = decoded(value).filter(|text| text.len() <= LONGEST_URL).ok_or_else(no_url)?;
    let url: Uri = text.parse().map_err(|_no_uri| no_url())?;
    if url.authority().is_none() { Err(no_url()) } else { Ok(Some(url)) }
}

/// The text with its percent signs taken for what they stand for; none where that is no text.
fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_comes_back_as_it_was() {
        for url in ["http://h:80/mcp", "https://[::1]/a/b", "http://h/a%20b", "http://h/a&b=c+d"] {
            let written = query(url);
            assert_eq!(address(Some(&written)).unwrap().unwrap(), *url, "{written}");
        }
        assert_eq!(query("http://h/a&b"), "url=http://h/a%26b");
        assert!(address(None).unwrap().is_none() && address(Some("")).unwrap().is_none());
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long = query(&format!("http://h/{}", "x".repeat(LONGEST_URL)));
        for query in [
            "x",
            "uri=http://h",
            "url=",
            "url=h/x%",
            "url=http://h%+1",
            "url=%ff",
            "url=/x",
            "url=http://h&x=1",
            &long,
        ] {
            assert_eq!(address(Some(query)).unwrap_err().code(), Code::InvalidParams, "{query}");
        }
    }
}
