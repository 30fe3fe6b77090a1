//! Where plugway itself listens.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use arc_swap::ArcSwap;

/// The addresses of plugway's own listeners: never dialled, so that a connector cannot stand behind itself. Clones share
/// one list.
#[derive(Clone, Debug, Default)]
pub struct OwnListeners(Arc<ArcSwap<Vec<SocketAddr>>>);

impl OwnListeners {
    /// No listener yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more listener, as long as what is given back is held.
    pub fn add(&self, address: SocketAddr) -> Listed {
        self.change(|listeners| listeners.push(address));
        Listed { address, all: self.clone() }
    }

    fn change(&self, change: impl Fn(&mut Vec<SocketAddr>)) {
        self.0.rcu(|listeners| {
            let mut listeners = Vec::clone(listeners);
            change(&mut listeners);
            listeners
        });
    }

    /// Whether a connection to this address would arrive at one of them.
    pub fn contains(&self, address: SocketAddr) -> bool {
        let listeners = self.0.load();
        listeners.iter().any(|listener| {
            listener.port() == address.port()
                && (listener.ip().to_canonical() == address.ip().to_canonical()
                    || listener.ip().is_unspecified() && is_of_this_machine(address.ip()))
        })
    }
}

/// A listener in the list; it leaves the list with this.
#[derive(Debug)]
pub struct Listed {
    address: SocketAddr,
    all: OwnListeners,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.all.change(|listeners| {
            if let Some(place) = listeners.iter().position(|listener| *listener == self.address) {
                listeners.swap_remove(place);
            }
        });
    }
}

/// Only addresses of this machine can be bound to.
fn is_of_this_machine(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}
