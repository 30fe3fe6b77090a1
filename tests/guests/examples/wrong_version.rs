//! Exports `admission` of a contract that nobody released.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Has the lifecycle of today.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

mod bindings {
    #![expect(unsafe_code, clippy::missing_safety_doc, reason = "generated")]

    use crate::Guest;

    plugway_sdk::wit_bindgen::generate!({
        inline: "
            package plugway:plugin@0.9.0;
            interface admission { admit: func() -> bool; }
            world w { export admission; }
        ",
        default_bindings_module: "crate::bindings",
        runtime_path: "plugway_sdk::wit_bindgen::rt",
    });

    impl exports::plugway::plugin::admission::Guest for Guest {
        fn admit() -> bool {
            true
        }
    }

    export!(Guest);
}

plugway_sdk::export!(Guest);
