//! What every plugin has: a configuration, and a description of itself.

use std::cell::OnceCell;

use serde::de::DeserializeOwned;

use crate::Failure;
use crate::config::{self, BadConfig};

/// What a plugin says about itself; shown to operators, never trusted.
pub use crate::glue::lifecycle::Info;

/// A plugin: made from its configuration, once per instance.
///
/// Instances are disposable and many. Whatever must outlive a call belongs into [`state`](crate::host::state) or, for a
/// router, into the document that [`shape`](crate::hooks::router::Router::shape) returns.
pub trait Plugin: Sized + 'static {
    /// The operator's `config:`. Derive `Deserialize` and refuse unknown fields; [`NoConfig`](crate::NoConfig) if none.
    type Config: DeserializeOwned;

    /// Makes the plugin, or says which key is wrong and why.
    fn configure(config: Self::Config) -> Result<Self, BadConfig>;

    /// Changes what Cargo says about the package, for example to add the JSON Schema of the configuration.
    fn describe(package: Info) -> Info {
        package
    }
}

/// Where the exported functions keep the configured plugin of this instance.
#[doc(hidden)]
#[derive(Debug)]
pub struct Slot<P>(OnceCell<P>);

impl<P: Plugin> Slot<P> {
    /// An empty one.
    #[expect(clippy::new_without_default, reason = "only for a constant")]
    pub const fn new() -> Self {
        Self(OnceCell::new())
    }

    /// `lifecycle.configure`.
    pub fn configure(&self, text: &str) -> Result<(), String> {
        let config = config::parse(text).map_err(|error| error.to_string())?;
        let plugin = P::configure(config).map_err(|error| error.to_string())?;
        self.0.set(plugin).map_err(|_again| "configured twice".to_owned())
    }

    /// The plugin, for hooks that may fail.
    pub fn get(&self) -> Result<&P, Failure> {
        self.0.get().ok_or_else(|| Failure::new("a hook was called before `configure`"))
    }
}

impl Failure {
    /// A failure that asking again would not cure.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), retryable: false }
    }

    /// A failure that may be gone the next time.
    pub fn temporary(message: impl Into<String>) -> Self {
        Self { message: message.into(), retryable: true }
    }
}

/// JSON that cannot be read or written becomes a failure with `?`: the call then goes the way of the operator's `on_error`.
impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::new(error.to_string())
    }
}
