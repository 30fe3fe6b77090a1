//! Cards, accounts, addresses and telephone numbers.

use plugway_masking::kind::Kind;

use super::{Chance, DIGITS, UPPER};

/// What stands right before it, the thing, and what stands right behind it.
pub(super) fn sample(kind: Kind, turn: usize, chance: &mut Chance) -> (String, String, String) {
    let thing = match kind {
        Kind::Card => card(turn, chance),
        Kind::Iban => iban(turn, chance),
        Kind::Email => email(turn, chance),
        _ => phone(turn, chance),
    };
    (String::new(), thing, String::new())
}

/// The number of a card with its check digit, in one of the ways in which people write them.
fn card(turn: usize, chance: &mut Chance) -> String {
    let (prefix, length) = [
        ("4", 16),
        ("51", 16),
        ("2221", 16),
        ("55", 16),
        ("34", 15),
        ("37", 15),
        ("36", 14),
        ("6011", 16),
        ("65", 16),
        ("3528", 16),
        ("62", 16),
        ("6304", 16),
        ("2200", 16),
        ("4", 19),
        ("4", 13),
        ("4", 16),
    ][chance.below(16)];
    let number = checked(prefix, length, chance);
    let groups: &[usize] = match length {
        15 => &[4, 6, 5],
        14 => &[4, 6, 4],
        13 => &[4, 4, 4, 1],
        19 => &[4, 4, 4, 4, 3],
        _ => &[4, 4, 4, 4],
    };
    let separator = match turn % 10 {
        0..4 => return number,
        4..7 => " ",
        7 | 8 => "-",
        // Some are written with dots.
        _ if turn % 30 == 9 => ".",
        _ => "\u{a0}",
    };
    grouped(&number, groups, separator)
}

fn checked(prefix: &str, length: usize, chance: &mut Chance) -> String {
    let mut number = [prefix, &chance.digits(length - prefix.len() - 1)].concat();
    let sum: u32 = number
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            let doubled = if place % 2 == 0 { digit * 2 } else { digit };
            if doubled > 9 { doubled - 9 } else { doubled }
        })
        .sum();
    number.push_str(&((10 - sum % 10) % 10).to_string());
    number
}

fn grouped(text: &str, groups: &[usize], separator: &str) -> String {
    let mut rest = text;
    let mut parts = Vec::new();
    for group in groups {
        let (part, more) = rest.split_at((*group).min(rest.len()));
        parts.push(part);
        rest = more;
    }
    parts.join(separator)
}

fn iban(turn: usize, chance: &mut Chance) -> String {
    const LETTERS: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let (country, bank, length, alphabet) = [
        ("DE", "", 18, DIGITS),
        ("FR", "", 23, LETTERS),
        ("GB", "NWBK", 14, DIGITS),
        ("NL", "ABNA", 10, DIGITS),
        ("ES", "", 20, DIGITS),
        ("CH", "", 17, DIGITS),
        ("IT", "X", 22, DIGITS),
        ("BE", "", 12, DIGITS),
        ("NO", "", 11, DIGITS),
        ("PL", "", 24, DIGITS),
        ("SE", "", 20, DIGITS),
        ("MT", "MALT", 23, LETTERS),
    ][chance.below(12)];
    let own = [bank, &chance.text(alphabet, length)].concat();
    let remainder = format!("{own}{country}00").bytes().fold(0_u32, |sum, byte| match byte {
        b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
        _ => (sum * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    let number = format!("{country}{:02}{own}", 98 - remainder);
    match turn % 5 {
        0 | 1 => number,
        2 => number.to_lowercase(),
        3 => grouped(&number, &[4; 9], "\u{a0}").trim_end_matches('\u{a0}').to_owned(),
        _ => grouped(&number, &[4; 9], " ").trim_end().to_owned(),
    }
}

fn email(turn: usize, chance: &mut Chance) -> String {
    let name =
        chance.one(&["maria", "j.smith", "li_wei", "o'brien", "anna-lena.meier", "x", "sales.eu"]);
    let tag = ["", "+news", ".2024", "_1"][chance.below(4)];
    let host = chance.one(&["example", "mail.example", "dept.uni-example", "a1", "xn--mnchen-3ya"]);
    let top = chance.one(&["com", "org", "de", "co.uk", "museum", "com.br", "io"]);
    match turn % 25 {
        // Other scripts and quotes are rare, and not found.
        3 => format!("{name}@bücher.{top}"),
        17 if turn % 50 == 17 => format!("\"{name} {name}\"@{host}.{top}"),
        4 => format!("{name}{tag}@{host}.{top}").to_uppercase(),
        5 => format!("{}@{}.{top}", chance.text(UPPER, 1), chance.text("abc123", 8)),
        _ => format!("{name}{tag}@{host}.{top}"),
    }
}

fn phone(turn: usize, chance: &mut Chance) -> String {
    let code = |chance: &mut Chance| format!("{}{}", 2 + chance.below(8), chance.digits(2));
    let (area, exchange, line) = (code(chance), code(chance), chance.digits(4));
    match turn % 12 {
        0 => format!("+1 {area}-{exchange}-{line}"),
        1 => format!("({area}) {exchange}-{line}"),
        2 => format!("{area}-{exchange}-{line}"),
        3 => format!("{area}.{exchange}.{line}"),
        4 => format!("+44 20 {} {}", chance.digits(4), chance.digits(4)),
        5 => format!("+49{}", chance.digits(10)),
        6 => format!(
            "+33 6 {} {} {} {}",
            chance.digits(2),
            chance.digits(2),
            chance.digits(2),
            chance.digits(2)
        ),
        7 => format!(
            "01 {} {} {} {}",
            chance.digits(2),
            chance.digits(2),
            chance.digits(2),
            chance.digits(2)
        ),
        8 => format!("030/{}", 1_000_000 + chance.below(8_999_999)),
        9 => format!("020 {} {}", chance.digits(4), chance.digits(4)),
        10 => format!("+86 138 {} {}", chance.digits(4), chance.digits(4)),
        // Nothing tells this one from any other number.
        _ => format!("0{}", 1_000_000_000 + chance.below(8_999_999)),
    }
}
