//! Services and capabilities.

/// What a plugin hears where the test granted nothing.
const UNGRANTED: &str = "this capability is not granted";

pub(crate) mod clock {
    use super::super::ask;

    pub(crate) fn monotonic_us() -> f64 {
        unix_ms() * 1_000.0
    }
    pub(crate) fn unix_ms() -> f64 {
        ask(|world| world.store.now_ms)
    }
}

pub(crate) mod random {
    pub(crate) fn next() -> u32 {
        super::super::ask(|world| {
            let next = world.random;
            world.random = next.wrapping_add(1);
            next
        })
    }
}

pub(crate) mod log {
    use crate::host::log::Level;
    use crate::testing::world::Line;

    pub(crate) fn enabled(_level: Level) -> bool {
        true
    }
    pub(crate) fn log(level: Level, message: &str, fields: &[(String, String)]) {
        let line = Line { level, message: message.to_owned(), fields: fields.to_vec() };
        super::super::ask(|world| world.lines.push(line));
    }
}

pub(crate) mod state {
    use super::super::ask;

    pub(crate) fn next(slot: u32) -> u32 {
        ask(|world| world.store.next(slot))
    }
    pub(crate) fn add(key: &str, delta: i32, ttl_ms: Option<u32>) -> f64 {
        ask(|world| world.store.add(key, delta, ttl_ms))
    }
    pub(crate) fn take(key: &str, cost: u32, limit: u32, window_ms: u32) -> u32 {
        ask(|world| world.store.take(key, cost, limit, window_ms))
    }
    pub(crate) fn draw(key: &str, cost: u32, per_minute: u32, burst: u32) -> u32 {
        ask(|world| world.store.draw(key, cost, per_minute, burst))
    }
    pub(crate) fn take_all(charges: &[crate::host::state::Charge]) -> Option<(u32, u32)> {
        ask(|world| world.store.take_all(charges))
    }
    pub(crate) fn get(key: &str) -> Option<String> {
        ask(|world| world.store.get(key))
    }
    pub(crate) fn set(key: &str, value: &str, ttl_ms: Option<u32>) -> bool {
        ask(|world| world.store.set(key, value, ttl_ms));
        true
    }
    pub(crate) fn compare_and_set(
        key: &str,
        old: Option<&str>,
        new: &str,
        ttl_ms: Option<u32>,
    ) -> bool {
        ask(|world| world.store.compare_and_set(key, old, new, ttl_ms))
    }
    pub(crate) fn remove(key: &str) {
        ask(|world| world.store.remove(key));
    }
}

pub(crate) mod handles {
    use super::super::ask;
    use crate::testing::world::{Handle, World};

    /// An id at the current upstream.
    fn here(world: &World, kind: &str, id: &str) -> Option<Handle> {
        let (upstream, _) = world.call.target.clone()?;
        (!id.is_empty()).then(|| (upstream, kind.to_owned(), id.to_owned()))
    }

    pub(crate) fn claim(kind: &str, id: &str) -> bool {
        ask(|world| {
            let Some(handle) = here(world, kind, id) else { return false };
            let caller = world.caller.id.clone();
            let others = |((_, of, own), owner): (&Handle, &String)| {
                (of.as_str(), own.as_str()) == (kind, id) && *owner != caller
            };
            if world.handles.iter().any(others) {
                return false;
            }
            world.handles.insert(handle, caller);
            true
        })
    }
    pub(crate) fn owns(upstream: Option<&str>, kind: &str, id: &str) -> bool {
        ask(|world| {
            world.handles.iter().any(|((at, of, own), owner)| {
                upstream.is_none_or(|upstream| upstream == at)
                    && (of.as_str(), own.as_str(), owner) == (kind, id, &world.caller.id)
            })
        })
    }
    pub(crate) fn list(upstream: &str, kind: &str) -> Vec<String> {
        let strangers = crate::host::caller::anonymous()
            && crate::host::call::attribute("era").as_deref() == Some("modern");
        if strangers {
            return Vec::new();
        }
        ask(|world| {
            let own = world.handles.iter().filter(|((at, of, _), owner)| {
                (at.as_str(), of.as_str(), *owner) == (upstream, kind, &world.caller.id)
            });
            own.map(|((_, _, id), _)| id.clone()).collect()
        })
    }
    pub(crate) fn release(kind: &str, id: &str) {
        ask(|world| {
            let Some(handle) = here(world, kind, id) else { return };
            if world.handles.get(&handle) == Some(&world.caller.id) {
                world.handles.remove(&handle);
            }
        });
    }
}

pub(crate) mod fetch {
    use crate::host::fetch::{Incoming, Outgoing};

    pub(crate) fn send(request: &Outgoing) -> Result<Incoming, String> {
        super::super::ask(|world| {
            world
                .fetch
                .as_ref()
                .map_or_else(|| Err(super::UNGRANTED.to_owned()), |answer| answer(request))
        })
    }
}

pub(crate) mod upstreams {
    pub(crate) fn request(upstream: &str, method: &str, params: &str) -> Result<String, String> {
        super::super::ask(|world| {
            world.request.as_ref().map_or_else(
                || Err(super::UNGRANTED.to_owned()),
                |answer| answer(upstream, method, params),
            )
        })
    }
}

pub(crate) mod transfers {
    pub(crate) fn send(data_ref: &str, to: &str, name: &str) -> Result<String, String> {
        super::super::ask(|world| {
            world.send.as_ref().map_or_else(
                || Err(super::UNGRANTED.to_owned()),
                |answer| answer(data_ref, to, name),
            )
        })
    }
}

pub(crate) mod reveal {
    use super::super::{ask, length_of};
    use crate::host::reveal::Change;

    pub(crate) fn loaded() -> Option<Vec<String>> {
        ask(|world| world.room.map(|_| world.loaded.clone()))
    }
    #[expect(clippy::fn_params_excessive_bools, reason = "as the contract has them")]
    pub(crate) fn load(names: &[String], _once: bool, evict: bool) -> Result<Change, String> {
        ask(|world| {
            let cap = world.room.ok_or_else(|| "nothing is kept here".to_owned())?;
            if let Some(unknown) =
                names.iter().find(|name| !world.entries.iter().any(|entry| entry.name == **name))
            {
                return Err(format!("{unknown} is not visible"));
            }
            let known = |name: &String| world.loaded.contains(name);
            let fresh: Vec<_> = names.iter().filter(|name| !known(name)).cloned().collect();
            let most = cap as usize;
            let over = (world.loaded.len() + fresh.len()).saturating_sub(most);
            if over > 0 && (!evict || fresh.len() > most) {
                return Err(format!("there is no room: {}", world.loaded.join(", ")));
            }
            let unloaded = world.loaded.drain(..over).collect();
            world.loaded.extend(fresh.iter().cloned());
            Ok(Change { loaded: fresh, unloaded, total: length_of(&world.loaded), cap })
        })
    }
    pub(crate) fn unload(names: &[String]) -> Change {
        ask(|world| {
            let (unloaded, kept) =
                std::mem::take(&mut world.loaded).into_iter().partition(|one| names.contains(one));
            world.loaded = kept;
            let (total, cap) = (length_of(&world.loaded), world.room.unwrap_or_default());
            Change { loaded: Vec::new(), unloaded, total, cap }
        })
    }
}

pub(crate) mod announce {
    pub(crate) fn content_changed() {
        resource_updated("content-changed");
    }
    pub(crate) fn resource_updated(uri: &str) {
        super::super::ask(|world| world.announced.push(uri.to_owned()));
    }
}
