//! Which hooks a component exports, and those of one instance.

use wasmtime::component::{Instance, InstancePre};
use wasmtime::{AsContextMut, Result};

use crate::exports as e;

macro_rules! hooks {
    ($($(#[doc = $doc:literal])+ $name:ident;)+) => {
        /// The hooks that a component exports, found once for each component.
        #[derive(Clone)]
        pub struct Found {
            lifecycle: e::lifecycle::GuestIndices,
            $($name: Option<e::$name::GuestIndices>,)+
        }

        /// The hooks of one instance.
        pub struct Hooks {
            /// Exported by every plugin.
            pub lifecycle: e::lifecycle::Guest,
            $($(#[doc = $doc])+ pub $name: Option<e::$name::Guest>,)+
        }

        impl Found {
            /// Looks for every hook. Types are compared later, by [`Found::load`].
            pub fn of<T: 'static>(pre: &InstancePre<T>) -> Result<Self> {
                let component = pre.component();
                Ok(Self {
                    lifecycle: e::lifecycle::GuestIndices::new(pre)?,
                    $($name: {
                        let path = concat!("plugway:plugin/", stringify!($name), "@0.1.0");
                        match component.get_export_index(None, path) {
                            None => None,
                            Some(_) => Some(e::$name::GuestIndices::new(pre)?),
                        }
                    },)+
                })
            }

            /// The hooks of an instance; fails where a type differs from the contract's.
            pub fn load(&self, mut store: impl AsContextMut, instance: &Instance) -> Result<Hooks> {
                Ok(Hooks {
                    lifecycle: self.lifecycle.load(&mut store, instance)?,
                    $($name: match &self.$name {
                        None => None,
                        Some(indices) => Some(indices.load(&mut store, instance)?),
                    },)+
                })
            }

            $($(#[doc = $doc])+ pub fn $name(&self) -> bool { self.$name.is_some() })+
        }
    };
}

hooks! {
    /// Says whether the plugin is ready.
    readiness;
    /// Shapes the catalogue.
    router;
    /// Decides who serves a dynamic entry, and judges calls of a guarded one.
    routing;
    /// Serves local entries, and calls of guarded ones.
    answering;
    /// Learns what servers invented.
    learning;
    /// Judges what a caller sees.
    visibility;
    /// Judges calls.
    admission;
    /// Judges results.
    reviewing;
    /// Judges what servers send toward clients.
    inbound;
    /// Says how it understood its configuration.
    explaining;
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}
