//! Every bound of the plugin runtime that is not the operator's to set, and how long each hook may take.

use std::time::Duration;

/// Largest component that is read.
pub const COMPONENT_MAX: usize = 32 << 20;
/// Default of `limits.memory_mib`.
pub const MEMORY_MIB: u32 = 64;
/// The same for the bundled router, which has what all servers list in its hands while it shapes.
pub const MEMORY_MIB_ROUTER: u32 = 256;
/// Default of `limits.time_ms` for the bundled `masking`, which reads every byte of an answer.
pub const TIME_MASKING: Duration = Duration::from_millis(100);
/// Largest `limits.memory_mib`; the allocator reserves address space for it.
pub const MEMORY_MIB_MAX: u32 = 256;
/// Default of `limits.instances`.
pub const INSTANCES: u32 = 4;
/// Default of `limits.instances` for a plugin that may wait for others: a waiting call holds its instance.
pub const INSTANCES_WAITING: u32 = 16;
/// How long a call waits for a free instance. Decisions take microseconds, so only a machine without processor time
/// keeps one waiting; denying calls then would turn a slow moment into failures.
pub const BUSY_WAIT: Duration = Duration::from_secs(1);
/// The same for `learn`: what is not learned is lost.
pub const LEARN_BUSY_WAIT: Duration = Duration::from_secs(2);
/// One part in so many of a router's instances may wait for servers in `answer`; the others are there for everybody else.
pub const WAITING_PART: usize = 2;
/// One part in so many of those may wait in calls of one caller.
pub const WAITING_PART_OF_CALLER: usize = 2;
/// How long a call may take in all, time that the host spends included, where a capability lets it wait.
pub const WALL: Duration = Duration::from_secs(30);
/// An instance is replaced after so many calls.
pub const CALLS_MAX: u32 = 100_000;
/// An instance is replaced when its memory grew by more than this since it was configured.
pub const GROWTH_MAX: usize = 8 << 20;
/// Table elements that one instance may have.
pub const TABLE_MAX: usize = 200_000;
/// Requests that one call may send to upstreams.
pub const UPSTREAM_REQUESTS: u32 = 64;
/// How long all these requests may take: a little less than the whole call, as for fetching.
pub const UPSTREAM_WAIT: Duration = Duration::from_secs(25);
/// Times that one call may fetch.
pub const FETCHES: u32 = 16;
/// How long one fetch may take: a little less than the whole call, so that the plugin can say what was in its way.
pub const FETCH_WAIT: Duration = Duration::from_secs(25);
/// Headers of one request that a plugin fetches with.
pub const FETCH_HEADERS: usize = 64;
/// Log lines of one call; more are dropped and counted.
pub const LOG_LINES_PER_CALL: u32 = 32;
/// Log lines of one plugin in one connector each second.
pub const LOG_LINES_PER_SECOND: u32 = 100;
/// Longest log line; the rest is cut.
pub const LOG_LINE_MAX: usize = 2_048;
/// Fields of one log line; more are left out.
pub const LOG_FIELDS_MAX: usize = 16;
/// Longest sentence of a refusal or failure.
pub const MESSAGE_MAX: usize = 8 << 10;
/// Longest sentence about a view for the client; the rest is cut.
pub const NOTICE_MAX: usize = 512;
/// Longest `body` of a refusal.
pub const BODY_MAX: usize = 64 << 10;
/// Longest result that a plugin writes itself.
pub const ANSWER_MAX: usize = 4 << 20;
/// Longest definition of an entry.
pub const DEFINITION_MAX: usize = 1 << 20;
/// Longest document beside the entries of a shape.
pub const DOCUMENT_MAX: usize = 8 << 20;
/// Problems of one shape that are said; a configuration with more is not better for it.
pub const PROBLEMS_MAX: usize = 20;
/// Entries of one shape.
pub const ENTRIES_MAX: usize = 70_000;
/// Entries of a shape that are left for functions of servers that run code.
pub const ENTRIES_FUNCTIONS: usize = 20_000;
/// Entries of a shape that are left for the router's own.
pub const ENTRIES_OWN: usize = 1_000;
/// One part in so many of a router's memory may be what servers list: it comes in once and goes out once, renamed.
pub const SHAPE_SHARE: usize = 5;
/// Globs of one `interests`.
pub const INTERESTS_MAX: usize = 64;
/// Longest glob of `interests`.
pub const INTEREST_MAX: usize = 256;
/// Records of one `explain`.
pub const UNDERSTOOD_MAX: usize = 4_096;
/// Edits of one `admit`.
pub const EDITS_MAX: usize = 64;
/// Resources (streams, pollables) that one instance may hold.
pub const RESOURCES_MAX: usize = 1_024;
/// A plugin may run on the event loop only while 99 of 100 calls are faster than this.
pub const LOOP_MAX: Duration = Duration::from_micros(100);
/// Calls that are looked at before a plugin moves to the event loop, or away from it.
pub const LANE_WINDOW: u32 = 256;

/// What a plugin can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hook {
    /// `lifecycle.describe`.
    Describe,
    /// `lifecycle.configure`.
    Configure,
    /// `readiness.ready`.
    Ready,
    /// `router.shape`.
    Shape,
    /// `routing.route`.
    Route,
    /// `answering.answer`.
    Answer,
    /// `learning.interests`.
    Interests,
    /// `learning.learn`.
    Learn,
    /// `visibility.visible`.
    Visible,
    /// `admission.admit`.
    Admit,
    /// `reviewing.review`.
    Review,
    /// `inbound.inbound`.
    Inbound,
    /// `explaining.explain`.
    Explain,
}

impl Hook {
    /// Every hook.
    pub const ALL: [Self; 13] = [
        Self::Describe,
        Self::Configure,
        Self::Ready,
        Self::Shape,
        Self::Route,
        Self::Answer,
        Self::Interests,
        Self::Learn,
        Self::Visible,
        Self::Admit,
        Self::Review,
        Self::Inbound,
        Self::Explain,
    ];

    /// The word in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Configure => "configure",
            Self::Ready => "ready",
            Self::Shape => "shape",
            Self::Route => "route",
            Self::Answer => "answer",
            Self::Interests => "interests",
            Self::Learn => "learn",
            Self::Visible => "visible",
            Self::Admit => "admit",
            Self::Review => "review",
            Self::Inbound => "inbound",
            Self::Explain => "explain",
        }
    }

    /// How long the guest may compute; `hot` is the operator's limit for the hooks of every call.
    pub fn deadline(self, hot: Duration) -> Duration {
        match self {
            Self::Route | Self::Admit | Self::Review | Self::Inbound => hot,
            Self::Answer | Self::Learn => hot.max(Duration::from_millis(50)),
            Self::Describe
            | Self::Configure
            | Self::Ready
            | Self::Shape
            | Self::Interests
            | Self::Visible
            | Self::Explain => hot.max(Duration::from_secs(2)),
        }
    }

    /// Whether the hook never runs on the event loop.
    pub fn slow(self) -> bool {
        matches!(
            self,
            Self::Describe
                | Self::Configure
                | Self::Ready
                | Self::Shape
                | Self::Interests
                | Self::Visible
                | Self::Explain
        )
    }

    /// How long a call waits for a free instance.
    pub fn patience(self) -> Duration {
        if self == Self::Learn { LEARN_BUSY_WAIT } else { BUSY_WAIT }
    }

    /// Host functions that one call may use.
    pub fn host_calls(self) -> u32 {
        if self.slow() || matches!(self, Self::Answer | Self::Learn) { 200_000 } else { 10_000 }
    }

    /// Bytes that may cross from the guest in one crossing; more is refused before anything is allocated.
    pub fn lift_max(self) -> usize {
        if self == Self::Shape { 64 << 20 } else { 8 << 20 }
    }
}

/// Default time for the hooks of every call.
pub const HOT: Duration = Duration::from_millis(10);
