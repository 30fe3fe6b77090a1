//! What of an input schema is left for one action.

use std::borrow::Cow;

use super::{ARGUMENT, choice};
use crate::object::{Object, array, items};

/// What a branch of a schema may say to be written into the schema itself, where many clients look for it only.
const PLAIN: [&str; 6] =
    ["type", "properties", "required", "title", "description", "additionalProperties"];

/// So many conditions inside of conditions are answered.
const DEEPEST: u32 = 64;

/// Beyond so many pairs of properties a branch is not written into the schema.
const PAIRS_MAX: usize = 100_000;

/// JSON of the schema without the argument `action`, and without what is about other actions.
pub fn narrowed(schema: &Object<'_>, action: &str) -> String {
    let mut own = without_argument(schema);
    let discriminator = schema.get("discriminator").and_then(Object::parse);
    if discriminator.is_some_and(|one| one.text("propertyName").as_deref() == Some(ARGUMENT)) {
        own.remove("discriminator");
    }
    let mut left = Vec::new();
    for word in ["oneOf", "anyOf"] {
        if let Some(kept) = schema.get(word).and_then(|ways| of_ways(schema, ways, action)) {
            own.remove(word);
            match &kept[..] {
                [] => {}
                [one] => left.push(one.clone()),
                several => own.set(word, array(several)),
            }
        }
    }
    if let Some(all) = schema.get("allOf").and_then(items) {
        own.remove("allOf");
        for part in all {
            hold(schema, part, action, DEEPEST, &mut left);
        }
    }
    if let Some(asked) = asked(schema, schema, action) {
        for word in ["if", "then", "else"] {
            own.remove(word);
        }
        if let Some(then) = schema.get(if asked { "then" } else { "else" }) {
            hold(schema, then, action, DEEPEST, &mut left);
        }
    }
    // The argument is always there.
    if let Some(mut needed) = schema.get("dependentRequired").and_then(Object::parse)
        && let Some(names) = needed.get(ARGUMENT).map(str::to_owned)
    {
        left.push(format!(r#"{{"required":{names}}}"#));
        needed.remove(ARGUMENT);
        own.set("dependentRequired", needed.to_string());
    }
    if let Some(mut needed) = schema.get("dependentSchemas").and_then(Object::parse)
        && let Some(part) = needed.get(ARGUMENT).map(str::to_owned)
    {
        hold(schema, &part, action, DEEPEST, &mut left);
        needed.remove(ARGUMENT);
        own.set("dependentSchemas", needed.to_string());
    }
    let left: Vec<String> = left.into_iter().filter(|part| !merged(&mut own, part)).collect();
    if !left.is_empty() {
        own.set("allOf", array(&left));
    }
    own.to_string()
}

/// A schema, or a branch of one, that does not speak of the argument any more.
fn without_argument<'a>(schema: &Object<'a>) -> Object<'a> {
    let mut own = schema.clone();
    if let Some(mut properties) = schema.get("properties").and_then(Object::parse)
        && properties.get(ARGUMENT).is_some()
    {
        properties.remove(ARGUMENT);
        own.set("properties", properties.to_string());
    }
    if let Some(required) = schema.get("required").and_then(items) {
        let names: Vec<&str> = required.into_iter().filter(|name| !is_argument(name)).collect();
        if names.is_empty() {
            own.remove("required");
        } else {
            own.set("required", array(&names));
        }
    }
    own
}

fn is_argument(json: &str) -> bool {
    serde_json::from_str::<Cow<'_, str>>(json).is_ok_and(|name| name == ARGUMENT)
}

/// The branches that are about the action; none if one of them says nothing of actions: then the choice is about something
/// else.
fn of_ways(root: &Object<'_>, ways: &str, action: &str) -> Option<Vec<String>> {
    let mut kept = Vec::new();
    for way in items(ways)? {
        let way = resolved(root, way)?;
        if choice::admits(root, &way, action)? {
            kept.push(without_argument(&way).to_string());
        }
    }
    Some(kept)
}

/// A branch, or the definition that it names.
fn resolved(root: &Object<'_>, way: &str) -> Option<Object<'static>> {
    let own = Object::parse(way)?.owned();
    let Some(reference) = own.text("$ref") else { return Some(own) };
    let (folder, name) = reference.strip_prefix("#/")?.split_once('/')?;
    let definitions = Object::parse(root.get(folder)?)?;
    Object::parse(definitions.get(name)?).map(Object::owned)
}

/// What of a part that holds besides is left: where its `if` is answered by the action, what follows from the answer.
fn hold(root: &Object<'_>, part: &str, action: &str, deep: u32, left: &mut Vec<String>) {
    let Some(own) = Object::parse(part) else { return left.push(part.to_owned()) };
    let asked = asked(root, &own, action).filter(|_| deep > 0);
    let Some(yes) = asked else { return left.push(without_argument(&own).to_string()) };
    let mut rest = without_argument(&own);
    for word in ["if", "then", "else"] {
        rest.remove(word);
    }
    if !rest.is_empty() {
        left.push(rest.to_string());
    }
    if let Some(follows) = own.get(if yes { "then" } else { "else" }) {
        hold(root, follows, action, deep - 1, left);
    }
}

/// How the action answers the `if` of a part; none where it asks for more than the action, or for nothing of it.
fn asked(root: &Object<'_>, part: &Object<'_>, action: &str) -> Option<bool> {
    let asked = Object::parse(part.get("if")?)?;
    let only = asked.members().all(|(name, _)| ["properties", "required", "type"].contains(&name));
    let properties = Object::parse(asked.get("properties")?)?;
    let alone = properties.members().count() == 1;
    let required = asked.get("required").and_then(items).unwrap_or_default();
    let alone = alone && only && required.into_iter().all(is_argument);
    choice::admits(root, &asked, action).filter(|_| alone)
}

/// Writes a branch into the schema; false if it says more than can be written there.
fn merged(schema: &mut Object<'_>, branch: &str) -> bool {
    let Some(branch) = Object::parse(branch) else { return false };
    let plain = branch.members().all(|(name, _)| PLAIN.contains(&name))
        && branch.text("type").is_none_or(|word| word == "object");
    if !plain {
        return false;
    }
    let (Some(own), Some(more)) = (properties(schema), properties(&branch)) else { return false };
    // Closed, a branch admits its own arguments only.
    let closed = branch.get("additionalProperties") == Some("false");
    let pairs = own.members().count().saturating_mul(more.members().count());
    // What both speak of has to fit both.
    if pairs > PAIRS_MAX || more.members().any(|(name, _)| own.get(name).is_some()) {
        return false;
    }
    let mut all = if closed { Object::default() } else { own };
    for (name, json) in more.members() {
        all = all.with(name.to_owned(), json.to_owned());
    }
    let names = |object: &Object<'_>| {
        let names = object.get("required").and_then(items).unwrap_or_default();
        names.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut required = names(schema);
    required.extend(names(&branch));
    let known = |name: &String| {
        serde_json::from_str::<String>(name).is_ok_and(|name| !closed || all.get(&name).is_some())
    };
    let mut seen = Vec::new();
    required.retain(|name| {
        known(name) && !seen.contains(name) && {
            seen.push(name.clone());
            true
        }
    });
    if !all.is_empty() {
        schema.set("properties", all.to_string());
    }
    if !required.is_empty() {
        schema.set("required", array(&required));
    }
    if let Some(more) = branch.get("additionalProperties") {
        schema.set("additionalProperties", more.to_owned());
    }
    true
}

fn properties(schema: &Object<'_>) -> Option<Object<'static>> {
    match schema.get("properties") {
        None => Some(Object::default()),
        Some(json) => Object::parse(json).map(Object::owned),
    }
}
