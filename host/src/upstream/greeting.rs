//! What a server says of itself when plugway connects.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::Revision;

/// The result of `initialize` or of `server/discover`.
#[derive(Clone, Debug, Default)]
pub(super) struct Greeting {
    /// The revision to speak.
    pub(super) revision: Option<Revision>,
    /// The revision as the server wrote it.
    pub(super) version: Arc<str>,
    /// JSON text.
    pub(super) capabilities: Arc<str>,
    pub(super) server_name: Arc<str>,
    pub(super) instructions: Option<Arc<str>>,
}

#[derive(Default, Deserialize)]
struct Info<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/serverInfo")]
    server: Option<Info<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    #[serde(borrow, default)]
    protocol_version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    supported_versions: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default)]
    server_info: Option<Info<'a>>,
    #[serde(borrow, default)]
    instructions: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

impl Greeting {
    /// Reads the result of `initialize`; none when it is not one.
    pub(super) fn initialized(result: &str) -> Option<Self> {
        let wire: Wire<'_> = serde_json::from_str(result).ok()?;
        let version = wire.protocol_version.clone()?;
        Some(Self::new(wire, &version))
    }

    /// Reads the result of `server/discover`; none when it is not one, or does not name the modern revision.
    pub(super) fn discovered(result: &str) -> Option<Self> {
        let wire: Wire<'_> = serde_json::from_str(result).ok()?;
        let newest = Revision::NEWEST.as_str();
        wire.supported_versions.iter().any(|version| version == newest).then_some(())?;
        Some(Self::new(wire, newest))
    }

    fn new(wire: Wire<'_>, version: &str) -> Self {
        let info = wire.server_info.or(wire.meta.and_then(|meta| meta.server));
        Self {
            revision: Revision::parse(version),
            version: version.into(),
            capabilities: wire.capabilities.map_or("{}", RawValue::get).into(),
            server_name: info.and_then(|info| info.name).unwrap_or_default().into(),
            instructions: wire.instructions.map(Into::into),
        }
    }
}
