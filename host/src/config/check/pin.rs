//! What becomes of definitions that changed.

use crate::config::file::PinWord;
use crate::config::settings::Pin;

/// What the word means; none where nobody wrote one.
pub(super) fn check(written: Option<PinWord>) -> Option<Pin> {
    written.map(|word| match word {
        PinWord::Off => Pin::Off,
        PinWord::Warn => Pin::Warn,
        PinWord::Hold => Pin::Hold,
        PinWord::Locked => Pin::Locked,
    })
}
