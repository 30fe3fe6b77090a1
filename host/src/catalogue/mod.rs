//! What a connector offers: entries, how they are found, and what one caller sees of them.
//!
//! Reading order: [`entry`] is one thing that clients can name; [`table`] compiles what the router shaped, whose
//! definitions [`definition`] reads, and [`functions`] what is special of functions; [`held`] is what of a server is held back;
//! [`lookup`] finds entries, [`uri`] that of a resource, and [`spelling`] how else it may be written; [`view`] is the table as one caller sees it, in which [`discreet`] takes hidden
//! functions out of the words of servers; [`list`] renders the lists, and [`caching`] says how long they count.

pub mod caching;
mod definition;
mod discreet;
pub mod entry;
mod functions;
mod held;
pub mod list;
mod lookup;
pub mod spelling;
pub mod table;
pub mod uri;
pub mod view;

pub use caching::Caching;
pub use entry::{Entry, EntryKind, Hints, Target, function_key};
pub use held::Held;
pub use table::{Catalogue, Declared, Shaped, ShapedEntry, ShapedTarget};
pub use view::{Sight, View};
