//! Whether a call may be made: lists, rules, limits, and at last a person.

use plugway_sdk::Rejection;
use plugway_sdk::hooks::policy::{Admit, Confirmation, Edit};
use plugway_sdk::host::call;

use crate::called::{Called, Subject};
use crate::charges;
use crate::confirm;
use crate::facts::OfCall;
use crate::functions::{CodeBan, Functions};
use crate::gateway::Gateway;
use crate::limits::Limit;
use crate::lists::{Ban, is_brought};
use crate::names::{EXECUTE, PARALLEL};
use crate::refusal::{self, Kind};
use crate::rules::{Act, Verdict};

/// Which rule let a call pass, where somebody wants to know.
const DECIDED_BY: &str = "decided-by";
/// One sentence for the audit line of the call.
const AUDIT: &str = "audit";
/// Requests about a task that a call made, in either era.
const OF_TASKS: [&str; 5] =
    ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"];

impl Gateway {
    /// Judges the call in hand.
    pub fn judge(&self) -> Admit {
        let Some(called) = Called::read() else { return self.judge_other(&call::method()) };
        match self.decide(&called) {
            Ok(decision) => decision,
            Err(refusal) => Admit::Reject(*refusal),
        }
    }

    /// Judges a request that is about nothing of a list: no list and no rule speaks of it, but where everything is denied that no
    /// rule allows, a method is that nobody here knows. Requests about tasks follow a call that was judged.
    fn judge_other(&self, method: &str) -> Admit {
        if !self.rules.denies() || OF_TASKS.contains(&method) {
            return Admit::Pass;
        }
        if self.observes {
            return Admit::Edit(vec![Edit::attribute(AUDIT, "would deny: default")]);
        }
        Admit::Reject(refusal::blocked(Kind::Method, method, "the rule default".to_owned()))
    }

    fn decide(&self, called: &Called) -> Result<Admit, Box<Rejection>> {
        let mut attributes = Vec::new();
        let mut audit = None;
        if let Err(refusal) = self.by_lists(called) {
            if !self.observes {
                return Err(refusal);
            }
            audit = Some(format!("would deny: {}", refusal.cause.unwrap_or_default()));
        }
        let verdict = (!self.rules.is_empty()).then(|| self.rules.decide(&OfCall::new(called)));
        if let Some(verdict) = &verdict {
            by_rules(called, verdict)?;
            audit = match (audit, verdict.observed.clone()) {
                (Some(lists), Some(rules)) => Some(format!("{lists}; {rules}")),
                (lists, rules) => lists.or(rules),
            };
            if call::attribute("explain").is_some_and(|wanted| wanted == "true") {
                let rule = verdict.rule.unwrap_or("default");
                attributes.push((DECIDED_BY.to_owned(), rule.to_owned()));
            }
        }
        let act = verdict.as_ref().map_or(Act::Allow, |verdict| verdict.act);
        attributes.extend(self.charge(
            called,
            act,
            verdict.as_ref().and_then(|verdict| verdict.rule),
        )?);
        attributes.extend(audit.map(|sentence| (AUDIT.to_owned(), sentence)));
        let question = match &verdict {
            Some(Verdict { act: Act::Confirm, reason, .. }) => {
                Some(confirm::of_rule(called, *reason))
            }
            _ => self.destructive.as_ref().and_then(|destructive| destructive.asks(called)),
        };
        Ok(match question {
            Some(text) => Admit::Confirm(Confirmation { text, attributes }),
            None if attributes.is_empty() => Admit::Pass,
            None => Admit::Edit(attributes.into_iter().map(Edit::SetAttribute).collect()),
        })
    }

    /// The lists' word.
    fn by_lists(&self, called: &Called) -> Result<(), Box<Rejection>> {
        let (lists, sort) = match called.subject {
            Subject::Tool => (&self.tools, "tools"),
            Subject::Prompt => (&self.prompts, "prompts"),
            Subject::Resource => (&self.resources, "resources"),
        };
        if lists.are_empty() {
            return Ok(());
        }
        let names = called.names();
        let brought = || {
            called.is_own()
                || (is_brought(names.short)
                    && lists.allowed.as_ref().is_some_and(|allowed| {
                        Functions(called.functions().unwrap_or_default()).are_named_by(allowed)
                    }))
        };
        let refused = |name: &str, ban: Ban| {
            Box::new(refusal::blocked(called.kind(), name, cause(sort, ban)))
        };
        lists.judge(&names, brought).map_err(|ban| refused(&called.name, ban))?;
        if called.subject != Subject::Tool {
            return Ok(());
        }
        let runs = called.functions().is_some() || matches!(names.short, Some(EXECUTE | PARALLEL));
        let Some(code) = runs.then(|| called.code()).flatten() else { return Ok(()) };
        let functions = Functions(called.functions().unwrap_or_default());
        lists.judge_code(&code, functions).map_err(|ban| match ban {
            CodeBan::Function(name, ban) => refused(&name, ban),
            CodeBan::Unreadable => {
                let cause = "the code cannot be read, and `blocked_tools` or `allowed_tools` name functions";
                Box::new(refusal::unreadable(cause.to_owned()))
            }
        })
    }

    /// Counts the call. The attribute keeps what was counted, for when the call is judged again.
    fn charge(
        &self,
        called: &Called,
        act: Act,
        rule: Option<&str>,
    ) -> Result<Option<(String, String)>, Box<Rejection>> {
        let of_rule = match act {
            Act::Limit { per_minute, burst, key } => {
                Some(Limit::of_rule(rule.unwrap_or_default(), per_minute, burst, key))
            }
            _ => None,
        };
        let counted = called.subject == Subject::Tool;
        let own = self.limits.iter().filter(|limit| counted && limit.is_about(called));
        let limits: Vec<&Limit> = own.chain(&of_rule).collect();
        if limits.is_empty() || call::retry_of().is_some() {
            return Ok(None);
        }
        let cost = called.cost();
        let may_be_again = called.was_read() || !self.rules.is_empty();
        let before = if may_be_again { call::attribute(&self.charged) } else { None };
        let before = before.and_then(|cost| cost.parse::<u32>().ok());
        let due = cost.saturating_sub(before.unwrap_or(0));
        if due > 0 {
            charges::take(&limits, called, due)?;
        }
        let kept = before.unwrap_or(0).max(cost);
        Ok(called.was_read().then(|| (self.charged.to_string(), kept.to_string())))
    }
}

/// The rules' word, as far as it is no.
fn by_rules(called: &Called, verdict: &Verdict<'_>) -> Result<(), Box<Rejection>> {
    let rule = verdict.rule.unwrap_or("default");
    match verdict.act {
        Act::Deny => {
            let cause = format!("the rule {rule}");
            Err(Box::new(match verdict.reason {
                Some(reason) => refusal::with(called.kind(), reason.to_owned(), cause),
                None => refusal::blocked(called.kind(), &called.name, cause),
            }))
        }
        Act::Confirm if !called.can_be_confirmed => {
            let cause = format!(
                "the rule {rule} wants a confirmation, which subscriptions and completions cannot have"
            );
            Err(Box::new(refusal::blocked(called.kind(), &called.name, cause)))
        }
        _ => Ok(()),
    }
}

/// Which list is against something, for the log.
fn cause(sort: &str, ban: Ban) -> String {
    match ban {
        Ban::Blocked => format!("`blocked_{sort}` names it"),
        Ban::NotAllowed => format!("`allowed_{sort}` does not name it"),
    }
}
