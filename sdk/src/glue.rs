//! One world for each hook, so that [`export!`](crate::export!) can export any set of them: wit-bindgen writes the
//! description of a world where its export macro is called, and the component linker unites the descriptions it finds.
//! Not for plugins to name.

#![expect(clippy::mem_forget, clippy::same_length_and_capacity, reason = "generated")]

pub use crate::plugin::Slot;

macro_rules! worlds {
    ($($hook:ident: $world:literal,)*) => { $(
        pub mod $hook {
            wit_bindgen::generate!({
                path: "wit",
                inline: $world,
                with: { "plugway:plugin/types@0.1.0": crate::raw::plugway::plugin::types },
                pub_export_macro: true,
                generate_unused_types: true,
                additional_derives: [PartialEq],
            });
            pub use exports::plugway::plugin::$hook::*;
        }
    )* };
}

worlds! {
    router: "package plugway:sdk; world hook-router { export plugway:plugin/router@0.1.0; }",
    routing: "package plugway:sdk; world hook-routing { export plugway:plugin/routing@0.1.0; }",
    answering: "package plugway:sdk; world hook-answering { export plugway:plugin/answering@0.1.0; }",
    dispatcher: "package plugway:sdk; world hook-dispatcher { export plugway:plugin/dispatcher@0.1.0; }",
    settling: "package plugway:sdk; world hook-settling { export plugway:plugin/settling@0.1.0; }",
    learning: "package plugway:sdk; world hook-learning { export plugway:plugin/learning@0.1.0; }",
    merging: "package plugway:sdk; world hook-merging { export plugway:plugin/merging@0.1.0; }",
    visibility: "package plugway:sdk; world hook-visibility { export plugway:plugin/visibility@0.1.0; }",
    admission: "package plugway:sdk; world hook-admission { export plugway:plugin/admission@0.1.0; }",
    reviewing: "package plugway:sdk; world hook-reviewing { export plugway:plugin/reviewing@0.1.0; }",
    inbound: "package plugway:sdk; world hook-inbound { export plugway:plugin/inbound@0.1.0; }",
    explaining: "package plugway:sdk; world hook-explaining { export plugway:plugin/explaining@0.1.0; }",
    transfer: "package plugway:sdk; world hook-transfer { export plugway:plugin/transfer@0.1.0; }",
    filtering: "package plugway:sdk; world hook-filtering { export plugway:plugin/filtering@0.1.0; }",
}

// These two share no type with the others.

pub mod lifecycle {
    wit_bindgen::generate!({
        path: "wit",
        inline: "package plugway:sdk; world hook-lifecycle { export plugway:plugin/lifecycle@0.1.0; }",
        pub_export_macro: true,
        additional_derives: [PartialEq],
    });
    pub use exports::plugway::plugin::lifecycle::*;
}

pub mod readiness {
    wit_bindgen::generate!({
        path: "wit",
        inline: "package plugway:sdk; world hook-readiness { export plugway:plugin/readiness@0.1.0; }",
        pub_export_macro: true,
    });
    pub use exports::plugway::plugin::readiness::*;
}
