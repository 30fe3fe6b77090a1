//! The closed list of what can go wrong. Codes are contract: they stand in logs, metrics and documentation.

use super::Blame;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal, $blame:ident;)+) => {
        /// What went wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The stable word for logs, metrics and documentation.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// Who is to blame.
            pub fn blame(self) -> Blame {
                match self { $(Self::$name => Blame::$blame,)+ }
            }
        }
    };
}

codes! {
    /// The body is not JSON, not UTF-8, or nested too deep.
    ParseError = "parse-error", Client;
    /// JSON, but not a message that every reader would read the same way.
    InvalidRequest = "invalid-request", Client;
    /// The method is unknown here.
    UnknownMethod = "unknown-method", Client;
    /// Parameters are missing or wrong.
    InvalidParams = "invalid-params", Client;
    /// A modern request lacks a required key of `_meta`.
    MissingMeta = "missing-meta", Client;
    /// A request of the modern era uses what it does not declare.
    MissingCapability = "missing-capability", Client;
    /// No such tool, prompt or resource for this caller.
    UnknownName = "unknown-name", Client;
    /// The tool is called by its name and not loaded.
    NotLoaded = "not-loaded", Client;
    /// The arguments of a tool of plugway's own are wrong.
    BadArguments = "bad-arguments", Client;
    /// A person had to confirm the call, and did not.
    NotConfirmed = "not-confirmed", Client;
    /// A person had to confirm the call, and did not answer in time.
    ConfirmationTimeout = "confirmation-timeout", Client;
    /// A person has to confirm the call, and nobody can be asked.
    CannotConfirm = "cannot-confirm", Client;
    /// The body is larger than the limit.
    BodyTooLarge = "body-too-large", Client;
    /// The content type is not JSON.
    UnsupportedMediaType = "unsupported-media-type", Client;
    /// The client accepts neither JSON nor an event stream.
    NotAcceptable = "not-acceptable", Client;
    /// A request of the legacy era without a session.
    SessionMissing = "session-missing", Client;
    /// The session is unknown, expired, or somebody else's.
    SessionUnknown = "session-unknown", Client;
    /// The event id names no place from which a stream can be resumed.
    StreamUnknown = "stream-unknown", Client;
    /// A request with this id is in flight in this session.
    DuplicateId = "duplicate-id", Client;
    /// Headers are missing, doubled, or contradict the body.
    HeaderMismatch = "header-mismatch", Client;
    /// An HTTP header is doubled or broken.
    BadHeader = "bad-header", Client;
    /// The revision is not one that plugway speaks.
    UnsupportedVersion = "unsupported-version", Client;
    /// The request has no credential, or one that is not accepted.
    Unauthenticated = "unauthenticated", Client;
    /// The caller was identified, and may not do this.
    Forbidden = "forbidden", Client;
    /// The name of a lease belongs to somebody else.
    NameTaken = "name-taken", Client;
    /// Host or Origin is not allowed here.
    ForbiddenOrigin = "forbidden-origin", Client;
    /// The path names no connector.
    UnknownPath = "unknown-path", Client;
    /// The HTTP method is not one of this resource.
    MethodNotAllowed = "method-not-allowed", Client;
    /// The body did not arrive in time.
    BodyTimeout = "body-timeout", Client;
    /// Too many sessions, requests or streams at once.
    Overloaded = "overloaded", Us;
    /// A plugin refused, as it is meant to.
    Refused = "refused", Plugin;
    /// A plugin trapped.
    PluginTrap = "plugin-trap", Plugin;
    /// A plugin ran longer than it may.
    PluginTimeout = "plugin-timeout", Plugin;
    /// A plugin wanted more memory than it may have.
    PluginMemory = "plugin-memory", Plugin;
    /// A plugin answered that it failed.
    PluginError = "plugin-error", Plugin;
    /// A plugin's decision makes no sense.
    PluginInvalid = "plugin-invalid", Plugin;
    /// No instance of the plugin was free.
    PluginBusy = "plugin-busy", Plugin;
    /// The plugin is put aside after repeated failures.
    PluginAside = "plugin-aside", Plugin;
    /// The upstream cannot be reached now.
    UpstreamUnavailable = "upstream-unavailable", Upstream;
    /// The upstream did not answer in time.
    UpstreamTimeout = "upstream-timeout", Upstream;
    /// The upstream broke off, or answered what is not MCP.
    UpstreamBroken = "upstream-broken", Upstream;
    /// The upstream refused the credential that plugway has for it.
    UpstreamRefusedCredential = "upstream-refused-credential", Upstream;
    /// The upstream's own limit in plugway is reached: children, sessions, requests.
    UpstreamBusy = "upstream-busy", Upstream;
    /// The upstream answered more than plugway takes.
    UpstreamTooLarge = "upstream-too-large", Upstream;
    /// The operator wants no call without a line in the audit, and none can be written.
    AuditUnavailable = "audit-unavailable", Us;
    /// What the upstream says of the thing is not what its operator approved.
    UpstreamHeldBack = "upstream-held-back", Upstream;
    /// plugway is shutting down.
    ShuttingDown = "shutting-down", Us;
    /// A fault of plugway itself.
    Internal = "internal", Us;
}
