//! The plugin's face to the host.

use plugway_sdk::prelude::*;
use serde_json::{Map, Value};

use crate::config;
use crate::gateway::Gateway;

impl Plugin for Gateway {
    type Config = Map<String, Value>;

    fn configure(written: Map<String, Value>) -> Result<Self, BadConfig> {
        Self::of(written)
    }

    fn describe(package: Info) -> Info {
        Info { config_schema: config::schema(), ..package }
    }
}

impl Visibility for Gateway {
    fn sight(&self, item: &Item<'_>) -> Result<Sight, Failure> {
        Err(Failure::new(format!("{} is judged with its page", item.name)))
    }

    fn visible(&self, page: Page) -> Result<View, Failure> {
        self.view(&page)
    }
}

impl Admission for Gateway {
    fn admit(&self) -> Result<Admit, Failure> {
        Ok(self.judge())
    }
}

impl Explaining for Gateway {
    fn explain(&self, page: Page) -> Result<Vec<Understood>, Failure> {
        self.understood(&page)
    }
}

plugway_sdk::export!(Gateway: visibility, admission, explaining);
