//! Every refusal as a line of a table: what was written, and what plugway says.

mod examples;
mod listening;
mod refusals;
mod support;
mod whole;
