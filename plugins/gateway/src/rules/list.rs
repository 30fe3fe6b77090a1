//! The rules in their order.

use std::collections::HashMap;

use super::config::RulesConfig;
use super::facts::Facts;
use super::place::{Members, Place, Wrong};
use super::verdict::{Act, LimitKey, Outlook, Verdict};
use super::when::{Truth, Valid, When};
use super::write;

/// Rules of one place; as many as [`Places`] has bits.
const RULES_MAX: usize = 256;

const PER: [(&str, LimitKey); 5] = [
    ("caller", LimitKey::Caller),
    ("tenant", LimitKey::Tenant),
    ("tool", LimitKey::Tool),
    ("caller_tool", LimitKey::CallerTool),
    ("all", LimitKey::All),
];

/// Checked rules.
#[derive(Clone, Debug)]
pub struct Rules {
    all: Vec<Rule>,
    /// Rules that may hold for any name.
    general: Places,
    /// Rules that hold for nothing but tools of these names.
    exact: HashMap<Box<str>, Places>,
    denies: bool,
    observes: bool,
}

#[derive(Clone, Debug)]
struct Rule {
    name: Box<str>,
    when: When,
    act: Act,
    reason: Option<Box<str>>,
}

/// A set of places of rules.
type Places = [u64; RULES_MAX / 64];

impl Rules {
    /// Reads what an operator wrote. The error is the path of the wrong key and one sentence about it.
    pub fn checked(config: RulesConfig) -> Result<Self, (String, String)> {
        let RulesConfig { rules: written, default, mode } = config;
        let place = Place::new("rules", &written);
        let items = if written.is_null() { Vec::new() } else { place.items()? };
        let mut rules: Vec<Rule> = Vec::with_capacity(items.len());
        for item in &items {
            let rule = rule(item)?;
            if rules.iter().any(|known| known.name == rule.name) {
                return Err((format!("{}.name", item.path), "another rule has this name".into()));
            }
            rules.push(rule);
        }
        let choice = |key: &str, value, words: &[(&str, bool)]| {
            let place = Place::new(key, value);
            if value.is_null() { Ok(false) } else { place.word(words) }
        };
        let denies = choice("default", &default, &[("allow", false), ("deny", true)])?;
        let observes = choice("mode", &mode, &[("enforce", false), ("observe", true)])?;
        let (general, exact) = sorted(&rules);
        Ok(Self { all: rules, general, exact, denies, observes })
    }

    /// Whether there is nothing to decide.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && !self.denies
    }

    /// Whether what no rule decides is refused.
    pub fn denies(&self) -> bool {
        self.denies
    }

    /// Whether what would be refused is let pass and told to the audit.
    pub fn observes(&self) -> bool {
        self.observes
    }

    /// Judges a call: the first rule that holds decides. Where it depends on how the server reads an argument whether one
    /// holds, the strictest of those that may decide does.
    pub fn decide(&self, facts: &dyn Facts) -> Verdict<'_> {
        let mut valid = Valid::default();
        let default = if self.denies { Act::Deny } else { Act::Allow };
        let mut found: Option<(Act, Option<&Rule>)> = None;
        let mut consider = |act: Act, rule| {
            if found.is_none_or(|(known, _)| strictness(act) > strictness(known)) {
                found = Some((act, rule));
            }
        };
        let mut decided = false;
        for rule in self.candidates(facts) {
            let truth = rule.when.truth(facts, &mut valid);
            if truth != Truth::No {
                consider(rule.act, Some(rule));
            }
            decided = truth == Truth::Yes;
            if decided {
                break;
            }
        }
        if !decided {
            consider(default, None);
        }
        let (act, rule) = found.unwrap_or((default, None));
        let name = rule.map(|rule| &*rule.name);
        let reason = rule.and_then(|rule| rule.reason.as_deref());
        if !self.observes {
            return Verdict { act, rule: name, reason, observed: None };
        }
        let what = match act {
            Act::Allow | Act::Limit { .. } => None,
            Act::Deny => Some("deny"),
            Act::Confirm => Some("ask for confirmation"),
        };
        let observed = what.map(|what| {
            let rule = name.unwrap_or("default");
            let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("would {what}: {rule}{reason}")
        });
        // Limits are no word about what a call does: they hold in any mode.
        let act = if matches!(act, Act::Limit { .. }) { act } else { Act::Allow };
        Verdict { act, rule: name, reason, observed }
    }

    /// Judges a thing of a list, of which no arguments are known, and says for how many milliseconds that holds; none = until
    /// something else changes.
    pub fn sight(&self, facts: &dyn Facts) -> (Outlook, Option<u32>) {
        if self.observes {
            return (Outlook::Callable, None);
        }
        let mut valid = Valid::default();
        let (mut refused, mut allowed) = (false, false);
        let mut note = |denies: bool| {
            refused |= denies;
            allowed |= !denies;
        };
        let mut decided = false;
        for rule in self.candidates(facts) {
            let truth = rule.when.truth(facts, &mut valid);
            if truth != Truth::No {
                note(rule.act == Act::Deny);
            }
            if truth == Truth::Yes {
                decided = true;
                break;
            }
        }
        if !decided {
            note(self.denies);
        }
        let outlook = match (refused, allowed) {
            (true, false) => Outlook::Denied,
            (true, true) => Outlook::Maybe,
            (false, _) => Outlook::Callable,
        };
        (outlook, valid.0)
    }

    /// The rules that may hold, in order: one that names exact tools is not asked about others.
    fn candidates<'a>(&'a self, facts: &dyn Facts) -> impl Iterator<Item = &'a Rule> {
        let mut places = self.general;
        if !self.exact.is_empty() && facts.kind() == "tool" {
            for name in facts.tool_names() {
                if let Some(more) = self.exact.get(name.as_str()) {
                    places.iter_mut().zip(more).for_each(|(place, more)| *place |= more);
                }
            }
        }
        self.all.iter().enumerate().filter(move |(at, _)| has(&places, *at)).map(|(_, rule)| rule)
    }
}

fn strictness(act: Act) -> u8 {
    match act {
        Act::Allow => 0,
        Act::Limit { .. } => 1,
        Act::Confirm => 2,
        Act::Deny => 3,
    }
}

fn sorted(rules: &[Rule]) -> (Places, HashMap<Box<str>, Places>) {
    let mut general = Places::default();
    let mut exact: HashMap<Box<str>, Places> = HashMap::new();
    for (at, rule) in rules.iter().enumerate() {
        match rule.when.exact_tools() {
            None => set(&mut general, at),
            Some(names) => {
                for name in names {
                    set(exact.entry(name.clone()).or_default(), at);
                }
            }
        }
    }
    (general, exact)
}

fn set(places: &mut Places, at: usize) {
    if let Some(word) = places.get_mut(at / 64) {
        *word |= 1 << (at % 64);
    }
}

fn has(places: &Places, at: usize) -> bool {
    places.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
}

fn rule(place: &Place<'_>) -> Result<Rule, Wrong> {
    let members = place.members(&["name", "when", "do", "reason", "limit"])?;
    let name = match members.get("name") {
        Some(name) => name.text()?.into(),
        None => place.path.as_str().into(),
    };
    let when = members.get("when").map(|place| write::when(&place)).transpose()?;
    let reason = members.get("reason").map(|place| place.text().map(Into::into)).transpose()?;
    Ok(Rule { name, when: when.unwrap_or_default(), act: act(&members)?, reason })
}

fn act(members: &Members<'_>) -> Result<Act, Wrong> {
    let words = [("allow", 0), ("deny", 1), ("confirm", 2), ("limit", 3)];
    let word = members.need("do")?.word(&words)?;
    let limit = members.get("limit");
    match (word, limit) {
        (3, None) => Err(members.missing("limit")),
        (3, Some(place)) => {
            let members = place.members(&["per_minute", "burst", "per"])?;
            Ok(Act::Limit {
                per_minute: members.need("per_minute")?.count()?,
                burst: members.get("burst").map(|place| place.count()).transpose()?,
                key: match members.get("per") {
                    Some(per) => per.word(&PER)?,
                    None => LimitKey::Caller,
                },
            })
        }
        (_, Some(place)) => place.wrong("a limit goes with `do: limit` only"),
        (0, None) => Ok(Act::Allow),
        (1, None) => Ok(Act::Deny),
        (_, None) => Ok(Act::Confirm),
    }
}
