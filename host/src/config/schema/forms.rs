//! Forms of values that have their own way to be read, as schemas.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::config::file::{
    Attempts, Audit, AuditUse, AuthMode, AuthUse, CredentialMode, CredentialUse, DiscoveryMode,
    DiscoveryUse, PluginUse, SecretText, Size, Span, Text, Tokens,
};

/// Gives a type its name and its schema; `$generator` is there for schemas of other types.
macro_rules! form {
    ($type:ty, $name:literal, |$generator:ident| $schema:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

form!(Span, "duration", |_generator| json_schema!({
    "type": "string",
    "pattern": "^[0-9]+ *(ms|s|m|h)$",
    "description": "A whole number and its unit: `500ms`, `30s`, `5m`, `1h`.",
}));

form!(Size, "size", |_generator| json_schema!({
    "type": "string",
    "pattern": "^[0-9]+ *(B|KiB|MiB|GiB)$",
    "description": "A whole number and its unit: `512B`, `64KiB`, `4MiB`, `1GiB`.",
}));

form!(Text, "text", |_generator| json_schema!({
    "type": ["string", "integer"],
    "description": "Text for another program; a whole number may stand without quotes.",
}));

form!(SecretText, "secret", |_generator| json_schema!({
    "type": ["string", "integer"],
    "description": "A reference, or the text itself. `env://NAME` is a variable of plugway's \
        environment. `file://PATH` is a file of at most 64 KiB, relative to the configuration file; \
        one line end at its end is left out. `file://PATH#NAME` is one entry of a file that holds \
        `NAME: \"text\"` lines. A reference that cannot be read is a problem; no message shows \
        a secret.",
}));

form!(PluginUse, "use", |_generator| json_schema!({
    "description": "A plugin in its place: its name, or its name and a configuration for this \
        place.",
    "anyOf": [
        { "type": "string", "description": "Name of the plugin." },
        {
            "type": "object",
            "properties": {
                "use": { "type": "string", "description": "Name of the plugin." },
                "config": {
                    "type": "object",
                    "description": "Configuration for this place; it replaces the plugin's own.",
                },
            },
            "required": ["use"],
            "additionalProperties": false,
        },
    ],
}));

form!(Tokens, "tokens", |generator| json_schema!({
    "description": "Tokens and whom they stand for.",
    "anyOf": [
        generator.subschema_for::<SecretText>(),
        {
            "type": "object",
            "description": "The tokens themselves, with a warning; the text behind a reference \
                has this form too, in JSON or YAML. At most 10,000 tokens, each of 16 to 4096 \
                characters without spaces.",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "client_id": {
                        "type": "string",
                        "description": "The client that the token stands for. Two tokens of one \
                            client and tenant are one caller, so that a token can be replaced.",
                    },
                    "scopes": {
                        "type": ["array", "string"],
                        "items": { "type": "string" },
                        "description": "What the client may do: a list, or words with spaces \
                            between them.",
                    },
                    "tenant_id": { "type": "string", "description": "Its tenant." },
                    "expires_at": {
                        "type": ["integer", "string"],
                        "description": "When the token ends: seconds since 1970, or a date such \
                            as `2027-01-31T12:00:00Z`. Default: never.",
                    },
                },
                "required": ["client_id"],
                "additionalProperties": false,
            },
        },
    ],
}));

form!(AuthUse, "auth", |generator| json_schema!({
    "description": "How callers are identified: a word, or a set of keys.",
    "anyOf": [
        { "enum": ["none"], "description": "Callers are not identified." },
        {
            "type": "object",
            "properties": {
                "mode": generator.subschema_for::<AuthMode>(),
                "tokens": generator.subschema_for::<Tokens>(),
            },
            "required": ["mode"],
            "additionalProperties": false,
        },
    ],
}));

form!(AuditUse, "audit-use", |generator| json_schema!({
    "description": "Where is written down who called what, and what became of it: a word, or a set of keys.",
    "anyOf": [
        { "enum": ["off"], "description": "Nowhere; acts of administration stand in the log." },
        generator.subschema_for::<Audit>(),
    ],
}));

form!(CredentialUse, "credential", |generator| {
    let mode = generator.subschema_for::<CredentialMode>();
    let mut secret = |description: &str| {
        let mut schema = generator.subschema_for::<SecretText>();
        schema.insert("description".to_owned(), description.into());
        schema
    };
    json_schema!({
        "description": "How plugway identifies itself at an upstream: a word, or a set of keys.",
        "anyOf": [
            {
                "enum": ["none", "forward"],
                "description": "`none`: not at all. `forward`: with the credential that the client \
                    sent to plugway.",
            },
            {
                "type": "object",
                "properties": {
                    "mode": mode,
                    "token": secret("With `bearer`: the token."),
                    "name": { "type": "string", "description": "With `header`: its name." },
                    "value": secret("With `header`: its value."),
                    "own": secret("With `forward`: the whole value of `Authorization` for what \
                        plugway itself asks; catalogues are everybody's then. Default: none: where a server answers \
                        nobody without a credential, each caller sees what its own one is shown."),
                },
                "required": ["mode"],
                "additionalProperties": false,
            },
        ],
    })
});

form!(DiscoveryUse, "discovery", |generator| {
    let idle = generator.subschema_for::<Span>();
    json_schema!({
        "description": "Whether clients list every tool: a word, or a set of keys.",
        "anyOf": [
            {
                "enum": ["eager", "lazy"],
                "description": "`eager`: every tool is listed. `lazy`: a few are, and clients find \
                    the others.",
            },
            {
                "type": "object",
                "properties": {
                    "mode": generator.subschema_for::<DiscoveryMode>(),
                    "residents": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "With `lazy`: globs over the names that clients see (`*` and \
                            `?`), at most 256. Tools that match one are always listed, unless they \
                            are tagged `gated`. Default: none.",
                    },
                    "cap": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 256,
                        "description": "With `lazy`: tools that one session may have loaded at once. \
                            Default 64.",
                    },
                    "idle": {
                        "$ref": idle.get("$ref"),
                        "description": "With `lazy`: a loaded tool that is not used for so long is \
                            unloaded. Default `1h`.",
                    },
                },
                "required": ["mode"],
                "additionalProperties": false,
            },
        ],
    })
});

form!(Attempts, "attempts", |_generator| json_schema!({
    "description": "`unlimited`, or a number.",
    "anyOf": [{ "enum": ["unlimited"] }, { "type": "integer", "minimum": 1 }],
}));
