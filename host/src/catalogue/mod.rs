//! What a connector offers: entries, how they are found, and what one caller sees of them.
//!
//! Reading order: [`entry`] is one thing that clients can name; [`table`] compiles what the router shaped, whose
//! definitions [`definition`] reads; [`held`] is what of a server is held back;
//! [`uri`] finds the entry of a resource; [`view`] is the table as one caller sees it; [`list`] renders the lists, and
//! [`caching`] says how long they count.

pub mod caching;
mod definition;
pub mod entry;
mod held;
pub mod list;
pub mod table;
pub mod uri;
pub mod view;

pub use caching::Caching;
pub use entry::{Entry, EntryKind, Hints, Target};
pub use held::Held;
pub use table::{Catalogue, Declared, Shaped, ShapedEntry, ShapedTarget};
pub use view::{Sight, View};
