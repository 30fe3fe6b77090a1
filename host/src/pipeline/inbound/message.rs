//! One message of a server, judged by each policy in turn.

use std::sync::{Arc, OnceLock};

use http::HeaderMap;

use crate::catalogue::Hints;
use crate::fault::{Code, Fault};
use crate::pipeline::call::{Arguments, CallContext, Way};
use crate::pipeline::caller::Caller;
use crate::pipeline::connector::Connector;
use crate::pipeline::exchange::refused;
use crate::pipeline::filters::Filters;
use crate::pipeline::local::NO_DECISION;
use crate::pipeline::port::Inbound;
use crate::pipeline::request::RequestId;
use crate::pipeline::status::LiveStatus;
use crate::pipeline::viewer::Viewer;
use crate::protocol::{Malformed, Message, Revision, Span, scan, splice};

/// Whom messages are for.
#[derive(Clone, Debug)]
pub struct Toward {
    /// Finds the call that they belong to in the log; one of their own where they belong to none.
    pub request_id: RequestId,
    /// Whose client it is.
    pub caller: Arc<Caller>,
    /// Keyed hash of the session.
    pub session: Option<Arc<str>>,
    /// The revision that the client speaks.
    pub revision: Revision,
    /// What the client said about what is to be shown; none = nothing that a policy may read.
    pub filters: Option<Arc<Filters>>,
}

/// Whether any policy looks at what servers send: if none does, nothing needs to be held back or read for it.
pub fn is_judged(connector: &Connector) -> bool {
    connector.policies.iter().any(|policy| policy.hooks().inbound)
}

/// A request or notification of the server `upstream`, as the policies leave it. A fault means that it goes no further: a
/// request is answered with it, a notification dropped.
pub async fn pass(
    connector: &Arc<Connector>,
    toward: &Toward,
    upstream: &Arc<str>,
    mut message: Message,
) -> Result<Message, Fault> {
    if !is_judged(connector) {
        return Ok(message);
    }
    let viewer = Viewer::unasked(&toward.caller, None).filtered(toward.filters.as_ref());
    let view = connector.view(viewer).await?;
    for policy in connector.policies.iter().filter(|policy| policy.hooks().inbound) {
        let context = CallContext {
            way: Way::FromUpstream,
            request_id: toward.request_id.to_string().into(),
            retry_of: None,
            connector: connector.name.clone(),
            caller: toward.caller.clone(),
            view: view.clone(),
            message: message.clone(),
            name: "".into(),
            target: Some((upstream.clone(), "".into())),
            hints: Hints::default(),
            revision: toward.revision,
            headers: Arc::new(HeaderMap::new()),
            session: toward.session.clone(),
            attributes: Vec::new(),
            requester: None,
            handles: connector.handles.clone(),
            status: LiveStatus::of(connector),
            arguments: Arguments::default(),
            spelling: OnceLock::new(),
        };
        match policy.inbound(Arc::new(context)).await? {
            Inbound::Pass => {}
            Inbound::Reject(rejection) => return Err(refused(policy.name(), rejection)),
            Inbound::Replace(params) => {
                message = with_params(&message, &params)
                    .map_err(|error| Fault::new(Code::PluginInvalid, NO_DECISION).because(error))?;
            }
        }
    }
    Ok(message)
}

/// The message with other `params`; everything else stays as it is.
pub(super) fn with_params(message: &Message, params: &str) -> Result<Message, Malformed> {
    scan::check(params, 1)?;
    let (text, span) = (message.text(), message.params_span());
    let text = if span.is_empty() {
        let start = text.iter().position(|byte| *byte == b'{').map_or(0, |at| at + 1);
        let params = format!(r#""params":{params},"#);
        splice(text, &[(Span::new(start, start), params.as_bytes())])
    } else {
        splice(text, &[(span, params.as_bytes())])
    };
    Message::parse(text)
}
