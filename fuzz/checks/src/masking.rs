//! What the plugin `masking` leaves of a text.

use plugway_masking::config::Config;
use plugway_masking::document::mask;
use plugway_masking::find::find;
use plugway_masking::kind::Kinds;

/// Bytes of any sort, which are also a JSON text if they are one: what is left is JSON as before, holds nothing more, and is left
/// alone the second time.
pub(crate) fn check(data: &[u8]) {
    let mut at = 0;
    for hit in find(data, None, Kinds::all()) {
        assert!(
            at <= hit.start && hit.start < hit.end && hit.end <= data.len(),
            "{hit:?} behind {at}"
        );
        at = hit.end;
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let config = Config { detect: Some(vec!["all".to_owned()]), ..Config::default() };
    let Ok(settings) = config.checked() else { return };
    let Ok(masked) = mask(text, &settings) else { return };
    let Some(left) = masked.text else { return };
    if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&left);
        assert!(is_json.is_ok(), "{is_json:?}: {left}");
        let again = mask(&left, &settings).map(|masked| masked.text);
        assert_eq!(again, Ok(None), "{left}");
    }
}
