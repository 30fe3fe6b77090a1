//! The audit: what stands in its lines, that each call leaves exactly one however it ends, and that none is lost.

mod acts;
mod calls;
mod endings;
mod files;
mod kinds;
mod load;
mod outputs;

use anyhow::Result;
use plugway_tests::{Hub, Plugway, Scripted, audit};
use serde_json::{Value, json};

/// A connector whose audit has these keys besides its file.
pub(crate) fn audited(hub: Hub, more: Value) -> Hub {
    let mut audit = json!({"file": audit::FILE});
    if let (Some(audit), Value::Object(more)) = (audit.as_object_mut(), more) {
        audit.extend(more);
    }
    hub.top("audit", audit)
}

/// plugway with an audit before a server whose answers are scripted, called `up`.
pub(crate) async fn scripted(more: Value) -> Result<(Scripted, Plugway)> {
    let server = Scripted::start().await?;
    let hub = audited(Hub::new("hub").upstream("up", server.url().as_str()), more);
    let plugway = hub.start().await?;
    Ok((server, plugway))
}

pub(crate) fn call(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}
