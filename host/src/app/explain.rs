//! `plugway policy explain`: asks the policies of a connector about a call that nobody makes. No server is started.

use super::error::StartError;
use super::plugins::Plugins;
use crate::config::{ConnectorSettings, Settings};
use crate::outbound::OwnListeners;
use crate::pipeline::Connector;
use crate::pipeline::explain::{self, Explanation, Question};

/// What the policies of a connector say of a call. Their state is new: no call was counted before.
pub async fn explain(
    settings: &Settings,
    connector: &ConnectorSettings,
    question: Question,
) -> Result<Explanation, StartError> {
    let plugins = Plugins::load(settings, &OwnListeners::new()).await?;
    let router = plugins.router(&connector.name, &connector.router).await?;
    let policies = plugins.policies(connector).await?;
    let (name, description) = (connector.name.clone(), connector.description.clone());
    let made = Connector::new(name, description, Vec::new(), router, policies);
    Ok(Box::pin(explain::explain(made, question)).await)
}
