//! Keys that real clients know and plugway does not act on, each with what that means.

/// (key, what that means for the file). Keys without a sentence change nothing that an operator would miss.
const KEYS: &[(&str, &str)] = &[
    // Cline, Roo Code, Kiro
    ("autoApprove", "means nothing here: it is the client that asks before a call"),
    ("alwaysAllow", "means nothing here: it is the client that asks before a call"),
    // Gemini CLI
    ("trust", "means nothing here: it is the client that asks before a call"),
    ("disabledPrompts", "is not honoured: clients of plugway see these prompts"),
    // Claude Code
    ("headersHelper", "is not honoured: plugway runs no program for headers"),
    // Claude Code, Cursor, Gemini CLI
    ("oauth", "is not honoured: plugway does not sign in at servers yet"),
    ("auth", "is not honoured: plugway does not sign in at servers yet"),
    ("authProviderType", "is not honoured: plugway does not sign in at servers yet"),
    // VS Code
    ("sandboxEnabled", "is not honoured: plugway puts no sandbox around servers"),
    ("sandbox", "is not honoured: plugway puts no sandbox around servers"),
    ("dev", "is not honoured: plugway neither watches nor debugs servers"),
    // Roo Code
    ("watchPaths", "is not honoured: plugway does not watch files of servers"),
    // Metadata of galleries and clients.
    ("name", ""),
    ("description", ""),
    ("title", ""),
    ("version", ""),
    ("gallery", ""),
    ("icon", ""),
    ("iconUrl", ""),
    ("category", ""),
    ("tags", ""),
    ("metadata", ""),
    ("source", ""),
    ("fromGalleryId", ""),
    ("installed", ""),
    ("provider", ""),
    ("$schema", ""),
    ("_comment", ""),
    ("comment", ""),
];

/// Keys that plugway acts on.
pub(super) const HONOURED: &[&str] = &[
    "type",
    "transport",
    "transportType",
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "disabled",
    "enabled",
    "timeout",
    "tools",
    "includeTools",
    "disabledTools",
    "excludeTools",
];

/// What a key means that plugway does not act on; none for one that nobody knows.
pub(super) fn meaning(key: &str) -> Option<&'static str> {
    KEYS.iter().find(|(known, _)| *known == key).map(|(_, sentence)| *sentence)
}

/// Every key that is known, for finding the one that was meant.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    HONOURED.iter().copied().chain(KEYS.iter().map(|(key, _)| *key))
}
