//! What looks like a secret. A guess: it decides about hints, and about what an import keeps apart.

/// Parts of names that secrets have.
const NAMES: &[&str] = &[
    "TOKEN",
    "KEY",
    "SECRET",
    "PASS",
    "PWD",
    "CREDENTIAL",
    "AUTH",
    "COOKIE",
    "BEARER",
    "PRIVATE",
    "DSN",
    "CONNECTION_STRING",
    "SIGNATURE",
];
/// Starts that issuers give their tokens.
const STARTS: &[&str] = &[
    "Bearer ",
    "Basic ",
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "ya29.",
    "eyJ",
    "npm_",
    "hf_",
    "lin_api_",
    "secret_",
    "ntn_",
    "dop_v1_",
    "figd_",
    "tvly-",
];
/// Parts of addresses and arguments before a secret.
const PARTS: &[&str] = &["token=", "key=", "secret=", "password=", "Authorization:", "signature="];

/// Whether the value under this name looks like a secret. Empty values, paths and words do not.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    if value.is_empty() || matches!(value, "true" | "false") {
        return false;
    }
    let name = name.to_ascii_uppercase().replace('-', "_");
    NAMES.iter().any(|part| name.contains(part)) || looks_secret(value)
}

/// Whether a text looks like a secret, or holds one.
pub(super) fn looks_secret(text: &str) -> bool {
    STARTS.iter().any(|start| text.len() > start.len() && text.starts_with(start))
        || PARTS.iter().any(|part| holds_after(text, part))
        || has_password(text)
        || looks_random(text)
}

/// Something follows the part, and it is no placeholder that another program fills in.
fn holds_after(text: &str, part: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let Some(at) = lower.find(&part.to_ascii_lowercase()) else { return false };
    let rest = text.get(at + part.len()..).unwrap_or_default().trim();
    !rest.is_empty() && !rest.contains("${")
}

/// `scheme://user:password@host`.
fn has_password(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// A long word of letters and digits without the signs of a path, a package or an address.
fn looks_random(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'=');
    text.len() >= 24
        && text.bytes().all(plain)
        && text.bytes().filter(u8::is_ascii_digit).count() >= 3
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn secrets_are_suspected_by_name_and_by_form() {
        for (name, value, wanted) in [
            ("GITHUB_PERSONAL_ACCESS_TOKEN", "x", true),
            ("X-Api-Key", "x", true),
            ("DATABASE_URL", "postgres://u:p@db/x", true),
            ("URL", "https://x/mcp?api_key=abc", true),
            ("", "ghp_abcdef", true),
            ("", "Authorization: Bearer abc", true),
            ("", "Authorization: Bearer ${TOKEN}", false),
            ("", "--api-key=abc", true),
            ("ID", "3f2a9c1b77e04d5f9a8b6c5d4e3f2a1b", true),
            ("NODE_ENV", "production", false),
            ("ROOT", "/home/me/projects/number-1234567890", false),
            ("", "@modelcontextprotocol/server-filesystem", false),
            ("PORT", "8080", false),
            ("AUTH_TOKEN", "", false),
            ("USE_AUTH", "true", false),
        ] {
            assert_eq!(is_secret(name, value), wanted, "{name}={value}");
        }
    }
}
