//! The sentences that clients read when an upstream fails. Each names the server and says what can be done.

use std::sync::Arc;
use std::time::Duration;

use crate::fault::{Code, Fault};

/// Whose credential a server did not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The one that the operator gave plugway.
    Plugways,
    /// The caller's, passed on.
    Callers,
    /// The caller's would have been passed on, and there was none.
    NoCallers,
    /// None: plugway asked for itself, and has none where callers have theirs.
    Unlent,
    /// None was sent.
    Nobodys,
}

/// A fault that several callers can be given.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    code: Code,
    public: Arc<str>,
    because: Option<Arc<str>>,
    wait: Option<Duration>,
    /// The server answered, and will not open a session: it may speak the modern era only.
    refuses_handshake: bool,
    /// See [`Refused::Unlent`].
    wants_callers: bool,
}

impl Failure {
    fn new(code: Code, public: String) -> Self {
        Self {
            code,
            public: public.into(),
            because: None,
            wait: None,
            refuses_handshake: false,
            wants_callers: false,
        }
    }

    /// Keeps the cause for the log.
    pub(super) fn because(mut self, cause: impl std::fmt::Display) -> Self {
        self.because = Some(cause.to_string().into());
        self
    }

    /// When it makes sense to try again.
    pub(super) fn after(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }

    /// The server answered `initialize` with a refusal.
    pub(super) fn without_handshake(mut self) -> Self {
        self.refuses_handshake = true;
        self
    }

    /// What went wrong.
    pub(super) fn code(&self) -> Code {
        self.code
    }

    pub(super) fn refuses_handshake(&self) -> bool {
        self.refuses_handshake
    }

    /// The server is there, and answers nobody but callers.
    pub(super) fn wants_callers(&self) -> bool {
        self.wants_callers
    }

    /// It does not accept a credential.
    pub(super) fn is_refusal(&self) -> bool {
        self.code == Code::UpstreamRefusedCredential
    }

    /// The sentence without its cause.
    pub(super) fn public(&self) -> &Arc<str> {
        &self.public
    }

    /// Nothing that is asked in another way would be answered either.
    pub(super) fn is_unreachable(&self) -> bool {
        matches!(
            self.code,
            Code::UpstreamUnavailable | Code::UpstreamRefusedCredential | Code::UpstreamBusy
        )
    }

    /// It took too long.
    pub(super) fn is_timeout(&self) -> bool {
        self.code == Code::UpstreamTimeout
    }

    /// There are too many requests already.
    pub(super) fn is_busy(&self) -> bool {
        self.code == Code::UpstreamBusy
    }

    /// The fault for one caller.
    pub(super) fn fault(&self) -> Fault {
        let mut fault = Fault::new(self.code, self.public.to_string());
        if let Some(cause) = &self.because {
            fault = fault.because(cause.to_string());
        }
        if let Some(wait) = self.wait {
            fault = fault.retry_after(wait);
        }
        fault
    }

    /// What the operator reads: the sentence and its cause.
    pub(super) fn reason(&self) -> Arc<str> {
        match &self.because {
            None => Arc::clone(&self.public),
            Some(cause) => format!("{} ({cause})", self.public).into(),
        }
    }

    /// Nobody answers there.
    pub(super) fn unavailable(name: &str) -> Self {
        Self::new(
            Code::UpstreamUnavailable,
            format!("The server {name:?} cannot be reached now; try again in a few seconds."),
        )
    }

    /// It is known to be away, and when it is tried again.
    pub(super) fn away(name: &str, next: Duration) -> Self {
        let seconds = next.as_secs() + 1;
        Self::new(
            Code::UpstreamUnavailable,
            format!("The server {name:?} is away; it is tried again in {seconds} s."),
        )
        .after(next)
    }

    /// It took too long.
    pub(super) fn timeout(name: &str, limit: Duration) -> Self {
        let seconds = limit.as_secs();
        Self::new(
            Code::UpstreamTimeout,
            format!(
                "The server {name:?} did not answer within {seconds} s; ask for less at once, or try later."
            ),
        )
    }

    /// It answered what is not MCP, or broke off. `what` completes "The server .. ".
    pub(super) fn broken(name: &str, what: &str) -> Self {
        Self::new(
            Code::UpstreamBroken,
            format!(
                "The server {name:?} {what}; try again, and tell its operator if it happens again."
            ),
        )
    }

    /// It is tried no more.
    pub(super) fn given_up(name: &str) -> Self {
        Self::new(
            Code::UpstreamUnavailable,
            format!(
                "The server {name:?} is away, and is not tried again until the operator asks for it."
            ),
        )
    }

    /// The operator took it out.
    pub(super) fn disabled(name: &str) -> Self {
        Self::new(
            Code::UpstreamUnavailable,
            format!("The server {name:?} was taken out by the operator; do without it."),
        )
    }

    /// The dialer refuses its address. `why` is the dialer's sentence.
    pub(super) fn not_dialled(name: &str, why: &dyn std::fmt::Display) -> Self {
        Self::new(
            Code::UpstreamUnavailable,
            format!("The server {name:?} stands at an address that plugway does not dial; its operator must correct that."),
        )
        .because(why)
    }

    /// It does not accept the credential that it got.
    pub(super) fn refused(name: &str, refused: Refused) -> Self {
        let sentence = match refused {
            Refused::Plugways => {
                "refuses the credential that plugway has for it; its operator must renew that."
            }
            Refused::Callers => {
                "refuses your own credential, which plugway passed on; get one that it accepts."
            }
            Refused::NoCallers | Refused::Unlent => {
                "wants a credential of your own, and you sent none to pass on; send one."
            }
            Refused::Nobodys => {
                "wants a credential, and plugway has none for it; its operator must configure one."
            }
        };
        let sentence = format!("The server {name:?} {sentence}");
        let failure = Self::new(Code::UpstreamRefusedCredential, sentence);
        Self { wants_callers: refused == Refused::Unlent, ..failure }
    }

    /// It says itself that it is asked too much.
    pub(super) fn throttled(name: &str) -> Self {
        Self::new(
            Code::UpstreamBusy,
            format!("The server {name:?} says that it gets too many requests; try again later."),
        )
    }

    /// As many sessions as are allowed.
    pub(super) fn sessions(name: &str, limit: usize) -> Self {
        Self::new(
            Code::UpstreamBusy,
            format!(
                "The server {name:?} has all {limit} sessions in use that it may have; try again later."
            ),
        )
    }

    /// All sessions share the server's only session.
    pub(super) fn shared(name: &str) -> Self {
        let text = format!(
            "Resources of the server {name:?} cannot be subscribed to, since all clients share it (sharing: connector)."
        );
        Self::new(Code::UpstreamBroken, text)
    }

    /// As many subscriptions as are allowed.
    pub(super) fn subscriptions(name: &str, limit: usize) -> Self {
        Self::new(
            Code::UpstreamBusy,
            format!(
                "{limit} resources of the server {name:?} are subscribed to, which is the limit; unsubscribe from one first."
            ),
        )
    }

    /// As many children as are allowed.
    pub(super) fn children(name: &str, limit: usize) -> Self {
        Self::new(
            Code::UpstreamBusy,
            format!(
                "The server {name:?} has all {limit} processes in use that it may have (max_children); try again later."
            ),
        )
    }

    /// Too many requests wait for one child.
    pub(super) fn crowded(name: &str) -> Self {
        Self::new(
            Code::UpstreamBusy,
            format!(
                "The server {name:?} does not take requests as fast as they come; try again later."
            ),
        )
    }

    /// More than plugway takes.
    pub(super) fn too_large(name: &str, limit: usize) -> Self {
        let mib = limit / (1024 * 1024);
        Self::new(
            Code::UpstreamTooLarge,
            format!("The server {name:?} answered with more than {mib} MiB; ask for less at once."),
        )
    }

    /// The party left while the call was on its way.
    pub(super) fn left() -> Self {
        Self::new(Code::SessionUnknown, "The session ended; initialise a new one.".to_owned())
    }

    /// plugway stops.
    pub(super) fn stopping() -> Self {
        Self::new(Code::ShuttingDown, "plugway is stopping; try again in a few seconds.".to_owned())
    }
}
