//! Callers of `auth: static`, and their tokens.

use serde_json::{Value, json};

use crate::plugway::Setup;

/// A token of the client `ann`, with the scope `read`.
pub const ANN: &str = "ann-0123456789abcdef";
/// Another token of the same client, with the scopes `read` and `write`.
pub const ANN_TOO: &str = "ann-too-0123456789abcdef";
/// A token of the client `bob`.
pub const BOB: &str = "bob-0123456789abcdef";
/// A token of the client `eve`.
pub const EVE: &str = "eve-0123456789abcdef";
/// A token of the client `ann` that ended long ago.
pub const ENDED: &str = "ended-0123456789abcdef";
/// A token of the client `root`, which may administer.
pub const ROOT: &str = "root-0123456789abcdef";

/// The variable that holds the tokens.
const VARIABLE: &str = "TEST_TOKENS";

/// The key `auth` for these callers.
pub fn auth() -> Value {
    json!({"mode": "static", "tokens": format!("env://{VARIABLE}")})
}

/// The same as YAML.
pub fn auth_yaml() -> String {
    format!("auth: {{mode: static, tokens: 'env://{VARIABLE}'}}\n")
}

/// The start with these callers and these tokens besides.
pub fn identified(setup: Setup, more: &Value) -> Setup {
    let mut tokens = json!({
        (ANN): {"client_id": "ann", "scopes": ["read"]},
        (ANN_TOO): {"client_id": "ann", "scopes": ["read", "write"]},
        (BOB): {"client_id": "bob", "tenant_id": "north"},
        (EVE): {"client_id": "eve"},
        (ENDED): {"client_id": "ann", "expires_at": "2020-01-01T00:00:00Z"},
        (ROOT): {"client_id": "root", "scopes": ["plugway:admin"]},
    });
    if let (Some(tokens), Some(more)) = (tokens.as_object_mut(), more.as_object()) {
        tokens.extend(more.clone());
    }
    setup.environment(VARIABLE, tokens.to_string())
}
