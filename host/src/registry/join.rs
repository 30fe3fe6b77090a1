//! A configuration and its leases as one: what is to be served.

use std::sync::Arc;

use http::Uri;

use super::book::Book;
use super::rules::{Place, Rules};
use crate::config::{Address, ConnectorSettings, Settings, Target, UpstreamSettings};

/// A configuration with the servers that registered themselves.
#[derive(Debug)]
pub struct Joined {
    /// The settings of all of it.
    pub settings: Settings,
    /// What was decided about each lease.
    pub placed: Vec<Placed>,
}

/// What was decided about a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The connector.
    pub connector: Arc<str>,
    /// The upstream.
    pub name: Arc<str>,
    /// Where the lease says it is.
    pub url: Uri,
    /// Why it is not served; none where it is.
    pub held: Option<Arc<str>>,
}

/// The file's settings with every lease that has a place in them: behind the upstreams of the file, or as the address of the
/// entry that waits for it. What the file does not allow any more is held back until it lapses.
pub fn join(file: &Settings, book: &Book) -> Joined {
    let mut settings = file.clone();
    let mut placed = Vec::new();
    for connector in &mut settings.connectors {
        let leases = book.leases(&connector.name);
        let rules = Rules::of(connector);
        for lease in leases {
            let held = match (&lease.broken, &rules) {
                (Some(why), _) => Some(why.clone()),
                (None, None) => Some("There is no registry any more.".into()),
                (None, Some(rules)) => {
                    match rules.place(&lease.name, &lease.holder.shown, &lease.url) {
                        Ok(place) => {
                            enter(connector, place, &lease.name, &lease.url);
                            None
                        }
                        Err(fault) => Some(fault.public().into()),
                    }
                }
            };
            let (connector, name) = (connector.name.clone(), lease.name.clone());
            placed.push(Placed { connector, name, url: lease.url, held });
        }
    }
    Joined { settings, placed }
}

fn enter(connector: &mut ConnectorSettings, place: Place<'_>, name: &Arc<str>, url: &Uri) {
    match place {
        Place::Own => {
            connector.upstreams.push(UpstreamSettings::leased(name.clone(), url.clone()));
        }
        Place::Entry(_) => {
            let entry = connector.upstreams.iter_mut().find(|entry| entry.name == *name);
            if let Some(entry) = entry
                && let Target::Leased(transport) = entry.target
            {
                entry.target = Target::Http(Address::new(url.clone(), transport));
            }
        }
    }
}
