//! Room of an answer that several servers fill in turn: half of it is for whoever comes first, the other half is divided
//! evenly, so that none is without.

use std::collections::{HashMap, HashSet};

/// What is left for each server.
#[derive(Debug)]
pub(super) struct Rooms<'a> {
    common: usize,
    /// What each has to itself at the beginning.
    each: usize,
    own: HashMap<&'a str, usize>,
    full: HashSet<&'a str>,
}

impl<'a> Rooms<'a> {
    /// So many bytes for these servers.
    pub(in crate::unified) fn new(
        total: usize,
        servers: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let servers: HashSet<&str> = servers.into_iter().collect();
        let common = total / 2;
        let each = (total - common) / servers.len().max(1);
        Self { common, each, own: HashMap::new(), full: HashSet::new() }
    }

    /// Takes room for something of a server; whether there is any. Once there was too little, the server gets no more.
    pub(in crate::unified) fn take(&mut self, server: &'a str, bytes: usize) -> bool {
        if self.is_full(server) {
            return false;
        }
        let own = self.own.entry(server).or_insert(self.each);
        let beyond = bytes.saturating_sub(*own);
        if beyond > self.common {
            self.full.insert(server);
            return false;
        }
        *own = own.saturating_sub(bytes);
        self.common -= beyond;
        true
    }

    /// Whether a server gets no more.
    pub(in crate::unified) fn is_full(&self, server: &str) -> bool {
        self.full.contains(server)
    }
}
