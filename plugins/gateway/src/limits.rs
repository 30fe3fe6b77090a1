//! Limits, and where each is counted.

use plugway_sdk::{BadConfig, host::caller};
use sha2::{Digest as _, Sha256};

use crate::called::Called;
use crate::config::{LimitOptions, Options};
use crate::lists::Patterns;
use crate::rules::LimitKey;

/// Limits besides `max_calls_per_minute` and the one of a rule: 16 are taken as one.
const LIMITS_MAX: usize = 14;
/// Largest number of calls.
const CALLS_MAX: u32 = 1_000_000;
/// Bytes that a key may have.
const KEY_MAX: usize = 256;

/// One limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Where it is written, for the log.
    pub name: Box<str>,
    /// Begins its keys. It does not change with the numbers, nor with the place in the list, so that what was counted counts
    /// under changed ones, too.
    pub prefix: Box<str>,
    /// Calls within a minute.
    pub per_minute: u32,
    /// Some = a token bucket of this size, none = a sliding window.
    pub burst: Option<u32>,
    /// Who shares it.
    pub per: LimitKey,
    /// The tools that it is about; none = all.
    pub tools: Option<Patterns>,
}

impl Limit {
    /// All limits that an operator wrote but those of rules.
    pub fn checked(options: &Options) -> Result<Vec<Self>, BadConfig> {
        let mut limits = Vec::new();
        if let Some(per_minute) = options.max_calls_per_minute {
            in_bounds("max_calls_per_minute", per_minute)?;
            let (name, prefix) = ("max_calls_per_minute".into(), "m".into());
            limits.push(Self {
                name,
                prefix,
                per_minute,
                burst: None,
                per: LimitKey::Caller,
                tools: None,
            });
        }
        if options.limits.len() > LIMITS_MAX {
            return Err(BadConfig::at("limits", format!("more than {LIMITS_MAX}")));
        }
        for (place, written) in options.limits.iter().enumerate() {
            let mut limit = one(&format!("limits[{place}]"), written)?;
            let same = limits.iter().filter(|known| known.prefix == limit.prefix).count();
            if same > 0 {
                limit.prefix = format!("{}/{same}", limit.prefix).into();
            }
            limits.push(limit);
        }
        Ok(limits)
    }

    /// The limit of a rule of this name.
    pub fn of_rule(rule: &str, per_minute: u32, burst: Option<u32>, per: LimitKey) -> Self {
        let prefix = format!("r{}", digest(rule.as_bytes(), 16));
        Self { name: rule.into(), prefix: prefix.into(), per_minute, burst, per, tools: None }
    }

    /// Whether it is about this call.
    pub fn is_about(&self, called: &Called) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.match_any(&called.names()))
    }

    /// How much it ever has room for.
    pub fn room(&self) -> u32 {
        self.burst.unwrap_or(self.per_minute)
    }

    /// Where a call is counted.
    pub fn key(&self, called: &Called) -> String {
        let tool = || match &called.target {
            Some((upstream, own)) => [upstream, "\n", own].concat(),
            None => ["\n", &called.name].concat(),
        };
        let who = match self.per {
            LimitKey::Caller => caller::id(),
            LimitKey::Tenant => caller::tenant().unwrap_or_default(),
            LimitKey::Tool => tool(),
            LimitKey::CallerTool => [&caller::id(), "\n", &tool()].concat(),
            LimitKey::All => String::new(),
        };
        bounded([&self.prefix, "\n", &who].concat())
    }
}

fn one(path: &str, written: &LimitOptions) -> Result<Limit, BadConfig> {
    in_bounds(&format!("{path}.calls_per_minute"), written.calls_per_minute)?;
    if let Some(burst) = written.burst {
        in_bounds(&format!("{path}.burst"), burst)?;
    }
    let tools = written.tools.clone().map(|mut tools| {
        tools.sort();
        tools
    });
    let kind = if written.burst.is_some() { "bucket" } else { "window" };
    let about = format!("{kind} {:?} {tools:?}", written.per);
    let tools =
        tools.map(|tools| Patterns::checked(&format!("{path}.tools"), tools)).transpose()?;
    if tools.as_ref().is_some_and(Patterns::is_empty) {
        return Err(BadConfig::at(format!("{path}.tools"), "names no tool; leave it out for all"));
    }
    Ok(Limit {
        name: path.into(),
        prefix: format!("l{}", digest(about.as_bytes(), 16)).into(),
        per_minute: written.calls_per_minute,
        burst: written.burst,
        per: written.per.into(),
        tools,
    })
}

fn in_bounds(path: &str, calls: u32) -> Result<(), BadConfig> {
    if (1..=CALLS_MAX).contains(&calls) {
        return Ok(());
    }
    Err(BadConfig::at(path, format!("must be from 1 to {CALLS_MAX}")))
}

/// A key as it is, or a digest of one that is too long.
fn bounded(key: String) -> String {
    if key.len() <= KEY_MAX { key } else { ["#", &digest(key.as_bytes(), 64)].concat() }
}

/// The first digits of a SHA-256.
pub fn digest(bytes: &[u8], digits: usize) -> String {
    let digest = Sha256::digest(bytes);
    let nibbles = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]).take(digits);
    nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16)).collect()
}
