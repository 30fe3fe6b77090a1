//! `tasks/get` and its like: the id says which server has the task.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use super::ids::TaskIds;
use super::{list, texts};
use crate::catalogue::{Entry, Target};
use crate::fault::{Code, Fault};
use crate::pipeline::connector::Connector;
use crate::pipeline::exchange::Call;
use crate::pipeline::forward::nothing;
use crate::pipeline::port::Answer;
use crate::pipeline::request::Request;
use crate::protocol::{Era, Message, header, message, scan};

/// Of requests about a task, by the shape of the client's era.
const LEGACY: [&str; 3] = ["tasks/get", "tasks/result", "tasks/cancel"];
const MODERN: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];
const LIST: &str = "tasks/list";

/// Whether a request is about a task or the list of them.
pub(in crate::pipeline) fn is_about(method: &str, era: Era) -> bool {
    match era {
        Era::Legacy => LEGACY.contains(&method) || method == LIST,
        Era::Modern => MODERN.contains(&method),
    }
}

/// Serves such a request.
pub(in crate::pipeline) async fn serve(
    connector: &Arc<Connector>,
    mut request: Request,
) -> Result<Answer, Fault> {
    if request.message.method_name() == LIST {
        return list::list(connector, request).await;
    }
    let Some(shown) = task_id(&request.message) else {
        return Err(Fault::new(Code::InvalidParams, "The params need a string \"taskId\"."));
    };
    let ids = TaskIds::of(connector, &request.caller);
    let found =
        ids.opened(&shown).and_then(|(upstream, own)| Some((connector.place_of(upstream)?, own)));
    let (place, own) = found.ok_or_else(|| unknown(&shown))?;
    if request.era() == Era::Modern
        && let Ok(value) = HeaderValue::from_str(&header::encode(own))
    {
        request.passed.push((HeaderName::from_static(header::NAME), value));
    }
    request.message = texts::with_id(&request.message, own)
        .and_then(|text| Message::parse(text).ok())
        .ok_or_else(|| unknown(&shown))?;
    let view = request.view(connector).await?;
    let name: Arc<str> = shown.as_str().into();
    // It is not in the call's params, so it is not put there.
    let target = Target::Fixed { upstream: place, name: name.clone() };
    let entry = Arc::new(Entry { key: name.clone(), target, ..nothing() });
    Call::new(connector, request, view, entry, name).run().await
}

fn task_id(message: &Message) -> Option<String> {
    let params = message.params()?;
    let raw = params.get(scan::member(params, "taskId")?.range())?;
    message::string(raw).map(std::borrow::Cow::into_owned)
}

/// The same for a task of somebody else as for one that never was.
fn unknown(id: &str) -> Fault {
    let mut shown: String = id.chars().take(128).collect();
    if shown.len() < id.len() {
        shown.push('…');
    }
    Fault::new(Code::UnknownName, format!("Unknown task: {shown:?}. It may have expired."))
}
