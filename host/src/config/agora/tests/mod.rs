//! Forms of agora-workbench: what files and variables become, and what is said about them.

mod files;
mod gateway;
mod table;
mod variables;

use std::path::Path;

use crate::config::{Credential, Environment, Flags, Problems, Settings, Target, parse};

fn of(variables: &[(&str, &str)]) -> Environment {
    Environment::of(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

fn file(text: &str) -> Result<Settings, Problems> {
    parse(text, Path::new("/c/hub.yaml"), &Flags::default(), &Environment::default())
}

fn environment(variables: &[(&str, &str)]) -> Result<Settings, Problems> {
    super::environment(&Flags::default(), &of(variables))
}

/// Everything that is wrong, or that deserves a word.
fn said(result: Result<Settings, Problems>) -> String {
    match result {
        Ok(settings) => settings.warnings.as_warnings().to_string(),
        Err(problems) => problems.to_string(),
    }
}

/// Each upstream: its name, its address, and whether it gets credentials of callers.
fn upstreams(settings: &Settings) -> Vec<(String, String, bool)> {
    let upstreams = settings.connectors.iter().flat_map(|connector| &connector.upstreams);
    upstreams
        .map(|upstream| {
            let Target::Http(address) = &upstream.target else { panic!("an address") };
            let forwards = matches!(upstream.credential, Credential::Forward { own: None });
            (upstream.name.to_string(), address.url.to_string(), forwards)
        })
        .collect()
}
