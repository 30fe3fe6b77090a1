//! Every bound of this room, with its reason.

use std::time::Duration;

/// How often one call may ask for input: as often as the official clients go on.
pub(super) const ROUNDS: u32 = 10;
/// Questions that may be open at once in one call: a person answers one or two.
pub(super) const QUESTIONS: usize = 64;
/// How long after a question a further one may come to be asked together with it: servers that ask several things at once
/// write them one after the other.
pub(super) const TOGETHER: Duration = Duration::from_millis(50);
/// How long questions are gathered at most: a server that goes on to tell of progress must not hold them back.
pub(super) const GATHERED: Duration = Duration::from_millis(250);
/// How long a client may take to answer: a person may have to think, a server should not wait for ever.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);
/// Largest response of a call that is sent again, which is held to be handed on as one message: as the largest event.
pub(in crate::pipeline) const RESPONSE: usize = 16 * 1024 * 1024;
/// Calls of one connector that wait for input at once. Each holds a connection or a child of its server.
pub(super) const SUSPENDED: usize = 1024;
/// Of these, calls of nobody in particular.
pub(super) const OF_STRANGERS: usize = 512;
/// Calls of one caller that wait for input at once; for one more the oldest is given up.
pub(super) const OF_CALLER: usize = 16;
/// How deep the order of members in arguments means nothing: deeper ones are compared as they are written.
pub(super) const LEVELS: u32 = 8;
