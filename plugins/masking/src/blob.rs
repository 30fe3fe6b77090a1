//! Base64 that says of itself that it is text.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// Parts of media types that are text without beginning with `text/`.
const TEXTS: [&str; 10] =
    ["json", "xml", "yaml", "toml", "csv", "sql", "javascript", "typescript", "x-sh", "urlencoded"];

/// Whether a media type is one of text.
pub(crate) fn is_text(media_type: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(media_type).to_ascii_lowercase();
    lower.starts_with("text/") || TEXTS.iter().any(|word| lower.contains(word))
}

/// The text in it; none where it is no Base64 or no text.
pub(crate) fn decode(blob: &[u8]) -> Option<Vec<u8>> {
    let packed: Cow<'_, [u8]> = if blob.iter().any(u8::is_ascii_whitespace) {
        blob.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
    } else {
        Cow::Borrowed(blob)
    };
    let bytes = BASE64.decode(packed).ok()?;
    std::str::from_utf8(&bytes).is_ok().then_some(bytes)
}

/// The text as Base64.
pub(crate) fn encode(text: &[u8]) -> String {
    BASE64.encode(text)
}
