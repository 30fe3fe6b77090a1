//! What an operator should look at: the shape is good without it.

use std::fmt;

use crate::actions::ACTIONS_MAX;

/// Something that was left out of a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The name was taken by an upstream that comes earlier in the configuration.
    Clash {
        /// `tool`, `prompt`, `resource` or `template`
        kind: &'static str,
        /// the name or URI
        name: String,
        /// who keeps it
        winner: String,
        /// who does not get it, nor ever takes its place
        upstream: String,
    },
    /// A definition that cannot be read; the others are not touched by it.
    Malformed {
        /// `tool`, `prompt`, `resource` or `template`
        kind: &'static str,
        /// its place in the upstream's list
        index: usize,
        /// what is wrong
        reason: String,
        /// whose it is
        upstream: String,
    },
    /// A tool that was to be split by its actions and is served whole.
    Whole {
        /// the server's own name for the tool
        tool: String,
        /// whose it is
        upstream: String,
    },
    /// A catalogue of functions and skills that cannot be read.
    Catalogue {
        /// what is wrong
        reason: String,
        /// whose it is
        upstream: String,
    },
    /// An upstream has so much that the last of it cannot be searched.
    Unsearchable {
        /// number of tools, functions and skills that are not found
        left: usize,
        /// whose they are
        upstream: String,
    },
    /// An upstream has so many functions that the last of them cannot be judged, and are not shown.
    Functions {
        /// how many
        left: usize,
        /// whose they are
        upstream: String,
    },
    /// The operator gave a function the name that another one of the same server has.
    Alias {
        /// the function's own name
        own: String,
        /// the name
        name: String,
        /// whose they are
        upstream: String,
    },
    /// Functions and skills that have no proper name, hide what they say, are too long, or are none.
    Odd {
        /// how many
        count: usize,
        /// whose they are
        upstream: String,
    },
}

impl Warning {
    /// The upstream that loses an entry.
    pub fn upstream(&self) -> &str {
        match self {
            Self::Clash { upstream, .. }
            | Self::Malformed { upstream, .. }
            | Self::Whole { upstream, .. }
            | Self::Catalogue { upstream, .. }
            | Self::Alias { upstream, .. }
            | Self::Odd { upstream, .. }
            | Self::Functions { upstream, .. }
            | Self::Unsearchable { upstream, .. } => upstream,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clash { kind, name, winner, upstream } if winner == upstream => {
                write!(f, "{upstream} lists the {kind} {name} twice; the first one counts")
            }
            Self::Clash { kind, name, winner, upstream } => write!(
                f,
                "the {kind} {name} of {upstream} is left out: {winner} comes first and keeps the name; \
                 give one of them an alias or a prefix"
            ),
            Self::Malformed { kind, index, reason, upstream } => {
                write!(f, "{kind} number {index} of {upstream} is left out: {reason}")
            }
            Self::Whole { tool, upstream } => write!(
                f,
                "the tool {tool} of {upstream} is served whole: its actions are not listed in its schema, are more \
                 than {ACTIONS_MAX}, would be too much text, or are about ids that belong to somebody"
            ),
            Self::Catalogue { reason, upstream } => {
                write!(f, "the catalogue of {upstream} is left out: {reason}")
            }
            Self::Unsearchable { left, upstream } => write!(
                f,
                "the search does not find the last {left} tools of {upstream}: there is not room for all"
            ),
            Self::Functions { left, upstream } => write!(
                f,
                "the last {left} functions of {upstream} are left out: one connector has no room for so many"
            ),
            Self::Odd { count, upstream } => write!(
                f,
                "{count} functions or skills of {upstream} are left out: their names are empty, longer than 256 bytes, \
                 or hold characters that are not seen, their texts hide what they say or are longer than 64 KiB, or there \
                 are more than 10000"
            ),
            Self::Alias { own, name, upstream } => write!(
                f,
                "the function {own} of {upstream} is shown as {name}, which is the name of another one: give it another alias"
            ),
        }
    }
}
