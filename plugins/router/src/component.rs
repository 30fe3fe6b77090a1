//! The plugin: hands the pure core what the host gives, and logs what the core found wrong.

use plugway_sdk::prelude::*;

use crate::shape::shape;
use crate::status;

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

impl Answering for DefaultRouter {
    fn answer(&self) -> Result<Reply, Failure> {
        let live = call::attribute(status::LIVE)
            .ok_or_else(|| Failure::new("this host does not tell the status of its servers"))?;
        let modern = call::attribute("era").is_some_and(|era| era == "modern");
        Ok(Reply::Answer(match call::method().as_str() {
            "resources/read" => status::read(&call::name(), &live, modern),
            _ => status::called(&live, modern),
        }))
    }
}

plugway_sdk::export!(DefaultRouter: router, answering);
