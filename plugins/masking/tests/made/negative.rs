//! Text in which nothing is to be masked.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{ALNUM, Chance, DIGITS, HEX, UPPER};

/// Samples of each class that is made.
const SAMPLES: usize = 300;

type Make = fn(&mut Chance) -> String;

/// Classes of numbers and words that look like something.
const MADE: [(&str, Make); 14] = [
    ("UUIDs", |chance| {
        let parts: Vec<String> = [8, 4, 4, 4, 12].map(|length| chance.text(HEX, length)).into();
        format!("id {} was removed", parts.join("-"))
    }),
    ("UUIDs of digits", |chance| {
        [8, 4, 4, 4, 12].map(|length| chance.text(DIGITS, length)).join("-")
    }),
    ("hashes", |chance| {
        let length = [32, 40, 64, 128][chance.below(4)];
        format!("sha:{} file-{}.txt", chance.text(HEX, length), chance.below(1000))
    }),
    ("Base64", |chance| {
        let length = 60 + chance.below(600);
        STANDARD.encode(chance.bytes(length))
    }),
    ("order numbers", |chance| {
        let year = 2018 + chance.below(8);
        format!(
            "Order {}-{year}-{} of {} items",
            chance.text(UPPER, 3),
            chance.digits(8),
            chance.below(99)
        )
    }),
    // As long as the numbers of cards: one in ten has their check digit, and of these some begin like one.
    ("numbers of 16 digits", |chance| format!("reference {}", chance.digits(16))),
    ("numbers of 10 to 15 digits", |chance| {
        let length = 10 + chance.below(6);
        format!("ticket {} is open", chance.digits(length))
    }),
    ("places", |chance| {
        let (lat, lon) = (chance.below(90), chance.below(180));
        format!("{lat}.{}, -{lon}.{}", chance.digits(7), chance.digits(14))
    }),
    ("times", |chance| {
        let (hour, minute, second) = (chance.below(24), chance.below(60), chance.below(60));
        let (day, month) = (1 + chance.below(28), 1 + chance.below(12));
        match chance.below(5) {
            0 => format!(
                "2024-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{}Z",
                chance.digits(6)
            ),
            1 => format!("17{}", chance.digits(8)),
            2 => format!("17{}", chance.digits(11)),
            3 => format!("{day:02}-{month:02}-2024 {hour:02}:{minute:02}"),
            _ => {
                format!("2024{month:02}{day:02}{hour:02}{minute:02}{second:02}{}", chance.digits(3))
            }
        }
    }),
    ("versions and addresses", |chance| {
        let mut part = || chance.below(256).to_string();
        let (one, two, three, four) = (part(), part(), part(), part());
        format!("v{one}.{two}.{three}-{four} at {four}.{three}.{two}.{one}:8{one}")
    }),
    ("rows of numbers", |chance| {
        let row: Vec<String> = (0..12).map(|_| chance.below(10_000).to_string()).collect();
        row.join([" ", ", ", "\t", "; "][chance.below(4)])
    }),
    ("sums of money", |chance| {
        format!(
            "{} {}.{:02}",
            chance.one(&["EUR", "USD", "$"]),
            chance.below(9_999_999),
            chance.below(100)
        )
    }),
    ("packages and mentions", |chance| {
        let name = chance.one(&["react", "left-pad", "vue", "actions/checkout", "tokio"]);
        match chance.below(4) {
            0 => format!("{name}@{}.{}.{}", chance.below(20), chance.below(20), chance.below(20)),
            1 => format!("@{name}/core and @{name}-team"),
            2 => format!("{name}@{}x.png", 2 + chance.below(2)),
            _ => format!("{name}@v{}", chance.below(9)),
        }
    }),
    ("random words", |chance| {
        let words: Vec<String> = (0..20)
            .map(|_| {
                let length = 3 + chance.below(30);
                chance.text(ALNUM, length)
            })
            .collect();
        words.join(["-", "_", " ", "."][chance.below(4)])
    }),
];

/// Every sample with the class that it is of.
pub(crate) fn negatives() -> Vec<(&'static str, String)> {
    let read = [
        ("prose in 20 languages", include_str!("../../corpus/prose.txt")),
        ("source code", include_str!("../../corpus/code.txt")),
        ("logs", include_str!("../../corpus/logs.txt")),
    ];
    let mut samples = Vec::new();
    for (class, text) in read {
        samples.extend(text.lines().map(|line| (class, line.to_owned())));
    }
    for (seed, (class, make)) in (1_u64..).zip(MADE) {
        let mut chance = Chance::new(0xA076_1D64_78BD_642F ^ seed << 32);
        samples.extend((0..SAMPLES).map(|_| (class, make(&mut chance))));
    }
    samples
}
