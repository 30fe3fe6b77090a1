//! The plugin: hands the pure core what the host gives.

use plugway_sdk::prelude::*;

use crate::asked::{self, Refused};
use crate::code::{self, Ban};
use crate::config::{Options, Rules, SCHEMA};
use crate::judge::{Details, FUNCTION, Judge, Thing};
use crate::lists::Set;

/// The log says so often that requests had filters that cannot be read: once in so many milliseconds.
const SAID_EVERY_MS: u32 = 60_000;
/// The attribute of an item that says how it is served, and its value for what the connector answers itself.
const TARGET: (&str, &str) = ("target", "local");

/// What is said of code that uses what is not to be seen: as of any unknown thing, and without the name of anything.
const UNKNOWN: &str = "The code uses a function that is unknown here. The catalogue of functions shows what there is.";
/// What is said of code of which nobody can tell what it uses.
const UNREADABLE: &str =
    "This code cannot be read as Python, so nobody can tell which functions it uses.";

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

impl Admission for ByLists {
    fn admit(&self) -> Result<Admit, Failure> {
        let rules = &self.0.sets;
        if !code::matters(rules) || call::method() != "tools/call" {
            return Ok(Admit::Pass);
        }
        let functions = call::attribute("functions").unwrap_or_default();
        let runs = || call::attribute("runs-code").is_some_and(|runs| runs == "true");
        if functions.is_empty() && !runs() {
            return Ok(Admit::Pass);
        }
        let code = call::argument_json("/code");
        let code = code.and_then(|text| serde_json::from_str::<String>(&text).ok());
        let Some(code) = code else { return Ok(Admit::Pass) };
        Ok(match code::judge(rules, &functions, &code) {
            Ok(()) => Admit::Pass,
            Err(Ban::Hidden(name)) => {
                let cause = format!("the code uses the function {name}, which the lists hide");
                Admit::Reject(Rejection::new(UNKNOWN).because(cause))
            }
            Err(Ban::Unreadable) => {
                let cause = "the code cannot be read, and lists hide functions";
                Admit::Reject(Rejection::new(UNREADABLE).because(cause))
            }
        })
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
        let shown = judge.shows_all() || judge.shows(&thing, &Asking(item.index, kind == FUNCTION));
        if shown { Sight::Shown } else { Sight::Hidden }
    }
}

/// Asks the host about the item at a place, and whether that is a function.
struct Asking(u32, bool);

impl Details for Asking {
    fn name(&self) -> Option<String> {
        if self.1 {
            Some(listing::upstream_name(self.0))
        } else {
            listing::attribute(self.0, "name")
        }
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

plugway_sdk::export!(ByLists: visibility, admission);
