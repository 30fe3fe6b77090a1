//! The JSON Schema (draft 2020-12) of a configuration file.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Value, json};

use crate::config::file::File;

/// The schema, which takes what plugway takes as far as a schema can say it: references, names and bounds are left to
/// `plugway check`.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_deserialize()
        .with_transform(RecursiveTransform(simplify));
    let mut schema = settings.into_generator().into_root_schema_for::<File>();
    schema.insert("title".to_owned(), json!("Configuration of plugway"));
    schema.to_value()
}

/// One line for each description; no `null`, which means no more than that the key is missing; no formats of numbers,
/// which editors do not know.
fn simplify(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    object.remove("format");
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(parts)) = object.get_mut("anyOf") {
        parts.retain(|part| part.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = parts.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}
