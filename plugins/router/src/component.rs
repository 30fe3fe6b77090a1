//! The plugin: hands the pure core what the host gives, and logs what the core found wrong.

use std::cell::RefCell;
use std::rc::Rc;

use plugway_sdk::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::config::{Options, SCHEMA, Unified};
use crate::lazy::{find, load, offers as lazy};
use crate::ownership::{judge, tool};
use crate::shape::shape;
use crate::status;
use crate::unified::cut;
use crate::unified::offers::Names;
use crate::unified::plan::{answers, graph::Graph};
use crate::unified::prepared::Prepared;
use crate::unified::published;
use crate::unified::search;
use crate::unified::sight::Sight;
use crate::unified::skills;
use crate::unified::wire;

/// So many bytes of what is wrong with arguments are said: it may name what the client sent.
const SENTENCE_MAX: usize = 400;

/// The default router.
#[derive(Debug)]
pub struct DefaultRouter {
    options: Options,
    /// What this instance read last, and of which generation it is: an instance that is thrown away loses time, no more.
    kept: RefCell<Option<(u32, Rc<Prepared>)>>,
}

impl Plugin for DefaultRouter {
    type Config = Options;

    fn configure(options: Options) -> Result<Self, BadConfig> {
        Ok(Self { options: options.checked()?, kept: RefCell::default() })
    }

    fn describe(package: Info) -> Info {
        Info { config_schema: SCHEMA.to_owned(), ..package }
    }
}

impl Router for DefaultRouter {
    fn shape(&self, connector: ConnectorView) -> Result<Shaped, Failure> {
        let (shaped, warnings) = shape(connector, &self.options)?;
        for warning in &warnings {
            log::log(log::Level::Warn, &warning.to_string(), &[("upstream", warning.upstream())]);
        }
        Ok(shaped)
    }
}

impl Routing for DefaultRouter {
    fn route(&self) -> Result<Route, Failure> {
        judge::route()
    }
}

impl Learning for DefaultRouter {
    fn interests(&self) -> Vec<String> {
        tool::TEACHING.map(str::to_owned).to_vec()
    }

    fn learn(&self) -> Result<(), Failure> {
        judge::learn()
    }
}

impl Answering for DefaultRouter {
    fn answer(&self) -> Result<Reply, Failure> {
        if let Some((upstream, own)) = call::target() {
            return judge::answer(&upstream, &own);
        }
        let modern = call::attribute("era").is_some_and(|era| era == "modern");
        let (method, name) = (call::method(), call::name());
        if method == "tools/call" {
            match name.as_str() {
                lazy::FIND => return self.find(modern),
                lazy::LOAD => return Ok(with_arguments(modern, load::load)),
                lazy::UNLOAD => return self.unload(modern),
                lazy::CALL => {
                    return Err(Failure::new("this host does not call tools for call_tool"));
                }
                _ => {}
            }
        }
        let unified = self.options.unified_tools;
        if unified != Unified::None && method == "tools/call" {
            let names = Names::of(&call::attribute("connector").unwrap_or_default());
            if name == names.search {
                return self.search(modern);
            }
            if name == names.plan && unified == Unified::All {
                return self.plan(modern);
            }
            if name == names.load && unified == Unified::All {
                return self.load(modern);
            }
        }
        if method == "resources/read" {
            let connector = call::attribute("connector").unwrap_or_default();
            if name == published::uri(&connector) {
                let prepared = self.prepared()?;
                let text = published::answer(&connector, &prepared, &Sight::of_caller(&prepared));
                return Ok(Reply::Answer(status::read(&name, &text, modern)));
            }
        }
        let live = call::attribute(status::LIVE)
            .ok_or_else(|| Failure::new("this host does not tell the status of its servers"))?;
        Ok(Reply::Answer(match method.as_str() {
            "resources/read" => status::read(&name, &live, modern),
            _ => status::called(&live, modern),
        }))
    }
}

impl DefaultRouter {
    fn search(&self, modern: bool) -> Result<Reply, Failure> {
        let question: search::Question = match serde_json::from_str(&call::arguments_json()) {
            Ok(question) => question,
            Err(error) => return Ok(refused(&error)),
        };
        let prepared = self.prepared()?;
        let sight = Sight::of_caller(&prepared);
        let load = Names::of(&call::attribute("connector").unwrap_or_default()).load;
        let load = catalogue::find("tool", &load).map(|_| load);
        Ok(match search::answer(&prepared, &sight, load.as_deref(), &question) {
            Ok(found) => told(&found, modern),
            Err(sentence) => Reply::refuse(sentence),
        })
    }

    fn find(&self, modern: bool) -> Result<Reply, Failure> {
        let prepared = self.prepared()?;
        Ok(with_arguments(modern, |question| {
            let sight = Sight::of_caller(&prepared);
            find::answer(&prepared, &sight, question, reveal::loaded().as_deref())
        }))
    }

    fn unload(&self, modern: bool) -> Result<Reply, Failure> {
        let prepared = self.prepared()?;
        Ok(with_arguments(modern, |wish| load::unload(wish, &prepared)))
    }

    fn plan(&self, modern: bool) -> Result<Reply, Failure> {
        let question: answers::Question = match serde_json::from_str(&call::arguments_json()) {
            Ok(question) => question,
            Err(error) => return Ok(refused(&error)),
        };
        let prepared = self.prepared()?;
        let sight = Sight::of_caller(&prepared);
        Ok(told(&answers::answer(&Graph::of(&prepared, &sight), &question), modern))
    }

    fn load(&self, modern: bool) -> Result<Reply, Failure> {
        let question: skills::Question = match serde_json::from_str(&call::arguments_json()) {
            Ok(question) => question,
            Err(error) => return Ok(refused(&error)),
        };
        let prepared = self.prepared()?;
        let sight = Sight::of_caller(&prepared);
        let skills::Question { skill_name, upstream } = &question;
        Ok(match skills::resolve(&prepared, &sight, skill_name, upstream) {
            Err(wrong) => told(&wrong, modern),
            Ok(loadable) => match skills::load(&prepared, loadable) {
                Ok(result) => Reply::Answer(result),
                Err(sentence) => Reply::refuse(sentence),
            },
        })
    }

    /// What the last shape left, read once for each generation. The old one goes first: both might not fit.
    fn prepared(&self) -> Result<Rc<Prepared>, Failure> {
        let generation = catalogue::generation();
        let kept = self.kept.take().filter(|(known, _)| *known == generation);
        let prepared = if let Some((_, prepared)) = kept {
            prepared
        } else {
            let read = wire::read(&catalogue::document());
            Rc::new(read.ok_or_else(|| Failure::new("the document is none of this router"))?)
        };
        self.kept.replace(Some((generation, prepared.clone())));
        Ok(prepared)
    }
}

/// What this makes of the arguments: JSON text, or one sentence why not.
fn with_arguments<T: DeserializeOwned>(
    modern: bool,
    answer: impl FnOnce(&T) -> Result<String, String>,
) -> Reply {
    match serde_json::from_str(&call::arguments_json()) {
        Ok(read) => answer(&read).map_or_else(Reply::refuse, |text| said(text, modern)),
        Err(error) => refused(&error),
    }
}

/// A result whose text is this JSON.
fn told(value: &Value, modern: bool) -> Reply {
    said(value.to_string(), modern)
}

/// A result with this text.
fn said(text: String, modern: bool) -> Reply {
    let text = Value::from(text);
    let kind = if modern { r#""resultType":"complete","# } else { "" };
    Reply::Answer(format!(r#"{{{kind}"content":[{{"type":"text","text":{text}}}]}}"#))
}

/// What is wrong with the arguments, without the place in a text that the client did not write.
fn refused(error: &serde_json::Error) -> Reply {
    let sentence = error.to_string();
    let sentence = sentence.rsplit_once(" at line ").map_or(&*sentence, |(sentence, _)| sentence);
    Reply::refuse(format!("The arguments are not valid: {}.", cut(sentence, SENTENCE_MAX)))
}

plugway_sdk::export!(DefaultRouter: router, routing, answering, learning);
