//! What is known of one lease.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Uri;

use crate::config::UpstreamSettings;

/// Who holds a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The caller's id.
    pub id: Arc<str>,
    /// The same for people, as `accept_leases` names it.
    pub shown: Arc<str>,
}

/// A server that registered itself for a time.
#[derive(Clone, Debug)]
pub struct Lease {
    /// The name of its upstream.
    pub name: Arc<str>,
    /// Who registered it, and alone may renew or remove it.
    pub holder: Holder,
    /// Where it is.
    pub url: Uri,
    /// How long one renewal lasts.
    pub ttl: Duration,
    /// When it lapses.
    pub until: Instant,
    /// Until when its holder promised that it is at `url`: earlier where the last renewals said another address.
    pub there_until: Instant,
    /// Words of its holder about it.
    pub labels: BTreeMap<String, String>,
    /// What became of it in the configuration that serves.
    pub standing: Standing,
    /// Where its holder says it is now, while another address serves.
    pub wanted: Option<Wanted>,
    /// Why no upstream could be made of it; none where nobody tried, or it could.
    pub broken: Option<Arc<str>>,
    /// Leases stand in the order of these numbers.
    pub order: u64,
}

/// What became of a lease in the configuration that serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is about to be put in place.
    Joining,
    /// It serves, as far as its server does.
    Serving,
    /// It does not, for this reason.
    Held(Arc<str>),
}

/// Another address for an upstream of the file: it counts once its tools are known to be the same.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Where.
    pub url: Uri,
    /// The upstream that it would be.
    pub settings: UpstreamSettings,
    /// How far it is known.
    pub known: Known,
    /// Since when a look at it is due.
    pub since: Instant,
    /// Why it was held back after the last look; none before the first one.
    pub before: Option<Arc<str>>,
}

/// What is known of another address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing yet; a look at it is due.
    Nothing,
    /// It is looked at.
    Looking,
    /// It is held back, for this reason.
    Held(Arc<str>),
}

/// A look that is due at another address.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The connector.
    pub connector: Arc<str>,
    /// The upstream.
    pub name: Arc<str>,
    /// The upstream that it would be.
    pub settings: UpstreamSettings,
    /// Where.
    pub url: Uri,
}

/// What a look at another address showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It offers the same tools: it takes over.
    Same,
    /// It does not, or cannot be reached: one sentence.
    Held(Arc<str>),
}

impl Lease {
    /// Where its holder says it is.
    pub fn said(&self) -> &Uri {
        self.wanted.as_ref().map_or(&self.url, |wanted| &wanted.url)
    }

    /// The word and the reason for whoever asks.
    pub fn state(&self) -> (&'static str, Option<Arc<str>>) {
        match (&self.standing, &self.wanted) {
            // Whatever its address: nothing of it is served.
            (Standing::Held(why), _)
            | (
                _,
                Some(Wanted { known: Known::Held(why), .. } | Wanted { before: Some(why), .. }),
            ) => ("held", Some(why.clone())),
            (_, Some(_)) => {
                let why =
                    format!("The tools of this address are compared with those of {}.", self.url);
                ("held", Some(why.into()))
            }
            (Standing::Joining, None) => ("joining", None),
            (Standing::Serving, None) => ("serving", None),
        }
    }
}
