//! The actions that an argument may name.

use super::{ACTIONS_MAX, ARGUMENT};
use crate::object::{Object, items};

/// One value of the argument `action`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The value.
    pub name: String,
    /// What the schema says about it, where it says something of each.
    pub about: Option<String>,
}

/// The actions of an input schema; none if it has no argument `action`, or one that takes anything but a list of texts.
pub fn of(schema: &Object<'_>) -> Option<Vec<Action>> {
    let properties = Object::parse(schema.get("properties")?)?;
    let argument = Object::parse(properties.get(ARGUMENT)?)?;
    let mut actions = Vec::new();
    listed(schema, &argument, &mut actions)?;
    let good = |action: &Action| !action.name.is_empty() && action.name.len() <= 128;
    let mut names: Vec<&str> = actions.iter().map(|action| &*action.name).collect();
    names.sort_unstable();
    names.dedup();
    let once = names.len() == actions.len();
    (once && (1..=ACTIONS_MAX).contains(&actions.len()) && actions.iter().all(good))
        .then_some(actions)
}

/// Adds the values that a schema lists; none if it takes others, too.
fn listed(root: &Object<'_>, schema: &Object<'_>, actions: &mut Vec<Action>) -> Option<()> {
    if let Some(one) = schema.get("const") {
        let about = schema.text("description").or_else(|| schema.text("title"));
        actions.push(Action { name: serde_json::from_str(one).ok()?, about });
        return Some(());
    }
    if let Some(values) = schema.get("enum") {
        for value in items(values)? {
            // An argument that may be left out has null among its values.
            if value != "null" {
                actions.push(Action { name: serde_json::from_str(value).ok()?, about: None });
            }
        }
        return Some(());
    }
    if let Some(reference) = schema.text("$ref") {
        return listed_elsewhere(root, &reference, actions);
    }
    let ways = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
    for way in items(ways)? {
        let way = Object::parse(way)?;
        if way.text("type").as_deref() == Some("null") {
            continue;
        }
        // Not deeper than this: nobody writes it, and hostile schemas would.
        match way.text("$ref") {
            Some(reference) => listed_elsewhere(root, &reference, actions)?,
            None if way.get("const").is_some() || way.get("enum").is_some() => {
                listed(root, &way, actions)?;
            }
            None => return None,
        }
    }
    Some(())
}

/// The values of a definition in the same schema.
fn listed_elsewhere(root: &Object<'_>, reference: &str, actions: &mut Vec<Action>) -> Option<()> {
    let (folder, name) = reference.strip_prefix("#/")?.split_once('/')?;
    let definitions = Object::parse(root.get(folder)?)?;
    let definition = Object::parse(definitions.get(name)?)?;
    let direct = definition.get("const").is_some() || definition.get("enum").is_some();
    direct.then(|| listed(root, &definition, actions))?
}

/// Whether a part of a schema is about this action: yes, no, or none where it says nothing of actions.
pub fn admits(root: &Object<'_>, part: &Object<'_>, action: &str) -> Option<bool> {
    let properties = Object::parse(part.get("properties")?)?;
    let argument = Object::parse(properties.get(ARGUMENT)?)?;
    let mut actions = Vec::new();
    listed(root, &argument, &mut actions)?;
    Some(actions.iter().any(|one| one.name == action))
}
