//! Conditions that all must hold, as far as is known.

use serde_json::Value;

use super::facts::Facts;
use super::hints::Hints;
use super::names::Names;
use super::reading::opened;
use super::time::Hours;
use super::value::ValueTest;

/// Whether something holds; `Unknown` = it depends on arguments that are not there yet, or on how a server reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    Unknown,
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl Truth {
    /// Whether both hold.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::Unknown,
        }
    }

    fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
        }
    }
}

/// Conditions that all must hold; none = always.
#[derive(Clone, Debug, Default)]
pub(super) struct When(pub(super) Vec<Test>);

/// One condition. A list holds where any of its items does.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Scope(Vec<Box<str>>),
    Claim(Vec<Claim>),
    Tenant(Names),
    Client(Names),
    Kind(Vec<&'static str>),
    Tool(Names),
    Upstream(Names),
    Hint(Vec<Hints>),
    Argument(Vec<Argument>),
    Time(Vec<Hours>),
    /// All of these hold.
    All(Vec<When>),
    /// None of these holds.
    Not(Vec<When>),
}

/// A claim, or something inside it.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) name: Box<str>,
    /// RFC 6901 inside the claim; empty = the whole.
    pub(super) pointer: Box<str>,
    pub(super) test: ValueTest,
}

/// An argument by its pointer.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) pointer: Box<str>,
    pub(super) test: ValueTest,
}

/// What was learned on the way: until when times stay as they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Valid(pub(super) Option<u32>);

impl Valid {
    fn until(&mut self, ms: Option<u32>) {
        if let Some(ms) = ms {
            self.0 = Some(self.0.map_or(ms, |known| known.min(ms)));
        }
    }
}

impl When {
    /// The conditions in the order in which they are cheap, those that time changes after those that nothing changes: a
    /// time matters only where all else holds.
    pub(super) fn new(mut tests: Vec<Test>) -> Self {
        tests.sort_by_key(Test::rank);
        Self(tests)
    }

    /// Names of which one must be the tool's, where the conditions say so.
    pub(super) fn exact_tools(&self) -> Option<&[Box<str>]> {
        self.0.iter().find_map(|test| match test {
            Test::Tool(names) => names.exact(),
            _ => None,
        })
    }

    pub(super) fn truth(&self, facts: &dyn Facts, valid: &mut Valid) -> Truth {
        let mut truth = Truth::Yes;
        for test in &self.0 {
            match test.truth(facts, valid) {
                Truth::Yes => {}
                Truth::No => return Truth::No,
                Truth::Unknown => truth = Truth::Unknown,
            }
        }
        truth
    }
}

impl Test {
    fn rank(&self) -> u8 {
        match self {
            Self::Kind(_) => 0,
            Self::Tool(_) => 1,
            Self::Upstream(_) | Self::Tenant(_) | Self::Client(_) | Self::Hint(_) => 2,
            Self::Scope(_) => 3,
            Self::Claim(_) => 4,
            Self::Argument(_) => 5,
            Self::Time(_) => 6,
            Self::All(nested) | Self::Not(nested) => {
                nested.iter().flat_map(|when| &when.0).map(Self::rank).max().unwrap_or_default()
            }
        }
    }

    fn truth(&self, facts: &dyn Facts, valid: &mut Valid) -> Truth {
        match self {
            Self::Scope(any) => any.iter().any(|scope| facts.has_scope(scope)).into(),
            Self::Claim(any) => any.iter().any(|claim| claim.holds(facts)).into(),
            Self::Tenant(names) => facts.tenant().is_some_and(|name| names.has(&name)).into(),
            Self::Client(names) => facts.client().is_some_and(|name| names.has(&name)).into(),
            Self::Kind(any) => any.contains(&facts.kind()).into(),
            Self::Tool(names) => (facts.kind() == "tool"
                && facts.tool_names().iter().any(|name| names.has(name)))
            .into(),
            Self::Upstream(names) => facts.upstream().is_some_and(|name| names.has(&name)).into(),
            Self::Hint(any) => any.iter().any(|hints| hints.hold(facts)).into(),
            Self::Argument(any) => any_of(any, |argument| argument.truth(facts)),
            Self::Time(any) => {
                let now = facts.now_ms();
                any_of(any, |hours| {
                    let (holds, until) = hours.at(now);
                    valid.until(until);
                    holds.into()
                })
            }
            Self::All(all) => any_of(all, |when| when.truth(facts, valid).not()).not(),
            Self::Not(none) => any_of(none, |when| when.truth(facts, valid)).not(),
        }
    }
}

fn any_of<T>(items: &[T], mut truth: impl FnMut(&T) -> Truth) -> Truth {
    let mut any = Truth::No;
    for item in items {
        match truth(item) {
            Truth::Yes => return Truth::Yes,
            Truth::No => {}
            Truth::Unknown => any = Truth::Unknown,
        }
    }
    any
}

impl Claim {
    fn holds(&self, facts: &dyn Facts) -> bool {
        let claim = facts.claim(&self.name);
        let value = claim.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        self.test.holds_any(value.as_ref().and_then(|value| value.pointer(&self.pointer)))
    }
}

impl Argument {
    fn truth(&self, facts: &dyn Facts) -> Truth {
        match facts.argument(&self.pointer) {
            None => Truth::Unknown,
            Some(None) => self.absent(facts),
            Some(text) => self.test.judge(text.as_deref()),
        }
    }

    /// Where nothing stands at the pointer, but a text that holds JSON on the way to it: some servers read on in that.
    fn absent(&self, facts: &dyn Facts) -> Truth {
        let own = self.test.judge(None);
        let mut end = self.pointer.len();
        while let Some(place) = self.pointer.get(..end).and_then(|before| before.rfind('/')) {
            let (before, rest) = self.pointer.split_at(place);
            end = place;
            if before.is_empty() {
                break;
            }
            let Some(Some(text)) = facts.argument(before) else { continue };
            let inside = serde_json::from_str::<String>(&text).ok();
            let inside = inside.as_deref().and_then(opened);
            let Some(value) = inside.as_ref().and_then(|inside| inside.pointer(rest)) else {
                return own;
            };
            let other = self.test.judge(Some(&value.to_string()));
            return if own == other { own } else { Truth::Unknown };
        }
        own
    }
}
