//! The configurations of agora-workbench: `RouterConfig` and `GatewayConfig` as YAML or as the JSON that they print, and the
//! environment of its `mcp-connector-server`. They are rewritten into what an operator may write, and then checked like it; nothing else
//! knows them.
//!
//! Reading order: [`words`] is the table of everything that may stand there and of what plugway does with it, [`form`] tells
//! their files from plugway's own, [`mod@rewrite`] makes one of the other, [`gateway`] what a gateway has of its own, [`router`] is what the router plugin gets, [`url`] knows what their addresses mean;
//! [`variables`] is the environment, [`switch`] one variable of it that is true or false.

mod form;
mod gateway;
mod rewrite;
mod router;
mod switch;
mod url;
mod variables;
mod words;

#[cfg(test)]
mod tests;

pub(super) use rewrite::rewrite;
pub(super) use variables::{environment, speaks};
