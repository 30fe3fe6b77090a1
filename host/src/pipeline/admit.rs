//! Policies before the call: in order, each may change the call, refuse it or answer it.

use std::sync::Arc;

use super::call::CallContext;
use super::exchange::{Call, refused};
use super::local;
use super::merge;
use super::mirrored;
use super::port::{Admission, Answer, Edit, Policy, Verdict};
use crate::fault::{Code, Fault};
use crate::protocol::Field;

/// How often earlier policies look again at arguments that a later one changed.
const MAX_ROUNDS: u32 = 2;

/// The attribute by which a policy has a sentence told in the audit line of the call.
const NOTE: &str = "audit";

/// Runs the policies. Some answer = one of them answered in the upstream's place.
pub(super) async fn admit(
    call: &mut Call<'_>,
    context: &mut Arc<CallContext>,
) -> Result<Option<Answer>, Fault> {
    let policies = call.connector.policies.iter().filter(|policy| policy.hooks().admission);
    let mut turns: Vec<Turn> = policies.cloned().map(Turn::new).collect();
    let mut rounds = 0;
    while let Some(at) = turns.iter().position(|turn| turn.is_due) {
        let Some(turn) = turns.get_mut(at) else { break };
        let decision = turn.policy.admit(context.clone()).await?;
        turn.is_due = false;
        turn.reads |= context.take_arguments_read();
        match decision {
            Admission::Pass => {}
            Admission::Reject(rejection) => return Err(refused(turn.policy.name(), rejection)),
            Admission::Answer(result) => {
                if let Some(trail) = &call.request.trail {
                    trail.decided(turn.policy.name(), Verdict::Answered);
                }
                return local::answered(&call.request, &result).map(Some);
            }
            Admission::Edit(edits) => {
                if apply(call, context, edits)? && call_again(&mut turns, at) {
                    rounds += 1;
                    if rounds > MAX_ROUNDS {
                        let why = "policies keep changing the arguments of one call";
                        return Err(
                            Fault::new(Code::PluginInvalid, local::NO_DECISION).because(why)
                        );
                    }
                }
            }
        }
    }
    Ok(None)
}

/// A policy and whether it is to be asked.
struct Turn {
    policy: Arc<dyn Policy>,
    is_due: bool,
    /// Whether it looked at the arguments.
    reads: bool,
}

impl Turn {
    fn new(policy: Arc<dyn Policy>) -> Self {
        Self { policy, is_due: true, reads: false }
    }
}

/// Everybody who judged other arguments is due again, but for the policy that changed them.
fn call_again(turns: &mut [Turn], changed_by: usize) -> bool {
    let mut any = false;
    for (at, turn) in turns.iter_mut().enumerate() {
        if at != changed_by && turn.reads && !turn.is_due {
            turn.is_due = true;
            any = true;
        }
    }
    any
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
                if let Some(trail) = call.request.trail.as_ref().filter(|_| *key == *NOTE) {
                    trail.note(&value);
                }
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
                let before = call.request.message.field(Field::Arguments);
                let merged =
                    merge::into_arguments(&call.request.message, &patch).map_err(|error| {
                        Fault::new(Code::PluginInvalid, local::NO_DECISION).because(error)
                    })?;
                if before != merged.field(Field::Arguments) {
                    changed = true;
                    mirrored::forget(&mut call.request, &call.entry);
                }
                call.request.message = merged;
            }
        }
    }
    let mut next = call.context();
    next.attributes = attributes;
    *context = Arc::new(next);
    Ok(changed)
}
