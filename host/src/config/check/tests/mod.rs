//! Every refusal as a line of a table: what was written, and what plugway says.

mod access;
mod artifacts;
mod audit;
mod examples;
mod listening;
mod refusals;
mod registry;
mod secrets;
mod serving;
mod support;
mod watching;
mod whole;
