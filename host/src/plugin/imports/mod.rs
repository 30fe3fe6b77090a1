//! What the host does for plugins, one file for each interface of the contract.

mod call;
mod caller;
mod catalogue;
mod fetch;
mod handles;
mod listing;
mod log;
mod outcome;
mod reveal;
mod services;
mod state;
mod upstreams;
pub(super) mod wasi;

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Engine, Result};

use super::ctx::Ctx;
use plugway_bindings::{imports as i, waiting};

macro_rules! link {
    ($linker:expr, $($room:ident::$name:ident),+) => {
        $($room::$name::add_to_linker::<_, HasSelf<Ctx>>($linker, |ctx| ctx)?;)+
    };
}

/// The linker of plugins that never wait.
pub(super) fn sync_linker(engine: &Engine) -> Result<Linker<Ctx>> {
    let mut linker = Linker::new(engine);
    link!(
        &mut linker,
        i::types,
        i::call,
        i::caller,
        i::catalogue,
        i::outcome,
        i::listing,
        i::log,
        i::clock,
        i::random,
        i::state,
        i::handles,
        i::reveal
    );
    wasi::link(&mut linker)?;
    Ok(linker)
}

/// The linker of plugins with a capability that waits.
pub(super) fn waiting_linker(engine: &Engine) -> Result<Linker<Ctx>> {
    let mut linker = sync_linker(engine)?;
    link!(&mut linker, waiting::upstreams, waiting::fetch);
    Ok(linker)
}

impl i::types::Host for Ctx {}

/// The beginning of a text, at most so many bytes, without control characters: guests do not draw on the log.
pub(super) fn clean(text: &str, max: usize) -> String {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (kept, rest) = text.split_at(end);
    let mut clean: String = kept.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if !rest.is_empty() {
        clean.push_str(" ..");
    }
    clean
}
