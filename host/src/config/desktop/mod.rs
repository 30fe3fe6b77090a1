//! Files of desktop clients: the `mcpServers` of Claude Desktop, Claude Code, Cursor, Windsurf and Cline, the `servers` of
//! VS Code. They are rewritten into what an operator may write, and then checked like it; nothing else knows them.
//!
//! Reading order: [`whole`] goes through a file; [`servers`] finds the servers in it, [`server`] reads one of them, with
//! [`fields`] for the form of its values, [`variables`] for `${..}`, [`env_file`] for files of variables, [`name`] for names
//! and [`ignored`] for keys that mean something to clients only. [`mod@import`] writes what was found as a configuration of
//! plugway, [`yaml`] is its form, [`suspicion`] guesses what is a secret, [`login`] takes one out of an address, [`mod@save`] writes the files.

mod env_file;
mod fields;
mod ignored;
mod import;
mod jsonc;
mod login;
mod name;
mod save;
mod server;
mod servers;
mod suspicion;
mod variables;
mod whole;
mod yaml;

#[cfg(test)]
mod tests;

pub use import::{Imported, import};
pub use save::{SaveError, check_targets, save};
pub use whole::desktop;
pub(super) use whole::is_desktop;
