//! What belongs to the call in hand.

pub(crate) mod call {
    use super::super::ask;
    use crate::host::call::Way;
    use crate::testing::world::at;

    pub(crate) fn direction() -> Way {
        ask(|world| world.call.way())
    }
    pub(crate) fn method() -> String {
        ask(|world| world.call.method.clone())
    }
    pub(crate) fn name() -> String {
        ask(|world| world.call.name.clone())
    }
    pub(crate) fn target() -> Option<(String, String)> {
        ask(|world| world.call.target.clone())
    }
    pub(crate) fn session() -> Option<String> {
        ask(|world| world.call.session.clone())
    }
    pub(crate) fn header(name: &str) -> Option<String> {
        ask(|world| world.call.headers.get(&name.to_ascii_lowercase()).cloned())
    }
    pub(crate) fn arguments_len() -> u32 {
        ask(|world| {
            world
                .call
                .arguments
                .as_ref()
                .map_or(0, |value| super::super::length(&value.to_string()))
        })
    }
    pub(crate) fn arguments_json() -> String {
        ask(|world| {
            world.call.arguments.as_ref().map_or_else(|| "{}".to_owned(), ToString::to_string)
        })
    }
    pub(crate) fn argument(pointer: &str) -> Option<String> {
        ask(|world| at(world.call.arguments.as_ref()?, pointer))
    }
    pub(crate) fn hint(name: &str) -> Option<bool> {
        ask(|world| world.call.hints.get(name).copied())
    }
    pub(crate) fn attempt() -> u32 {
        ask(|world| world.call.attempt)
    }
    pub(crate) fn retry_of() -> Option<String> {
        ask(|world| world.call.retry_of.clone())
    }
    pub(crate) fn deadline_ms() -> Option<u32> {
        ask(|world| world.call.deadline_ms)
    }
    pub(crate) fn attribute(key: &str) -> Option<String> {
        ask(|world| world.call.attributes.get(key).cloned())
    }
}

pub(crate) mod caller {
    use super::super::ask;

    pub(crate) fn id() -> String {
        ask(|world| world.caller.id.clone())
    }
    pub(crate) fn display() -> String {
        ask(|world| world.caller.display.clone())
    }
    pub(crate) fn anonymous() -> bool {
        ask(|world| world.caller.anonymous)
    }
    pub(crate) fn tenant() -> Option<String> {
        ask(|world| world.caller.tenant.clone())
    }
    pub(crate) fn client() -> Option<String> {
        ask(|world| world.caller.client.clone())
    }
    pub(crate) fn has_scope(scope: &str) -> bool {
        ask(|world| world.caller.scopes.iter().any(|have| have == scope))
    }
    pub(crate) fn claim(name: &str) -> Option<String> {
        ask(|world| world.caller.claims.get(name).map(ToString::to_string))
    }
}

pub(crate) mod catalogue {
    use super::super::{ask, index_of, length_of, nth};

    pub(crate) fn generation() -> u32 {
        ask(|world| world.generation)
    }
    pub(crate) fn document() -> String {
        ask(|world| world.document.clone())
    }
    pub(crate) fn count() -> u32 {
        ask(|world| length_of(&world.entries))
    }
    pub(crate) fn entry(index: u32) -> Option<String> {
        ask(|world| nth(&world.entries, index).map(|listed| listed.json.clone()))
    }
    pub(crate) fn names(kind: &str) -> String {
        ask(|world| {
            let own = world.entries.iter().filter(|listed| listed.kind == kind);
            own.flat_map(|listed| [listed.name.as_str(), "\n"]).collect()
        })
    }
    pub(crate) fn known(kind: &str) -> String {
        let away: String = ask(|world| {
            let away = world.away.iter().filter(|(of, _)| of == kind);
            away.flat_map(|(_, name)| [name.as_str(), "\n"]).collect()
        });
        names(kind) + &away
    }
    pub(crate) fn find(kind: &str, name: &str) -> Option<u32> {
        ask(|world| index_of(&world.entries, |listed| listed.kind == kind && listed.name == name))
    }
}

pub(crate) mod outcome {
    use super::super::{ask, length_of, nth};
    use crate::testing::world::at;

    pub(crate) fn count() -> u32 {
        ask(|world| length_of(&world.answers))
    }
    pub(crate) fn worker(index: u32) -> Option<u32> {
        ask(|world| nth(&world.answers, index)?.worker)
    }
    pub(crate) fn failed(index: u32) -> Option<String> {
        ask(|world| nth(&world.answers, index)?.failed.clone())
    }
    pub(crate) fn dispatched(index: u32) -> bool {
        failed(index).as_deref() != Some("connect")
    }
    pub(crate) fn is_error(index: u32) -> bool {
        ask(|world| {
            nth(&world.answers, index).is_some_and(|answer| {
                let tool = answer.body.pointer("/isError").and_then(serde_json::Value::as_bool);
                tool == Some(true)
                    || answer.body.pointer("/code").is_some_and(serde_json::Value::is_i64)
            })
        })
    }
    pub(crate) fn latency_us(_index: u32) -> u32 {
        0
    }
    pub(crate) fn body_len(index: u32) -> u32 {
        super::super::length(&body(index))
    }
    pub(crate) fn body(index: u32) -> String {
        ask(|world| {
            nth(&world.answers, index).map(|answer| answer.body.to_string()).unwrap_or_default()
        })
    }
    pub(crate) fn field(index: u32, pointer: &str) -> Option<String> {
        ask(|world| at(&nth(&world.answers, index)?.body, pointer))
    }
}

pub(crate) mod listing {
    use super::super::ask;

    pub(crate) fn upstream_name(index: u32) -> String {
        attribute(index, "upstream-name").unwrap_or_default()
    }
    pub(crate) fn digest(index: u32) -> String {
        attribute(index, "digest").unwrap_or_default()
    }
    pub(crate) fn attribute(index: u32, key: &str) -> Option<String> {
        ask(|world| world.details.get(&(index, key.to_owned())).cloned())
    }
    pub(crate) fn header(name: &str) -> Option<String> {
        super::call::header(name)
    }
    pub(crate) fn query(name: &str) -> Option<String> {
        ask(|world| world.query.get(name).cloned())
    }
}

pub(crate) mod workers {
    use super::super::ask;

    pub(crate) fn name(id: u32) -> Option<String> {
        ask(|world| world.workers.get(&id).map(|worker| worker.name.clone()))
    }
    pub(crate) fn find(name: &str) -> Option<u32> {
        ask(|world| world.workers.iter().find(|(_, worker)| worker.name == name).map(|(id, _)| *id))
    }
    pub(crate) fn label(id: u32, key: &str) -> Option<String> {
        ask(|world| world.workers.get(&id)?.labels.get(key).cloned())
    }
    pub(crate) fn generation() -> u32 {
        ask(|world| world.workers_generation)
    }
}
