//! The contract's imports, answered by the [`Host`](super::Host) of the running hook; same names and shapes as on wasm.

use std::cell::RefCell;
use std::rc::Rc;

use super::world::World;

pub(crate) use hand::{call, caller, catalogue, listing, outcome, workers};
pub(crate) use services::{
    announce, clock, fetch, handles, log, random, reveal, state, transfers, upstreams,
};

mod hand;
mod services;

thread_local! {
    static CURRENT: RefCell<Rc<RefCell<World>>> = RefCell::default();
}

/// Puts back the host that was there before, also when a test's hook panics.
struct Restore(Rc<RefCell<World>>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.with(|current| current.swap(&RefCell::new(Rc::clone(&self.0))));
    }
}

pub(super) fn within<R>(world: &Rc<RefCell<World>>, hook: impl FnOnce() -> R) -> R {
    let _restore = Restore(CURRENT.with(|current| current.replace(Rc::clone(world))));
    hook()
}

fn ask<R>(question: impl FnOnce(&mut World) -> R) -> R {
    let world = CURRENT.with(|current| Rc::clone(&current.borrow()));
    let mut world = world.borrow_mut();
    question(&mut world)
}

fn nth<T>(items: &[T], index: u32) -> Option<&T> {
    items.get(usize::try_from(index).ok()?)
}

fn index_of<T>(items: &[T], is: impl FnMut(&T) -> bool) -> Option<u32> {
    u32::try_from(items.iter().position(is)?).ok()
}

fn length_of<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

fn length(text: &str) -> u32 {
    length_of(text.as_bytes())
}
