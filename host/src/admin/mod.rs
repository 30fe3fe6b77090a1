//! Administration: what an operator may look at and do while plugway serves (`/admin/v1`), behind a listener of its own.
//!
//! Reading order: [`route`] answers a request: [`gate`] lets it in, [`resource`] says what its path names, [`show`] looks,
//! [`act`] does. [`operations`] is what the room needs from others; [`token`] keeps the credential of local use.
//!
//! **Nobody comes in without a credential of the scope `plugway:admin`**, not even from this machine, and every act
//! leaves a line in the audit, those that were refused too.

mod act;
pub mod gate;
pub mod operations;
pub mod resource;
pub mod route;
mod show;
pub mod token;

pub use gate::{Gate, SCOPE};
pub use operations::{Operations, PluginPlaceState, PluginState};
pub use route::{Desk, Entrance};
