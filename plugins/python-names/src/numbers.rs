//! Numbers, as far as to know where they end.

use super::cursor::{Cursor, goes_on};
use super::refusal::NotPython;

/// Python lets these stand right behind a number: `1if x else y`.
const MAY_FOLLOW: [&str; 8] = ["and", "else", "for", "if", "in", "is", "not", "or"];

/// Reads a number, which begins with a digit, or with a point and a digit.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<(), NotPython> {
    let radix = [("0x", 16), ("0o", 8), ("0b", 2), ("0X", 16), ("0O", 8), ("0B", 2)]
        .into_iter()
        .find(|(prefix, _)| cursor.skip(prefix));
    if let Some((_, radix)) = radix {
        if cursor.take_while(|found| found.is_digit(radix) || found == '_').is_empty() {
            return cursor.refuse("a number without digits");
        }
    } else {
        digits(cursor);
        if cursor.skip(".") {
            digits(cursor);
        }
        exponent(cursor);
        let _imaginary = cursor.skip("j") || cursor.skip("J");
    }
    let joined = cursor.peek().is_some_and(goes_on);
    if joined && !MAY_FOLLOW.iter().any(|word| cursor.starts_with(word)) {
        return cursor.refuse("a number that runs into a name");
    }
    Ok(())
}

fn digits(cursor: &mut Cursor<'_>) {
    cursor.take_while(|found| found.is_ascii_digit() || found == '_');
}

/// An `e` that no digits follow begins `else`.
fn exponent(cursor: &mut Cursor<'_>) {
    let mut ahead = cursor.clone();
    if !(ahead.skip("e") || ahead.skip("E")) {
        return;
    }
    let _sign = ahead.skip("+") || ahead.skip("-");
    if ahead.peek().is_some_and(|found| found.is_ascii_digit()) {
        digits(&mut ahead);
        *cursor = ahead;
    }
}
