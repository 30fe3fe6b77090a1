//! Transfer handlers: they decide how an object reaches a destination. The host moves the bytes.

use std::cell::RefCell;

use crate::glue::Slot;
use crate::{Failure, Payload, Plugin};

/// How the bytes travel, in a [`Plan`].
pub use crate::glue::transfer::Route as Way;
/// What `open` says, and where things can be sent.
pub use crate::glue::transfer::{Destination, Plan};

/// `transfer`: the main hook.
pub trait Transfer: Plugin {
    /// Where things can be sent; asked once per load. Within 2 s.
    fn destinations(&self) -> Result<Vec<Destination>, Failure>;

    /// How this thing reaches that destination. Within 10 ms.
    fn open(&self, thing: Payload, to: String) -> Result<Plan, Failure>;
}

/// `filtering`: for plans that say `filtered`.
pub trait Filtering: Plugin {
    /// What one transfer needs.
    type Filter: Filter;

    /// Starts a transfer.
    fn filter(&self, thing: Payload, to: String) -> Result<Self::Filter, Failure>;
}

/// One transfer on its way through the plugin.
pub trait Filter: 'static {
    /// At most 64 KiB in, any length out, in order. Within 50 ms.
    fn chunk(&mut self, data: Vec<u8>) -> Result<Vec<u8>, Failure>;

    /// What remains to be written after the last chunk.
    fn finish(&mut self) -> Result<Vec<u8>, Failure> {
        Ok(Vec::new())
    }
}

/// Finds the plugin of this instance, for filters that outlive a call.
#[doc(hidden)]
pub trait InSlot: Plugin {
    /// Looks into the slot that `export!` made.
    fn in_slot<R>(look: impl FnOnce(&Slot<Self>) -> R) -> R;
}

/// A filter between the contract's resource and [`Filter`].
#[doc(hidden)]
#[derive(Debug)]
pub struct Running<P: Filtering>(RefCell<Result<P::Filter, Failure>>);

impl<P: Filtering + InSlot> crate::glue::filtering::GuestFilter for Running<P> {
    fn new(thing: Payload, to: String) -> Self {
        Self(RefCell::new(P::in_slot(|slot| slot.get()?.filter(thing, to))))
    }

    fn chunk(&self, data: Vec<u8>) -> Result<Vec<u8>, Failure> {
        self.0.borrow_mut().as_mut().map_err(|failure| failure.clone())?.chunk(data)
    }

    fn finish(&self) -> Result<Vec<u8>, Failure> {
        self.0.borrow_mut().as_mut().map_err(|failure| failure.clone())?.finish()
    }
}
