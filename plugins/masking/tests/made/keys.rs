//! Keys of providers, tokens and private keys.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use plugway_masking::kind::Kind;

use super::{ALNUM, Chance, DIGITS, HEX, UPPER, WORD};

/// What stands right before it, the secret, and what stands right behind it.
pub(super) fn sample(kind: Kind, turn: usize, chance: &mut Chance) -> (String, String, String) {
    let alone = |secret: String| (String::new(), secret, String::new());
    match kind {
        Kind::Aws => aws(turn, chance),
        Kind::Azure => azure(turn, chance),
        Kind::Github => alone(github(turn, chance)),
        Kind::Gitlab => alone(gitlab(turn, chance)),
        Kind::Google => alone(match turn % 3 {
            0 => ["GOC", "SPX-", &chance.text(WORD, 28)].concat(),
            _ => ["AI", "za", &chance.text(WORD, 35)].concat(),
        }),
        Kind::Slack => alone(slack(turn, chance)),
        Kind::Stripe => alone(match turn % 4 {
            0 => ["wh", "sec_", &chance.text(ALNUM, 32)].concat(),
            1 => ["rk", "_live_", &chance.text(ALNUM, 24)].concat(),
            2 => ["sk", "_test_", &chance.text(ALNUM, 99)].concat(),
            _ => ["sk", "_live_", &chance.text(ALNUM, 24)].concat(),
        }),
        Kind::Openai => alone(openai(turn, chance)),
        Kind::Anthropic => {
            let kind = chance.one(&["api03", "admin01", "oat01"]);
            alone(["sk", "-ant-", kind, "-", &chance.text(WORD, 93), "AA"].concat())
        }
        Kind::Npm => alone(["np", "m_", &chance.text(ALNUM, 36)].concat()),
        Kind::Jwt => alone(jwt(turn, chance)),
        _ => alone(private_key(turn, chance)),
    }
}

fn aws(turn: usize, chance: &mut Chance) -> (String, String, String) {
    const SECRET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let name = match turn % 8 {
        0..4 => {
            let first = chance.one(&["AK", "AS"]);
            let id = [first, "IA", &chance.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)].concat();
            return (String::new(), id, String::new());
        }
        4 => "aws_secret_access_key = ",
        5 => "AWS_SECRET_ACCESS_KEY=",
        6 => "\"SecretAccessKey\": \"",
        // Some stand without their name.
        _ if turn % 16 == 7 => "credentials(",
        _ => "secretAccessKey: '",
    };
    let after = name.chars().last().filter(|last| matches!(last, '"' | '\''));
    (name.to_owned(), chance.text(SECRET, 40), after.map_or(String::new(), String::from))
}

fn azure(turn: usize, chance: &mut Chance) -> (String, String, String) {
    let (name, length) = match turn % 8 {
        0 | 1 => ("DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=", 64),
        2 => ("SharedAccessKeyName=root;SharedAccessKey=", 32),
        3 => ("AZURE_STORAGE_ACCOUNT_KEY: ", 64),
        4 | 5 => ("https://acme.blob.core.windows.net/box?sv=2022-11-02&sp=r&sig=", 32),
        6 => ("sr=b&sp=r&sig=", 32),
        // Some stand without their name.
        _ if turn % 16 == 7 => ("key1 ", 64),
        _ => ("\"accountKey\":\"", 64),
    };
    let mut key = STANDARD.encode(chance.bytes(length));
    if matches!(turn % 8, 4 | 6) {
        key = key.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    }
    (name.to_owned(), key, String::new())
}

fn github(turn: usize, chance: &mut Chance) -> String {
    if turn.is_multiple_of(4) {
        return ["github", "_pat_", &chance.text(ALNUM, 22), "_", &chance.text(ALNUM, 59)].concat();
    }
    ["gh", chance.one(&["p", "o", "u", "s", "r"]), "_", &chance.text(ALNUM, 36)].concat()
}

fn gitlab(turn: usize, chance: &mut Chance) -> String {
    let word = chance.one(&["pat", "dt", "rt", "cbt", "ptt", "ft", "oas", "agent"]);
    if turn.is_multiple_of(4) {
        let (own, check) = (chance.text(ALNUM, 40), chance.text(ALNUM, 7));
        return ["gl", word, "-", &own, ".01.", &check].concat();
    }
    ["gl", word, "-", &chance.text(WORD, 19), &chance.text(ALNUM, 1)].concat()
}

fn slack(turn: usize, chance: &mut Chance) -> String {
    let (one, two) = (chance.digits(12), chance.digits(13));
    if turn.is_multiple_of(4) {
        let app = chance.text(UPPER, 10);
        return ["xa", "pp-1-A", &app, "-", &two, "-", &chance.text(HEX, 64)].concat();
    }
    let kind = chance.one(&["b", "p", "s", "a"]);
    ["xo", "x", kind, "-", &one, "-", &two, "-", &chance.text(ALNUM, 24)].concat()
}

fn openai(turn: usize, chance: &mut Chance) -> String {
    let middle = ["T3Blbk", "FJ"].concat();
    if turn.is_multiple_of(3) {
        return ["sk", "-", &chance.text(ALNUM, 20), &middle, &chance.text(ALNUM, 20)].concat();
    }
    let kind = chance.one(&["proj-", "svcacct-", "admin-"]);
    ["sk", "-", kind, &chance.text(WORD, 74), &middle, &chance.text(ALNUM, 74)].concat()
}

fn jwt(turn: usize, chance: &mut Chance) -> String {
    let header = match turn % 4 {
        0 => r#"{"alg":"HS256","typ":"JWT"}"#,
        1 => r#"{"typ":"JWT","alg":"RS256","kid":"2024-05"}"#,
        2 => r#"{"alg":"none"}"#,
        _ => r#"{"alg":"RSA-OAEP","enc":"A256GCM"}"#,
    };
    let payload = format!(r#"{{"sub":"{}","exp":{}}}"#, chance.digits(10), chance.digits(10));
    let (header, payload) = (URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
    let parts = match turn % 4 {
        2 => vec![header, payload, String::new()],
        3 => vec![
            header,
            chance.text(WORD, 80),
            chance.text(WORD, 16),
            payload,
            chance.text(WORD, 22),
        ],
        _ => vec![header, payload, chance.text(WORD, 43)],
    };
    parts.join(".")
}

fn private_key(turn: usize, chance: &mut Chance) -> String {
    let label = chance.one(&["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA ", ""]);
    let ending = ["\n", "\r\n", "\\n", " "][turn % 4];
    let line = |chance: &mut Chance| STANDARD.encode(chance.bytes(48));
    let mut lines: Vec<String> = (0..4 + chance.below(20)).map(|_| line(chance)).collect();
    if turn.is_multiple_of(5) {
        let head = format!("DEK-Info: AES-128-CBC,{}", chance.text("0123456789ABCDEF", 32));
        lines.splice(0..0, ["Proc-Type: 4,ENCRYPTED".to_owned(), head, String::new()]);
    }
    lines.push(format!("{}==", chance.text(ALNUM, 2 + DIGITS.len())));
    let rule = "-".repeat(5);
    let first = format!("{rule}BEGIN {label}PRIVATE KEY{rule}");
    let last = format!("{rule}END {label}PRIVATE KEY{rule}");
    [first, lines.join(ending), last].join(ending)
}
