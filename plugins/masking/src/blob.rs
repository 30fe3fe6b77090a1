//! Base64 that says of itself that it is text.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
/// The alphabet of addresses, which some servers write.
const ADDRESSES: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);
/// Parts of media types that are text without beginning with `text/`.
const TEXTS: [&str; 10] =
    ["json", "xml", "yaml", "toml", "csv", "sql", "javascript", "typescript", "x-sh", "urlencoded"];

/// Whether a media type is one of text.
pub(crate) fn is_text(media_type: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(media_type).to_ascii_lowercase();
    lower.starts_with("text/") || TEXTS.iter().any(|word| lower.contains(word))
}

/// The text in it, of UTF-16 as UTF-8; none where it is no Base64.
pub(crate) fn decode(blob: &[u8]) -> Option<Vec<u8>> {
    let packed: Cow<'_, [u8]> = if blob.iter().any(u8::is_ascii_whitespace) {
        blob.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
    } else {
        Cow::Borrowed(blob)
    };
    let bytes = BASE64.decode(&packed).or_else(|_| ADDRESSES.decode(&packed)).ok()?;
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => Some(wide(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some(wide(rest, u16::from_be_bytes)),
        // Letters beyond ASCII are part of nothing that is looked for, whatever they are written in.
        _ => Some(bytes),
    }
}

/// Text in UTF-16.
fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = bytes.chunks_exact(2).map(|pair| match pair {
        [one, other] => unit([*one, *other]),
        _ => 0,
    });
    char::decode_utf16(units)
        .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect::<String>()
        .into_bytes()
}

/// The text as Base64.
pub(crate) fn encode(text: &[u8]) -> String {
    BASE64.encode(text)
}
