//! How a call of a plugin can fail, and what the pipeline is told.

use std::time::Duration;

use wasmtime::Trap;

use super::error::sentence;
use crate::fault::{Code, Fault};

/// A call of a plugin that gave no decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It trapped.
    Trap(String),
    /// It ran too long.
    Timeout,
    /// It wanted too much memory.
    Memory,
    /// It asked the host too often.
    Flood,
    /// It says that it failed.
    Said {
        /// Its sentence, for the log.
        message: String,
        /// Whether the same question may be answered later.
        retryable: bool,
    },
    /// Its decision makes no sense.
    Invalid(String),
    /// No instance was free.
    Busy,
    /// Too many calls wait for servers, of this caller, at this server, or in all.
    Crowded,
    /// It is put aside for so long.
    Aside(Duration),
    /// The operator put it out of use.
    Disabled,
    /// No instance could be made.
    Broken(String),
    /// The arguments of the call cannot be read the same way by everybody: the client's fault.
    Arguments(String),
}

/// Thrown by host functions when a call used up its host calls.
#[derive(Debug, thiserror::Error)]
#[error("the plugin asked the host too often in one call")]
pub(super) struct TooManyHostCalls;

impl Failure {
    /// The words of the classes, for metrics.
    pub const CLASSES: [&'static str; 11] = [
        "trap",
        "timeout",
        "memory",
        "flood",
        "error",
        "invalid",
        "busy",
        "aside",
        "broken",
        "arguments",
        "disabled",
    ];

    /// Place in [`Self::CLASSES`].
    pub fn class(&self) -> usize {
        match self {
            Self::Trap(_) => 0,
            Self::Timeout => 1,
            Self::Memory => 2,
            Self::Flood => 3,
            Self::Said { .. } => 4,
            Self::Invalid(_) => 5,
            Self::Busy | Self::Crowded => 6,
            Self::Aside(_) => 7,
            Self::Broken(_) => 8,
            Self::Arguments(_) => 9,
            Self::Disabled => 10,
        }
    }

    /// Whether it counts against the plugin.
    pub fn counts(&self) -> bool {
        !matches!(
            self,
            Self::Busy | Self::Crowded | Self::Aside(_) | Self::Disabled | Self::Arguments(_)
        )
    }

    /// What an error of the engine means; `memory` says that a growth was refused during the call.
    pub(super) fn of(error: &wasmtime::Error, memory: bool) -> Self {
        if error.is::<TooManyHostCalls>() {
            return Self::Flood;
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => Self::Timeout,
            _ if memory => Self::Memory,
            Some(trap) => Self::Trap(trap.to_string()),
            None => {
                let said = sentence(error);
                if said.contains("fuel allocated for hostcalls") {
                    Self::Invalid("it gave more data than the host takes".into())
                } else {
                    Self::Trap(said)
                }
            }
        }
    }

    /// What the client and the log are told.
    pub fn into_fault(self, plugin: &str, hook: &'static str) -> Fault {
        let (code, public, wait) = match &self {
            Self::Trap(_) | Self::Flood | Self::Broken(_) => (
                Code::PluginTrap,
                "A plugin of this connector crashed, so the call was refused.",
                None,
            ),
            Self::Timeout => (
                Code::PluginTimeout,
                "A plugin of this connector took too long, so the call was refused.",
                None,
            ),
            Self::Memory => (
                Code::PluginMemory,
                "A plugin of this connector ran out of memory, so the call was refused.",
                None,
            ),
            Self::Said { retryable, .. } => (
                Code::PluginError,
                "A plugin of this connector could not decide, so the call was refused.",
                retryable.then_some(Duration::from_secs(1)),
            ),
            Self::Invalid(_) => (
                Code::PluginInvalid,
                "A plugin of this connector gave an invalid decision, so the call was refused.",
                None,
            ),
            Self::Busy => (
                Code::PluginBusy,
                "A plugin of this connector is busy; try again in a moment.",
                Some(Duration::from_secs(1)),
            ),
            Self::Crowded => (
                Code::PluginBusy,
                "Too many calls wait here for answers of servers already; try again in a moment.",
                Some(Duration::from_secs(1)),
            ),
            Self::Aside(wait) => (
                Code::PluginAside,
                "A plugin of this connector keeps failing and is put aside; try again later.",
                Some(*wait),
            ),
            Self::Disabled => (
                Code::PluginAside,
                "The operator has put a plugin of this connector out of use, so the call was refused.",
                None,
            ),
            Self::Arguments(why) => {
                return Fault::new(
                    Code::InvalidParams,
                    format!("The arguments are ambiguous: {why}."),
                );
            }
        };
        let cause = format!("plugin {plugin:?} failed in {hook}: {}", self.describe());
        let fault = Fault::new(code, public).because(cause).by(plugin);
        match wait {
            Some(wait) => fault.retry_after(wait),
            None => fault,
        }
    }

    /// One sentence for the log and the operator.
    pub fn describe(&self) -> String {
        match self {
            Self::Trap(why) => format!("it trapped ({why})"),
            Self::Timeout => "it ran longer than it may".into(),
            Self::Memory => "it wanted more memory than it may have".into(),
            Self::Flood => TooManyHostCalls.to_string(),
            Self::Said { message, .. } => format!("it says: {message}"),
            Self::Invalid(why) => format!("its decision makes no sense: {why}"),
            Self::Busy => "no instance was free in time".into(),
            Self::Crowded => "too many of its calls wait for servers".into(),
            Self::Aside(wait) => format!("it is put aside for {} ms", wait.as_millis()),
            Self::Disabled => "the operator put it out of use".into(),
            Self::Broken(why) => format!("no instance could be made: {why}"),
            Self::Arguments(why) => format!("the arguments are ambiguous: {why}"),
        }
    }
}
