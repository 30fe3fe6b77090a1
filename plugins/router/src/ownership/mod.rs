//! Whose a session, job or batch of a code-execution server is. The servers do not ask: whoever knows an id, or lists them
//! all, may look into it and close it. So the router learns who got which id, lets that caller use it, and answers
//! everybody else as the server answers about ids that do not exist.
//!
//! In reading order: [`tool`] are the tools that take or list ids, [`guards`] which of an upstream's tools are those, [`ids`]
//! what ids look like, [`learned`] finds them in
//! answers, [`text`] changes answers without touching the rest of them, [`sessions`] keeps of a list what is the
//! caller's own, [`send`] finds the session that an object may go to, [`judge`] decides with what the host knows.

pub mod guards;
pub mod tool;

pub mod ids;
pub mod judge;
pub mod learned;
pub mod send;
pub mod sessions;
pub mod text;
