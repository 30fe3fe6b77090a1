//! Annotations: known to be true, known to be false, or unknown. What the specification assumes of an absent one is not
//! assumed here: a rule says what it means.

use serde_json::Value;

use super::facts::Facts;
use super::place::{Place, Wrong};

const KNOWN: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// Annotations that all must be as written.
#[derive(Clone, Debug)]
pub(super) struct Hints(Vec<(&'static str, Option<bool>)>);

impl Hints {
    pub(super) fn read(place: &Place<'_>) -> Result<Self, Wrong> {
        let members = place.members(&KNOWN)?;
        let mut wanted = Vec::new();
        for name in KNOWN {
            let Some(value) = members.get(name) else { continue };
            let state = match value.value {
                Value::Bool(flag) => Some(*flag),
                Value::String(word) if word == "unknown" => None,
                _ => return value.wrong("this must be true, false or unknown"),
            };
            wanted.push((name, state));
        }
        if wanted.is_empty() {
            return place.wrong("this must name at least one annotation");
        }
        Ok(Self(wanted))
    }

    pub(super) fn hold(&self, facts: &dyn Facts) -> bool {
        self.0.iter().all(|(name, state)| facts.hint(name) == *state)
    }
}
