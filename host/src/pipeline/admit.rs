//! Policies before the call: in order, each may change the call, refuse it or answer it.

use std::sync::Arc;

use super::call::CallContext;
use super::exchange::{Call, refused};
use super::local;
use super::merge;
use super::port::{Admission, Answer, Edit};
use crate::fault::{Code, Fault};

/// How often earlier policies look again at arguments that a later one changed.
const MAX_ROUNDS: u32 = 2;

/// Runs the policies. Some answer = one of them answered in the upstream's place.
pub(super) async fn admit(
    call: &mut Call<'_>,
    context: &mut Arc<CallContext>,
) -> Result<Option<Answer>, Fault> {
    let policies: Vec<_> =
        call.connector.policies.iter().filter(|policy| policy.hooks().admission).cloned().collect();
    let mut rounds = 0;
    // Everybody but the policy that changed the arguments last looks at them again.
    let mut at = 0;
    let mut changed_by = None;
    while at < policies.len() {
        let Some(policy) = policies.get(at).filter(|_| changed_by != Some(at)) else {
            changed_by = None;
            at += 1;
            continue;
        };
        match policy.admit(context.clone()).await? {
            Admission::Pass => {}
            Admission::Reject(rejection) => return Err(refused(policy.name(), rejection)),
            Admission::Answer(result) => return local::answered(&call.request, result).map(Some),
            Admission::Edit(edits) => {
                let changed = apply(call, context, edits)?;
                if changed && (at > 0 || changed_by.is_some()) {
                    rounds += 1;
                    if rounds > MAX_ROUNDS {
                        let why = "policies keep changing the arguments of one call";
                        return Err(
                            Fault::new(Code::PluginInvalid, local::NO_DECISION).because(why)
                        );
                    }
                    changed_by = Some(at);
                    at = 0;
                    continue;
                }
            }
        }
        at += 1;
    }
    Ok(None)
}

/// Applies edits; says whether the arguments changed.
fn apply(
    call: &mut Call<'_>,
    context: &mut Arc<CallContext>,
    edits: Vec<Edit>,
) -> Result<bool, Fault> {
    let mut attributes = context.attributes.clone();
    let mut changed = false;
    for edit in edits {
        match edit {
            Edit::SetHeader(name, value) => {
                call.request.passed.retain(|(known, _)| *known != name);
                call.request.passed.push((name, value));
            }
            Edit::RemoveHeader(name) => call.request.passed.retain(|(known, _)| *known != name),
            Edit::SetAttribute(key, value) => {
                attributes.retain(|(known, _)| *known != key);
                attributes.push((key, value));
            }
            Edit::MergeArguments(patch) => {
                // The document was checked for keys that two readers would read differently.
                context.document().map_err(|error| {
                    Fault::new(
                        Code::InvalidParams,
                        format!("The arguments are ambiguous: {error}."),
                    )
                })?;
                if !context.arguments_json().starts_with(['{', 'n']) {
                    let text = "The arguments of a call are a JSON object.";
                    return Err(Fault::new(Code::InvalidParams, text));
                }
                call.request.message = merge::into_arguments(&call.request.message, &patch)
                    .map_err(|error| {
                        Fault::new(Code::PluginInvalid, local::NO_DECISION).because(error)
                    })?;
                changed = true;
            }
        }
    }
    let mut next = call.context();
    next.attributes = attributes;
    *context = Arc::new(next);
    Ok(changed)
}
