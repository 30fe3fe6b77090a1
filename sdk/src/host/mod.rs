//! What a plugin may ask the host: the call in hand, services for everybody, and capabilities that an operator grants.
//!
//! A component imports exactly what it calls here. On targets other than wasm everything is answered by the fake host of
//! `plugway_sdk::testing`.

/// Functions that hand their arguments to the contract's import of the same name, or to the fake host.
macro_rules! imports {
    ($interface:ident { $( $(#[$doc:meta])* fn $name:ident ( $( $arg:ident : $ty:ty ),* ) $( -> $answer:ty )?; )+ }) => {
        #[cfg(not(target_family = "wasm"))]
        use crate::testing::fake::$interface as imported;
        #[cfg(target_family = "wasm")]
        use crate::raw::plugway::plugin::$interface as imported;
        $(
            $(#[$doc])*
            pub fn $name($( $arg: $ty ),*) $( -> $answer )? {
                imported::$name($( $arg ),*)
            }
        )+
    };
}

// The call in hand
pub mod call;
pub mod caller;
pub mod catalogue;
pub mod listing;
pub mod outcome;
pub mod workers;

// Services for everybody
pub mod clock;
pub mod handles;
pub mod log;
pub mod random;
pub mod state;

// Capabilities, each granted by the operator
pub mod announce;
pub mod fetch;
pub mod reveal;
pub mod transfers;
pub mod upstreams;
