//! Servers that speak Streamable HTTP.
//!
//! Reading order: [`endpoint`] is where the server listens and the connections to it; [`request`] builds what is sent;
//! [`body`] reads what comes back within its bounds; [`events`] takes messages out of a stream; [`answer`] decides what
//! an answer is, [`translated`] what it becomes for a modern client, [`hold`] what is kept until its end; [`ask`] is plugway's own
//! short question, [`question`] one without parameters, [`respond`] what a server gets for its questions; [`session`] is the session of one party; [`probe`] finds out
//! the era; [`stream`] follows what a server says by itself, [`resume`] knows when to come back for more; [`health`] and [`own`]
//! are how plugway hears of the server, [`catalog`] how it reads what its code can call, [`peer`] is its own connection, over which the catalogue is read, [`variant`] one for
//! what clients with other capabilities are offered; [`exchange`] serves the parties, [`stateless`] those without a session,
//! [`port`] is the rest of what a connector asks of the server, [`files`] fetches what it serves besides, [`unasked`] hears what a server tells them outside of their calls.
//! [`channel`] is the transport of 2024-11-05, whose messages the room of child processes takes, since it goes both ways as pipes do.

mod answer;
mod ask;
mod body;
mod catalog;
mod channel;
mod endpoint;
mod events;
mod exchange;
mod files;
#[cfg(test)]
mod fixture;
mod health;
mod hold;
mod own;
mod peer;
mod port;
mod probe;
mod question;
mod request;
mod respond;
mod resume;
mod session;
mod stateless;
mod stream;
#[cfg(test)]
mod tests;
mod translated;
mod unasked;
mod variant;

pub(super) use channel::{Channel, Poster};
pub(super) use endpoint::{DEFAULT_PATH, Endpoint, SSE_PATH};
pub(super) use exchange::HttpUpstream;
pub(super) use peer::HttpPeer;
