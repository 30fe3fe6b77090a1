//! `tasks/get` and its like: the id says which server has the task.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use super::ids::TaskIds;
use super::{list, texts};
use crate::catalogue::{Entry, Target, View};
use crate::fault::{Code, Fault};
use crate::pipeline::connector::Connector;
use crate::pipeline::exchange::Call;
use crate::pipeline::feature::has;
use crate::pipeline::forward::nothing;
use crate::pipeline::port::Answer;
use crate::pipeline::request::Request;
use crate::protocol::feature::{Home, TASKS};
use crate::protocol::{Era, Message, header, message, scan};

const LIST: &str = "tasks/list";

/// What a request has to do with tasks that were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) enum About {
    /// Nothing; its answer may make one.
    Nothing,
    /// It is about one task.
    One,
    /// It is about the list of them.
    All,
}

impl About {
    /// What a request of an era with this method has to do with them.
    pub(in crate::pipeline) fn of(method: &str, era: Era) -> Self {
        match Home::of(method, era) == Home::Feature(&TASKS) {
            true if method == LIST => Self::All,
            true => Self::One,
            false => Self::Nothing,
        }
    }
}

/// Serves such a request.
pub(in crate::pipeline) async fn serve(
    connector: &Arc<Connector>,
    view: Arc<View>,
    mut request: Request,
) -> Result<Answer, Fault> {
    if request.message.method_name() == LIST {
        return list::list(connector, view, request).await;
    }
    let Some(shown) = task_id(&request.message) else {
        return Err(Fault::new(Code::InvalidParams, "The params need a string \"taskId\"."));
    };
    let ids = TaskIds::of(connector, &request.caller);
    let found =
        ids.opened(&shown).and_then(|(upstream, own)| Some((connector.place_of(upstream)?, own)));
    // A task of a session is none of the modern era, even where its caller is the same.
    let found = found.filter(|(place, _)| is_of(connector, &view, *place, request.era()));
    let (place, own) = found.ok_or_else(|| unknown(&shown))?;
    if request.era() == Era::Modern
        && let Ok(value) = HeaderValue::from_str(&header::encode(own))
    {
        request.passed.push((HeaderName::from_static(header::NAME), value));
    }
    request.message = texts::with_id(&request.message, own)
        .and_then(|text| Message::parse(text).ok())
        .ok_or_else(|| unknown(&shown))?;
    let name: Arc<str> = shown.as_str().into();
    // It is not in the call's params, so it is not put there.
    let target = Target::Fixed { upstream: place, name: name.clone(), guarded: false };
    let entry = Arc::new(Entry { key: name.clone(), target, ..nothing() });
    Call::new(connector, request, view, entry, name).run().await
}

/// Whether the upstream at a place has tasks of an era, or nothing is known of it yet.
pub(super) fn is_of(connector: &Connector, view: &View, place: usize, era: Era) -> bool {
    let offering = connector.offering(view, place);
    place < connector.upstreams.len() && offering.is_none_or(|offering| has(&offering, &TASKS, era))
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
