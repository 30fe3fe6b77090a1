//! Every bound of this room, with its reason.

use std::time::Duration;

/// How long a person may take, unless the operator says otherwise: to read and to think.
pub(in crate::pipeline) const PATIENCE: Duration = Duration::from_mins(2);
/// How long the state of a confirmed call is good whose server asks for something itself: as its question.
pub(super) const CARRIED: Duration = Duration::from_mins(10);
/// Calls of one connector that wait on their streams for a confirmation: each holds its request.
pub(super) const OPEN: usize = 1024;
/// Of these, calls of one caller: fewer than the questions that one session may have open, so that none is pushed out.
pub(super) const OPEN_OF_CALLER: usize = 32;
/// Bytes of the requests and questions of all these calls: a part of what a process has.
pub(super) const OPEN_BYTES: usize = 256 * 1024 * 1024;
/// Of these, bytes of one caller, who may always have one call that waits.
pub(super) const OPEN_BYTES_OF_CALLER: usize = 64 * 1024 * 1024;
/// States that were used and are not over yet: nothing else stands for a question that waits without a stream.
pub(super) const USED: usize = 16_384;
/// Of these, states of one caller: nobody confirms more than one call in a second for long.
pub(super) const USED_OF_CALLER: usize = 1024;
/// Of these, states of nobody in particular.
pub(super) const USED_OF_STRANGERS: usize = 8192;
/// Bytes of the arguments that a question shows: a page.
pub(super) const SHOWN: usize = 2048;
/// Lines of the arguments that a question shows: the same.
pub(super) const LINES: usize = 48;
/// Bytes of one string or number that a question shows, so that a long one does not hide what follows it.
pub(super) const VALUE: usize = 256;
/// Bytes of the further members of a call, and of its headers, that a question shows: rarely more than a flag or two.
pub(super) const FURTHER: usize = 512;
/// Lines of these.
pub(super) const FURTHER_LINES: usize = 16;
/// Bytes of one name that a question shows; one that tells the thing that is called from others has [`VALUE`].
pub(super) const NAME: usize = 128;
/// Bytes of one name in the audit.
pub(super) const OBJECT: usize = 256;
/// Bytes of one policy's sentence that a question shows.
pub(super) const SENTENCE: usize = 512;
/// Sentences that a question shows.
pub(super) const SENTENCES: usize = 8;
/// How deep lines of nested values move to the right.
pub(super) const INDENT: usize = 12;
/// Digits of a digest that a person may compare.
pub(super) const DIGITS: usize = 32;
/// Bytes of a server's own state that is carried with the confirmation: far more than servers give.
pub(super) const STATE: usize = 256 * 1024;
