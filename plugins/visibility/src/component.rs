//! The plugin: hands the pure core what the host gives.

use plugway_sdk::prelude::*;

use crate::asked::{self, Refused};
use crate::config::{Options, Rules, SCHEMA};
use crate::judge::{Details, Judge, Thing};
use crate::lists::Set;

/// The log says so often that requests had filters that cannot be read: once in so many milliseconds.
const SAID_EVERY_MS: u32 = 60_000;
/// The attribute of an item that says how it is served, and its value for what the connector answers itself.
const TARGET: (&str, &str) = ("target", "local");

/// The visibility plugin.
#[derive(Debug)]
pub struct ByLists(Rules);

impl Plugin for ByLists {
    type Config = Options;

    fn configure(options: Options) -> Result<Self, BadConfig> {
        options.checked().map(Self)
    }

    fn describe(package: Info) -> Info {
        Info { config_schema: SCHEMA.to_owned(), ..package }
    }
}

impl Visibility for ByLists {
    fn sight(&self, item: &Item<'_>) -> Result<Sight, Failure> {
        Ok(match self.asked() {
            Ok(asked) => self.judge(&asked, item),
            Err(_refused) => Sight::Hidden,
        })
    }

    fn visible(&self, page: Page) -> Result<View, Failure> {
        let items = page.items()?;
        let asked = self.asked();
        let judge = |item| match &asked {
            Ok(asked) => self.judge(asked, item),
            Err(_refused) => Sight::Hidden,
        };
        let sights = items.iter().map(judge).collect();
        let refused = asked.as_ref().err();
        if let Some(refused) = refused {
            say(*refused);
        }
        Ok(View { sights, valid_ms: None, notice: refused.map(ToString::to_string) })
    }
}

impl ByLists {
    fn asked(&self) -> Result<Vec<Set>, Refused> {
        if !self.0.client_filters {
            return Ok(Vec::new());
        }
        asked::read(listing::query, listing::header)
    }

    fn judge(&self, asked: &[Set], item: &Item<'_>) -> Sight {
        let judge = Judge { rules: &self.0.sets, asked };
        let Item { kind, name, tags, upstream, .. } = *item;
        let thing = Thing { kind, name, tags, serverless: upstream.is_empty() };
        let shown = judge.shows_all() || judge.shows(&thing, &Asking(item.index));
        if shown { Sight::Shown } else { Sight::Hidden }
    }
}

/// Asks the host about the item at a place.
struct Asking(u32);

impl Details for Asking {
    fn name(&self) -> Option<String> {
        listing::attribute(self.0, "name")
    }

    fn origin(&self) -> String {
        listing::upstream_name(self.0)
    }

    fn is_local(&self) -> bool {
        listing::attribute(self.0, TARGET.0).as_deref() == Some(TARGET.1)
    }
}

/// Tells the operator, seldom: anybody can send such a filter.
fn say(refused: Refused) {
    if state::take("said", 1, 1, SAID_EVERY_MS).is_ok() {
        let (message, name) = match refused {
            Refused::Malformed(name) => ("a client's filter is no list of names", name),
            Refused::Search(name) => {
                ("a client's filter asks for a search, which is not served", name)
            }
        };
        let message = format!("{message}: it is shown nothing");
        log::log(log::Level::Warn, &message, &[("filter", name)]);
    }
}

plugway_sdk::export!(ByLists: visibility);
