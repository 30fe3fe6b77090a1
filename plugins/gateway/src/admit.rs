//! Whether a call may be made: lists, rules, limits, and at last a person.

use plugway_sdk::Rejection;
use plugway_sdk::hooks::policy::{Admit, Confirmation, Edit};
use plugway_sdk::host::call;

use crate::called::{Called, Subject};
use crate::charges::{self, Charged};
use crate::confirm;
use crate::facts::OfCall;
use crate::functions::{CodeBan, Functions};
use crate::gateway::Gateway;
use crate::limits::Limit;
use crate::lists::{Ban, is_brought};
use crate::names::{EXECUTE, Names, PARALLEL};
use crate::refusal::{self, Kind};
use crate::rules::{Act, Verdict};

/// Which rule let a call pass, where somebody wants to know.
const DECIDED_BY: &str = "decided-by";
/// One sentence for the audit line of the call.
const AUDIT: &str = "audit";
/// Requests about a task that a call made, in either era.
const OF_TASKS: [&str; 5] =
    ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"];

/// Bytes of code, as JSON, that is looked at: so much is read in a fraction of the time that a plugin has.
const CODE_MAX: usize = 128 << 10;

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
        if called.ends {
            return Ok(Admit::Pass);
        }
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
        // Behind the limits, so that nobody has code read for nothing again and again.
        if let Err(refusal) = self.by_code(called) {
            if !self.observes {
                return Err(refusal);
            }
            let would = format!("would deny: {}", refusal.cause.unwrap_or_default());
            audit = Some(audit.map_or(would.clone(), |before| format!("{before}; {would}")));
        }
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
        let refused =
            |ban: Ban| Box::new(refusal::blocked(called.kind(), &called.name, cause(sort, ban)));
        lists.judge(&names, brought).map_err(refused)?;
        let Some(uri) = called.normalised() else { return Ok(()) };
        // Its own name is that of a template, or the URI once more.
        let own = if names.own == names.shown { &*uri } else { names.own };
        lists.judge(&Names { shown: &uri, own, ..names }, brought).map_err(refused)
    }

    /// What the lists of tools say of the functions that the call's code uses.
    fn by_code(&self, called: &Called) -> Result<(), Box<Rejection>> {
        if called.subject != Subject::Tool || self.tools.are_empty() {
            return Ok(());
        }
        let runs = || matches!(called.names().short, Some(EXECUTE | PARALLEL));
        let functions = called.functions();
        if functions.is_none() && !runs() {
            return Ok(());
        }
        let banned = self.tools.banned(Functions(functions.unwrap_or_default()));
        let Some(code) = (!banned.is_empty()).then(|| called.code()).flatten() else {
            return Ok(());
        };
        if code.len() > CODE_MAX {
            return Err(Box::new(refusal::too_long(CODE_MAX)));
        }
        let Ok(code) = serde_json::from_str::<String>(&code) else { return Ok(()) };
        banned.judge(&code).map_err(|ban| {
            Box::new(match ban {
                CodeBan::Function(name, ban) => {
                    refusal::blocked(called.kind(), &name, cause("tools", ban))
                }
                CodeBan::Unreadable => {
                    let cause = "the code cannot be read, and `blocked_tools` or `allowed_tools` name functions";
                    refusal::unreadable(cause.to_owned())
                }
            })
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
        let own: Vec<&Limit> = own.collect();
        if (own.is_empty() && of_rule.is_none()) || call::retry_of().is_some() {
            return Ok(None);
        }
        let Some(cost) = called.cost() else { return Err(Box::new(refusal::uncountable())) };
        let may_be_again = called.was_read() || !self.rules.is_empty();
        let before = if may_be_again { call::attribute(&self.charged) } else { None };
        let mut charged = before.map(|text| Charged::read(&text)).unwrap_or_default();
        let mut due: Vec<(&Limit, u32)> = Vec::with_capacity(own.len() + 1);
        if !own.is_empty() {
            let more = charged.raise_own(cost);
            due.extend(own.into_iter().map(|limit| (limit, more)));
        }
        if let Some(limit) = &of_rule {
            due.push((limit, charged.raise_of_rule(&limit.prefix, cost)));
        }
        due.retain(|(_, due)| *due > 0);
        charges::take(&due, called)?;
        Ok(called.was_read().then(|| (self.charged.to_string(), charged.text())))
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
