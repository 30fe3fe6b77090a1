//! What an operator does.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::operations::Operations;
use super::resource::Resource;
use crate::fault::{Code, Fault};
use crate::pipeline::port::Control;
use crate::transport::Site;

/// A reload may have to load plugins and to start servers.
const RELOAD: Duration = Duration::from_mins(1);

/// How an act ended that was let through.
#[derive(Debug)]
pub(super) enum Done {
    /// Well: what is answered.
    Well(Value),
    /// Not: one sentence.
    Not(String),
}

/// Does it. A fault says that the act has no such object.
pub(super) async fn act(
    resource: Resource<'_>,
    site: &Site,
    operations: &dyn Operations,
) -> Result<Done, Fault> {
    match resource {
        Resource::Reload => Ok(reload(operations).await),
        Resource::Upstream(connector, name, control) => {
            let found = site.connector(connector).and_then(|connector| {
                connector.upstreams.iter().find(|served| **served.upstream.name() == *name)
            });
            let Some(served) = found else {
                let text = "There is no upstream of that name: GET upstreams lists them.";
                return Err(Fault::new(Code::UnknownName, text));
            };
            if control == Control::Reconnect && served.snapshot().disabled {
                let text = "The upstream is taken out of service: enable it first.";
                return Ok(Done::Not(text.to_owned()));
            }
            served.upstream.control(control);
            Ok(Done::Well(json!({ "done": resource.word() })))
        }
        Resource::Plugin(name, out) => {
            if operations.disable_plugin(name, out) {
                return Ok(Done::Well(json!({ "done": resource.word() })));
            }
            let text = "There is no plugin of that name: GET plugins lists them.";
            Err(Fault::new(Code::UnknownName, text))
        }
        Resource::Upstreams | Resource::Workers | Resource::Plugins | Resource::Sessions => {
            Err(Fault::new(Code::MethodNotAllowed, "This path takes GET."))
        }
    }
}

async fn reload(operations: &dyn Operations) -> Done {
    match timeout(RELOAD, operations.reload()).await {
        Ok(Ok(changes)) => Done::Well(json!({ "done": "reload", "changes": changes })),
        Ok(Err(why)) => Done::Not(why),
        Err(_elapsed) => {
            Done::Not("The reload takes long; /ready and the log say how it ends.".to_owned())
        }
    }
}
