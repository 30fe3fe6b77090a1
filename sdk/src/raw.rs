//! The contract's imports and shared types, as wit-bindgen reads them. A component keeps only the imports it calls.

#![expect(missing_docs, reason = "generated; the WIT files hold the documentation")]
#![expect(clippy::same_length_and_capacity, reason = "generated")]

wit_bindgen::generate!({
    path: "wit",
    inline: "
        package plugway:sdk@0.1.0;
        world imports {
            import plugway:plugin/types@0.1.0;
            import plugway:plugin/call@0.1.0;
            import plugway:plugin/caller@0.1.0;
            import plugway:plugin/catalogue@0.1.0;
            import plugway:plugin/outcome@0.1.0;
            import plugway:plugin/listing@0.1.0;
            import plugway:plugin/workers@0.1.0;
            import plugway:plugin/log@0.1.0;
            import plugway:plugin/clock@0.1.0;
            import plugway:plugin/random@0.1.0;
            import plugway:plugin/state@0.1.0;
            import plugway:plugin/handles@0.1.0;
            import plugway:plugin/fetch@0.1.0;
            import plugway:plugin/upstreams@0.1.0;
            import plugway:plugin/transfers@0.1.0;
            import plugway:plugin/reveal@0.1.0;
            import plugway:plugin/announce@0.1.0;
        }
    ",
    world: "plugway:sdk/imports@0.1.0",
    generate_all,
    generate_unused_types: true,
    additional_derives: [PartialEq],
});
