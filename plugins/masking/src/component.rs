//! The plugin: hands the pure core what a server sent, and says in the log how much was found, never what.

use plugway_sdk::prelude::*;

use crate::config::{Action, Config, SCHEMA, Settings};
use crate::document::{Masked, TooDeep, mask};
use crate::kind::{Counts, Kind};

/// The policy.
#[derive(Debug)]
pub struct Masking(Settings);

impl Plugin for Masking {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        config.checked().map(Self)
    }

    fn describe(package: Info) -> Info {
        Info { config_schema: SCHEMA.to_owned(), ..package }
    }
}

impl Reviewing for Masking {
    fn review(&self) -> Result<Review, Failure> {
        let (method, name) = (call::method(), call::name());
        let tool = (method == "tools/call").then_some(&*name);
        if !self.covers(tool) || outcome::body_len(0) == 0 {
            return Ok(Review::Keep);
        }
        let Masked { text, counts } = mask(&outcome::body(0), &self.0).map_err(failure)?;
        let Some(text) = text else { return Ok(Review::Keep) };
        tell(&counts, &method, &name);
        Ok(match self.0.action {
            Action::Mask => Review::Replace(text),
            Action::Refuse => Review::refuse(sentence("answer", &counts)),
        })
    }
}

impl Inbound for Masking {
    fn inbound(&self) -> Result<Onward, Failure> {
        if !self.covers(None) || call::arguments_len() == 0 {
            return Ok(Onward::Pass);
        }
        let Masked { text, counts } = mask(&call::arguments_json(), &self.0).map_err(failure)?;
        let Some(text) = text else { return Ok(Onward::Pass) };
        tell(&counts, &call::method(), "");
        Ok(match self.0.action {
            Action::Mask => Onward::Replace(text),
            Action::Refuse => Onward::refuse(sentence("message", &counts)),
        })
    }
}

impl Masking {
    fn covers(&self, tool: Option<&str>) -> bool {
        let target = call::target();
        let target = target.as_ref().map(|(upstream, own)| (&**upstream, &**own));
        self.0.covers(tool, target)
    }
}

fn failure(error: TooDeep) -> Failure {
    Failure::new(error.to_string())
}

/// One sentence for whoever gets nothing.
fn sentence(what: &str, counts: &Counts) -> String {
    let kinds: Vec<&str> = counts.found().map(|(kind, _)| Kind::name(kind)).collect();
    format!(
        "The {what} holds what may not leave this server ({}), and was held back.",
        kinds.join(", ")
    )
}

fn tell(counts: &Counts, method: &str, name: &str) {
    let found: Vec<String> =
        counts.found().map(|(kind, count)| format!("{}={count}", kind.name())).collect();
    let found = found.join(" ");
    let fields = [("found", &*found), ("method", method), ("name", name)];
    log::log(log::Level::Info, "found what may not leave", &fields);
}

plugway_sdk::export!(Masking: reviewing, inbound);
