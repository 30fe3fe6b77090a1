//! What is kept of the things that can be found, and what they cost.

use super::catalogue::{self, Transition};
use super::cut;
use super::found::Found;
use super::prepared::{Function, Parameter};
use super::words::{Described, TEXT_MAX, text_of_function, text_of_skill};

/// So many bytes of a description are kept where no list has it.
pub(super) const DESCRIPTION_MAX: usize = 1_024;
/// So many arguments, states and phrases of one function are kept.
pub(super) const PARTS_MAX: usize = 32;
/// So many bytes of an argument's name, and of its type, are kept.
const WORD_MAX: usize = 512;
/// What one thing costs besides its texts.
const THING: usize = 64;

/// Bytes, about, that a thing takes: nothing is kept that is not counted here.
pub(super) fn cost(found: &Found<'_>) -> usize {
    let long = |texts: &[String]| texts.iter().take(PARTS_MAX).map(|text| THING + text.len()).sum();
    THING
        + match found {
            Found::Tool(own) => {
                let Described { name, title, description } = Described::of(own.definition);
                let long = |text: Option<String>| text.map_or(0, |text| text.len());
                3 * own.name.len() + name.len() + (long(title) + long(description)).min(TEXT_MAX)
            }
            Found::Function(one, _, _) => {
                let parameters = one.required_parameters.iter().chain(&one.optional_parameters);
                let parameters: usize = parameters
                    .take(PARTS_MAX)
                    .map(|one| {
                        2 * THING + one.name.len().min(WORD_MAX) + one.r#type.len().min(WORD_MAX)
                    })
                    .sum();
                let Transition { requires, produces } = &one.state_transition;
                let states: usize = long(requires) + long(produces);
                let own = one.own_name.as_ref().map_or(0, String::len);
                let kept = one.name.len() + own + one.description.len().min(DESCRIPTION_MAX);
                text_of_function(one).len() + kept + parameters + states
            }
            Found::Skill(one, _, _) => {
                let states: usize = long(&one.states);
                let kept = one.name.len() + one.domain.len();
                text_of_skill(one).len()
                    + kept
                    + one.description.len().min(DESCRIPTION_MAX)
                    + states
            }
        }
}

/// What is kept of a function.
pub(super) fn kept(one: catalogue::Function) -> Function {
    let states = |mut states: Vec<String>| {
        states.truncate(PARTS_MAX);
        states.sort_unstable();
        states.dedup();
        states
    };
    let parameters = |all: Vec<catalogue::Parameter>, required: bool| {
        all.into_iter().map(move |one| Parameter {
            name: cut(&one.name, WORD_MAX),
            r#type: cut(&one.r#type, WORD_MAX),
            required,
            description: cut(&one.description.unwrap_or_default(), 64),
        })
    };
    let required = parameters(one.required_parameters, true);
    let all = required.chain(parameters(one.optional_parameters, false));
    Function {
        parameters: all.take(PARTS_MAX).collect(),
        name: one.name,
        own: one.own_name,
        description: cut(&one.description, DESCRIPTION_MAX),
        requires: states(one.state_transition.requires),
        produces: states(one.state_transition.produces),
    }
}
