//! Ways between servers that an operator wrote: aids for finding a path, nothing is carried over them.

use std::collections::HashSet;
use std::fmt;

use crate::config::Bridge;
use crate::unified::prepared::{Function, Prepared};

/// Why a bridge does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadBridge {
    connector: String,
    /// The state that nothing produces.
    from_state: Option<String>,
    /// The state that nothing requires.
    to_state: Option<String>,
}

impl fmt::Display for BadBridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Invalid bridge edge in '{}' config: ", self.connector)?;
        if let Some(state) = &self.from_state {
            write!(f, "from_state '{state}' not found in any upstream's state_produces")?;
        }
        if let Some(state) = &self.to_state {
            let join = if self.from_state.is_some() { "; " } else { "" };
            write!(f, "{join}to_state '{state}' not found in any upstream's state_requires")?;
        }
        Ok(())
    }
}

impl std::error::Error for BadBridge {}

/// The bridges that begin at a state which something produces and end at one which something requires, and what is wrong
/// with the others.
pub fn check(
    connector: &str,
    bridges: &[Bridge],
    prepared: &Prepared,
) -> (Vec<Bridge>, Vec<BadBridge>) {
    let functions = || prepared.tools.iter().filter_map(|tool| tool.function.as_deref());
    let states = |of: fn(&Function) -> &[String]| -> HashSet<String> {
        functions().flat_map(|one| of(one).iter().cloned()).collect()
    };
    let (produced, required) = (states(|one| &one.produces), states(|one| &one.requires));
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for bridge in bridges {
        let lacks = |state: &String, known: &HashSet<String>| {
            (!known.contains(state)).then(|| state.clone())
        };
        let from_state = lacks(&bridge.from_state, &produced);
        let to_state = lacks(&bridge.to_state, &required);
        if from_state.is_none() && to_state.is_none() {
            good.push(bridge.clone());
        } else {
            bad.push(BadBridge { connector: connector.to_owned(), from_state, to_state });
        }
    }
    (good, bad)
}
