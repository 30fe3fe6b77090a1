//! How a connector introduces itself.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Text;

/// How a connector introduces itself to clients.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "server-info", deny_unknown_fields, default)]
#[serde(expecting = "a set of keys such as `title` and `version`")]
pub struct ServerInfo {
    /// Its name for programs. Default: the connector's name.
    pub name: Option<String>,
    /// Its name for people.
    pub title: Option<String>,
    /// Its version. Default: plugway's.
    pub version: Option<Text>,
    /// What it is, for people.
    pub description: Option<String>,
    /// A page about it.
    pub website_url: Option<String>,
    /// Pictures that clients may show for it.
    pub icons: Option<Vec<Icon>>,
}

/// A picture.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "icon", deny_unknown_fields, default)]
#[serde(expecting = "a picture: a set of keys such as `src`")]
pub struct Icon {
    /// Where it is: an address of http or https, or `data:image/..`.
    pub src: Option<String>,
    /// Its type, such as `image/png`, where the address does not tell.
    pub mime_type: Option<String>,
    /// Its sizes: `48x48`, or `any` for one that can be scaled.
    pub sizes: Option<Vec<String>>,
    /// The background that it is made for.
    pub theme: Option<IconTheme>,
}

/// A background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "icon-theme", rename_all = "kebab-case")]
pub enum IconTheme {
    /// A light one.
    Light,
    /// A dark one.
    Dark,
}
