//! Policies before the call: in order, each may change the call, refuse it or answer it.

use std::sync::Arc;

use super::call::CallContext;
use super::confirm::Wanted;
use super::exchange::{Call, refused};
use super::local;
use super::merge;
use super::mirrored;
use super::port::{Admission, Answer, Confirmation, Edit, Policy, Verdict};
use crate::fault::{Code, Fault};
use crate::protocol::Field;
use crate::telemetry::audit::Act;

/// How often earlier policies look again at arguments that a later one changed.
const MAX_ROUNDS: u32 = 2;

/// The attribute by which a policy has a sentence told in the audit line of the call.
const NOTE: &str = "audit";

/// What policies make of a call.
pub(super) enum Admitted {
    /// It goes on, once a person has confirmed what is listed, if anything is.
    Through(Vec<Wanted>),
    /// One of them answered in the upstream's place: nothing is called, so nothing has to be confirmed.
    Answered(Answer),
}

/// Runs the policies. What one of them says for the audit is told there once nobody refused.
pub(super) async fn admit(
    call: &mut Call<'_>,
    context: &mut Arc<CallContext>,
) -> Result<Admitted, Fault> {
    let policies = call.connector.policies.iter().filter(|policy| policy.hooks().admission);
    let mut turns: Vec<Turn> = policies.cloned().map(Turn::new).collect();
    let mut rounds = 0;
    while let Some(at) = turns.iter().position(|turn| turn.is_due) {
        let Some(turn) = turns.get_mut(at) else { break };
        let decision = turn.policy.admit(context.clone()).await?;
        turn.is_due = false;
        turn.reads |= context.take_arguments_read();
        // Of arguments that were changed since.
        turn.confirm = None;
        match decision {
            Admission::Pass => {}
            Admission::Confirm(Confirmation { text, attributes }) => {
                turn.confirm = Some(text);
                let set = |(key, value)| Edit::SetAttribute(key, value);
                apply(call, context, attributes.into_iter().map(set).collect())?;
            }
            Admission::Reject(rejection) => return Err(refused(turn.policy.name(), rejection)),
            Admission::Answer(result) => {
                tell(call, context);
                if let Some(trail) = &call.request.trail {
                    trail.decided(turn.policy.name(), Verdict::Answered);
                }
                return local::answered(&call.request, &result).map(Admitted::Answered);
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
    tell(call, context);
    let wanted = turns.into_iter().filter_map(|turn| {
        let text = turn.confirm?;
        Some(Wanted { policy: turn.policy.name().into(), text })
    });
    Ok(Admitted::Through(wanted.collect()))
}

/// What a policy wants to have told, where no line of the audit will carry it.
fn tell(call: &Call<'_>, context: &CallContext) {
    let Some(sentence) = context.attribute(NOTE).filter(|_| call.request.trail.is_none()) else {
        return;
    };
    let target = format!("{}/{}", call.connector.name, call.name);
    let act = Act {
        request_id: &context.request_id,
        who: &context.caller.display,
        from: "",
        action: "call",
        target: &target,
    };
    act.noted(sentence);
}

/// A policy and whether it is to be asked.
struct Turn {
    policy: Arc<dyn Policy>,
    is_due: bool,
    /// Whether it looked at the arguments.
    reads: bool,
    /// What it wants to have confirmed.
    confirm: Option<String>,
}

impl Turn {
    fn new(policy: Arc<dyn Policy>) -> Self {
        Self { policy, is_due: true, reads: false, confirm: None }
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
    let target = context.target.clone();
    *context = Arc::new(CallContext { target, attributes, ..call.context() });
    Ok(changed)
}
