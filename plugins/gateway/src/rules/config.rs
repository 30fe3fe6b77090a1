//! What operators write, as it stands in the configuration.

use serde::Deserialize;
use serde_json::Value;

/// The part of a configuration that is about rules. The values are read by [`Rules::checked`](super::Rules::checked), which
/// names each wrong one by its path.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RulesConfig {
    /// The rules in their order.
    #[serde(default)]
    pub rules: Value,
    /// `allow` or `deny`: what happens where no rule decides. Absent = `allow`.
    #[serde(default)]
    pub default: Value,
    /// `enforce` or `observe`. Absent = `enforce`.
    #[serde(default)]
    pub mode: Value,
}

/// JSON Schema of the three keys, for the plugin's own schema.
pub const SCHEMA: &str = r#"{
  "rules": {"type": "array", "maxItems": 256, "items": {"type": "object", "required": ["do"], "additionalProperties": false, "properties": {
    "name": {"type": "string"}, "when": {"type": "object"}, "do": {"enum": ["allow", "deny", "confirm", "limit"]}, "reason": {"type": "string"},
    "limit": {"type": "object", "required": ["per_minute"], "additionalProperties": false, "properties": {
      "per_minute": {"type": "integer", "minimum": 1}, "burst": {"type": "integer", "minimum": 1},
      "per": {"enum": ["caller", "tenant", "tool", "caller_tool", "all"]}}}}}},
  "default": {"enum": ["allow", "deny"]},
  "mode": {"enum": ["enforce", "observe"]}
}"#;
