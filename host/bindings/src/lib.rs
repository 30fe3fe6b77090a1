//! Host side of the plugin contract `plugway:plugin@0.1`, generated from `wit/v0.1`.
//!
//! One set of bindings covers every kind of plugin. [`Found`] says which hooks a component exports and is made once for
//! each component; [`Hooks`] holds them for one instance. Every hook gives a `TypedFunc`, which can be called in both
//! ways (`call` and `call_async`), so the exports are generated once for both linkers; [`waiting`] repeats only those
//! imports that may wait.
//!
//! This crate stands alone because the generated code takes long to compile.

#[expect(missing_docs, reason = "generated code")]
mod generated {
    wasmtime::component::bindgen!({
        path: "../../wit/v0.1",
        inline: "
            package plugway:host;
            world served {
                import plugway:plugin/types@0.1.0;
                import plugway:plugin/call@0.1.0;
                import plugway:plugin/caller@0.1.0;
                import plugway:plugin/catalogue@0.1.0;
                import plugway:plugin/outcome@0.1.0;
                import plugway:plugin/listing@0.1.0;
                import plugway:plugin/log@0.1.0;
                import plugway:plugin/clock@0.1.0;
                import plugway:plugin/random@0.1.0;
                import plugway:plugin/state@0.1.0;
                import plugway:plugin/handles@0.1.0;
                import plugway:plugin/reveal@0.1.0;
                export plugway:plugin/lifecycle@0.1.0;
                export plugway:plugin/readiness@0.1.0;
                export plugway:plugin/router@0.1.0;
                export plugway:plugin/routing@0.1.0;
                export plugway:plugin/answering@0.1.0;
                export plugway:plugin/learning@0.1.0;
                export plugway:plugin/visibility@0.1.0;
                export plugway:plugin/admission@0.1.0;
                export plugway:plugin/reviewing@0.1.0;
                export plugway:plugin/inbound@0.1.0;
                export plugway:plugin/explaining@0.1.0;
                // not served yet; without it nobody uses the record `payload`, and the generated code does not compile
                export plugway:plugin/transfer@0.1.0;
            }
        ",
        imports: { default: trappable },
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

#[expect(missing_docs, reason = "generated code")]
mod generated_waiting {
    wasmtime::component::bindgen!({
        path: "../../wit/v0.1",
        inline: "
            package plugway:host;
            world waiting {
                import plugway:plugin/fetch@0.1.0;
                import plugway:plugin/upstreams@0.1.0;
            }
        ",
        imports: { default: async | trappable },
    });
}

mod hooks;

pub use generated::exports::plugway::plugin as exports;
pub use generated::plugway::plugin as imports;
pub use generated_waiting::plugway::plugin as waiting;
pub use hooks::{Found, Hooks};
