//! A router that guards every tool by the argument `ref`: it has to be a text that an answer gave to the same caller. What it
//! does in `learn` is configured.

#![cfg(target_family = "wasm")]
#![expect(clippy::panic, reason = "the host survives it")]

use plugway_sdk::prelude::*;

/// Guards everything.
struct Guest(Options);

#[derive(Default, Deserialize)]
#[serde(default)]
struct Options {
    /// `claim` (default), `fail`, `panic` or `loop`.
    how: String,
    /// How many globs `interests` gives, of so many bytes; 0 = one that matches everything.
    interests: usize,
}

impl Plugin for Guest {
    type Config = Options;

    fn configure(options: Options) -> Result<Self, BadConfig> {
        Ok(Self(options))
    }
}

impl Router for Guest {
    fn shape(&self, connector: ConnectorView) -> Result<Shaped, Failure> {
        let mut entries = Vec::new();
        for upstream in connector.upstreams {
            for definition in upstream.tools {
                let own = name_of(&definition)?;
                entries.push(Entry::guarded_tool(definition, &upstream.name, own));
            }
        }
        Ok(Shaped { entries, ..Shaped::default() })
    }
}

impl Routing for Guest {
    fn route(&self) -> Result<Route, Failure> {
        let (upstream, own) =
            call::target().ok_or_else(|| Failure::new("a guarded entry has a target"))?;
        match call::argument::<String>("/ref")?.as_deref() {
            Some("answer") => Ok(Route::Answer),
            Some("elsewhere") => Ok(Route::to(upstream, "add")),
            Some(given) if !handles::owns(Some(&upstream), "text", given) => {
                Ok(Route::refuse("It was given to somebody else."))
            }
            _ => Ok(Route::to(upstream, own)),
        }
    }
}

impl Answering for Guest {
    fn answer(&self) -> Result<Reply, Failure> {
        let own = call::target().map_or_else(String::new, |(_, own)| own);
        let known = handles::list("clock", "text").len();
        Ok(Reply::Answer(plugway_sdk::answer::text(&format!("{own}: {known}"))))
    }
}

impl Learning for Guest {
    fn interests(&self) -> Vec<String> {
        match self.0.interests {
            0 => vec!["*".to_owned()],
            count => vec!["x".repeat(count); count],
        }
    }

    fn learn(&self) -> Result<(), Failure> {
        match self.0.how.as_str() {
            "fail" => Err(Failure::new("it learns nothing")),
            "panic" => panic!("it learns nothing"),
            "loop" => loop {
                std::hint::spin_loop();
            },
            _ => {
                let text = outcome::field::<String>(0, "/content/0/text")?.unwrap_or_default();
                handles::claim("text", &text);
                Ok(())
            }
        }
    }
}

/// The name in a tool's definition.
fn name_of(definition: &str) -> Result<String, Failure> {
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
    }
    Ok(serde_json::from_str::<Named>(definition)?.name)
}

plugway_sdk::export!(Guest: router, routing, answering, learning);
