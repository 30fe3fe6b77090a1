//! The plugin: hands the pure core what the host gives, and logs what the core found wrong.

use plugway_sdk::prelude::*;

use crate::shape::shape;

/// The default router.
#[derive(Debug)]
pub struct DefaultRouter;

impl Plugin for DefaultRouter {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }

    fn describe(package: Info) -> Info {
        let schema = r#"{"type":"object","additionalProperties":false}"#;
        Info { config_schema: schema.to_owned(), ..package }
    }
}

impl Router for DefaultRouter {
    fn shape(&self, connector: ConnectorView) -> Result<Shaped, Failure> {
        let (shaped, warnings) = shape(connector)?;
        for warning in &warnings {
            log::log(log::Level::Warn, &warning.to_string(), &[("upstream", warning.upstream())]);
        }
        Ok(shaped)
    }
}

plugway_sdk::export!(DefaultRouter: router);
