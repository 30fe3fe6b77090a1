//! What rules decide.

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It may be made.
    Allow,
    /// It is refused.
    Deny,
    /// A person is asked.
    Confirm,
    /// It may be made while there is room.
    Limit {
        /// Calls in each minute.
        per_minute: u32,
        /// Some = a token bucket of this size, none = a sliding window.
        burst: Option<u32>,
        /// Who shares the limit.
        key: LimitKey,
    },
}

/// Who shares the room of a limit. Each rule has its own room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKey {
    /// Each caller has its own.
    Caller,
    /// All callers of a tenant; those without one share one.
    Tenant,
    /// All callers of a tool.
    Tool,
    /// Each caller for each tool.
    CallerTool,
    /// Everybody.
    All,
}

/// What a list may say before arguments are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// No arguments are refused.
    Callable,
    /// All arguments are refused.
    Denied,
    /// It depends on the arguments.
    Maybe,
}

/// What the rules say of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// What becomes of it.
    pub act: Act,
    /// The rule that decided: its name, or `rules[2]`; none = `default`.
    pub rule: Option<&'a str>,
    /// The operator's reason.
    pub reason: Option<&'a str>,
    /// Under `mode: observe` one sentence of what `enforce` would have done; none where that is to let the call pass.
    pub observed: Option<String>,
}
