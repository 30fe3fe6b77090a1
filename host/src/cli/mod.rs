//! The command line: one file for each subcommand.
//!
//! Reading order: [`arguments`] is what may be written; [`mod@run`] finds the subcommand; [`exit`] is how the process may
//! end. [`serve`], `stdio`, `check`, `policy`, `import`, `schema`, `try_out`, `health` and `audit` are the subcommands, `explain` and
//! `explain_upstream` put settings into words.

mod application;
mod arguments;
mod audit;
mod check;
mod exit;
mod explain;
mod explain_upstream;
mod health;
mod import;
mod pins;
mod plain_http;
mod policy;
mod print;
mod run;
mod schema;
mod serve;
mod signals;
mod stdio;
mod try_out;

#[cfg(test)]
mod tests;

pub use exit::Exit;
pub use run::run;
