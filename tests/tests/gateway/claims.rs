//! Rules about claims.

use anyhow::{Result, ensure};
use plugway_tests::Hub;
use serde_json::json;

use super::with;

/// Callers of `auth: static` have no claims: whose tokens have some is asked about by `plugway policy explain`.
#[tokio::test]
async fn claims_decide() -> Result<()> {
    let rules = json!([
        {"name": "ops", "when": {"claim": {"name": "department", "equals": "ops"}}, "do": "allow"},
        {"name": "chiefs", "when": {"claim": {"name": "/realm_access/roles", "matches": "ch.*"}}, "do": "allow"},
        {"name": "nobody", "when": {"claim": {"name": "department", "exists": false}}, "do": "deny"},
    ]);
    let config = json!({"default": "deny", "rules": rules});
    let setup = with(Hub::before("http://127.0.0.1:1/mcp"), config).setup()?;
    let call = json!({"tool": "clock_add", "upstream": "clock", "own_name": "add"});
    let setup = setup.file("call.json", call.to_string());
    for (claims, code, rule) in [
        (json!({"sub": "dan", "department": ["lab", "ops"]}), 0, "ops"),
        (json!({"sub": "dan", "department": "ops"}), 0, "ops"),
        (json!({"sub": "dan", "realm_access": {"roles": ["clerk", "chief"]}}), 0, "chiefs"),
        (json!({"sub": "dan", "department": "sales"}), 5, "default"),
        (json!({"sub": "dan"}), 5, "nobody"),
    ] {
        let words = ["policy", "explain", "--caller", "caller.json", "--call", "call.json"];
        let output = setup.clone().file("caller.json", claims.to_string()).run(&words).await?;
        ensure!(output.status.code() == Some(code), "{claims}: {output:?}");
        ensure!(output.stdout.contains(rule), "{claims}: {output:?}");
    }
    Ok(())
}
