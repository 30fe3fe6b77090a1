//! Code-execution servers carry their own name inside tool names: `execute_chemistry_code`, `chemistry_check_job`. Clients
//! know that pattern, so it stays, with the configured name in place of the server's.

/// Tools named `{verb}_{server}_{noun}`.
const AROUND: [(&str, &str); 4] =
    [("execute_", "_code"), ("plan_", "_workflow"), ("load_", "_skill"), ("search_", "_tools")];

/// Servers of the reference call themselves `{name}-executor` in the handshake.
const HANDSHAKE_SUFFIX: &str = "-executor";

/// The name that a code-execution server has in its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnName<'a>(&'a str);

impl<'a> OwnName<'a> {
    /// Some if the server lists a tool `execute_{name}_code` with the name of its handshake.
    pub fn detect(server_name: &'a str, lists: impl Fn(&str) -> bool) -> Option<Self> {
        let bare = server_name.strip_suffix(HANDSHAKE_SUFFIX);
        [Some(server_name), bare]
            .into_iter()
            .flatten()
            .filter(|name| !name.is_empty())
            .find(|name| lists(&format!("execute_{name}_code")))
            .map(Self)
    }

    /// The tool's name with `configured` in place of the server's; none if it does not hold the server's name.
    pub fn renamed(self, tool: &str, configured: &str) -> Option<String> {
        if let Some(rest) = tool.strip_prefix(self.0).filter(|rest| rest.starts_with('_')) {
            return Some([configured, rest].concat());
        }
        AROUND.iter().find_map(|(verb, noun)| {
            let inner = tool.strip_prefix(verb)?.strip_suffix(noun)?;
            (inner == self.0).then(|| [verb, configured, noun].concat())
        })
    }
}
