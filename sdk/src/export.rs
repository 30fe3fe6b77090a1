//! From a type with hooks to the exports of a component.

/// Exports a plugin: `export!(MyPolicy: admission, reviewing);`
///
/// Names of hooks: `readiness`; `router`, `routing`, `answering`; `dispatcher`, `settling`, `learning`, `merging`;
/// `visibility`, `admission`, `reviewing`, `inbound`, `explaining`; `transfer`, `filtering`. The type implements [`Plugin`](crate::Plugin)
/// and the trait of each hook. Once per component, at the top level of the crate. Elsewhere than on wasm it only checks.
///
/// A hook without its trait does not compile, nor does a name that is none:
///
/// ```compile_fail
/// # use plugway_sdk::prelude::*;
/// # struct Mine;
/// # impl Plugin for Mine { type Config = NoConfig; fn configure(_: NoConfig) -> Result<Self, BadConfig> { Ok(Self) } }
/// plugway_sdk::export!(Mine: admission);
/// # fn main() {}
/// ```
///
/// ```compile_fail
/// # use plugway_sdk::prelude::*;
/// # struct Mine;
/// # impl Plugin for Mine { type Config = NoConfig; fn configure(_: NoConfig) -> Result<Self, BadConfig> { Ok(Self) } }
/// plugway_sdk::export!(Mine: admision);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export {
    ($plugin:ident $(: $($hook:ident),+ $(,)?)?) => {
        $( $( $crate::__check_hook!($hook $plugin); )+ )?

        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Exported;

            ::std::thread_local! {
                static SLOT: $crate::glue::Slot<$plugin> = const { $crate::glue::Slot::new() };
            }

            impl $crate::glue::lifecycle::Guest for Exported {
                fn describe() -> $crate::Info {
                    <$plugin as $crate::Plugin>::describe($crate::Info {
                        name: ::std::env!("CARGO_PKG_NAME").into(),
                        version: ::std::env!("CARGO_PKG_VERSION").into(),
                        description: ::std::env!("CARGO_PKG_DESCRIPTION").into(),
                        config_schema: ::std::string::String::new(),
                    })
                }
                fn configure(config: ::std::string::String) -> ::std::result::Result<(), ::std::string::String> {
                    SLOT.with(|slot| slot.configure(&config))
                }
            }
            $crate::glue::lifecycle::export!(Exported with_types_in $crate::glue::lifecycle);

            $( $(
                $crate::__export_hook!($hook Exported $plugin SLOT);
                $crate::glue::$hook::export!(Exported with_types_in $crate::glue::$hook);
            )+ )?
        };
    };
}

/// The plugin implements the trait of the hook: said here once, plainly, for every target.
#[doc(hidden)]
#[macro_export]
macro_rules! __check_hook {
    (readiness $p:ident) => { $crate::__check_hook!(@ readiness::Readiness, $p); };
    (router $p:ident) => { $crate::__check_hook!(@ router::Router, $p); };
    (routing $p:ident) => { $crate::__check_hook!(@ router::Routing, $p); };
    (answering $p:ident) => { $crate::__check_hook!(@ router::Answering, $p); };
    (dispatcher $p:ident) => { $crate::__check_hook!(@ dispatcher::Dispatcher, $p); };
    (settling $p:ident) => { $crate::__check_hook!(@ dispatcher::Settling, $p); };
    (learning $p:ident) => { $crate::__check_hook!(@ dispatcher::Learning, $p); };
    (merging $p:ident) => { $crate::__check_hook!(@ dispatcher::Merging, $p); };
    (visibility $p:ident) => { $crate::__check_hook!(@ visibility::Visibility, $p); };
    (admission $p:ident) => { $crate::__check_hook!(@ policy::Admission, $p); };
    (reviewing $p:ident) => { $crate::__check_hook!(@ policy::Reviewing, $p); };
    (inbound $p:ident) => { $crate::__check_hook!(@ policy::Inbound, $p); };
    (explaining $p:ident) => { $crate::__check_hook!(@ explaining::Explaining, $p); };
    (transfer $p:ident) => { $crate::__check_hook!(@ transfer::Transfer, $p); };
    (filtering $p:ident) => { $crate::__check_hook!(@ transfer::Filtering, $p); };
    (@ $($hook:ident)::+, $p:ident) => {
        const _: fn() = || {
            fn implements<P: $crate::hooks::$($hook)::+>() {}
            implements::<$p>();
        };
    };
    ($other:ident $p:ident) => {
        ::std::compile_error!(::std::concat!("plugway has no hook named `", ::std::stringify!($other), "`"));
    };
}

/// Functions of the contract, each handed to the method of the hook's trait.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_hook {
    (readiness $e:ident $p:ident $slot:ident) => {
        impl $crate::glue::readiness::Guest for $e {
            fn ready() -> ::std::result::Result<::std::string::String, ::std::string::String> {
                $slot.with(|slot| {
                    let plugin = slot.get().map_err(|failure| failure.message)?;
                    $crate::hooks::readiness::Readiness::ready(plugin)
                })
            }
        }
    };
    (router $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot router router::Router { fn shape(connector: $crate::hooks::router::ConnectorView) -> $crate::hooks::router::Shaped; });
    };
    (routing $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot routing router::Routing { fn route() -> $crate::hooks::router::Route; });
    };
    (answering $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot answering router::Answering { fn answer() -> $crate::hooks::router::Reply; });
    };
    (dispatcher $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot dispatcher dispatcher::Dispatcher {
            fn pick(
                affinity: ::std::option::Option<u32>,
                assigned: ::std::option::Option<u32>,
                candidates: ::std::vec::Vec<$crate::Candidate>
            ) -> $crate::hooks::dispatcher::Pick;
        });
    };
    (settling $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot settling dispatcher::Settling {
            fn settle(candidates: ::std::vec::Vec<$crate::Candidate>) -> $crate::hooks::dispatcher::Verdict;
        });
    };
    (learning $e:ident $p:ident $slot:ident) => {
        impl $crate::glue::learning::Guest for $e {
            fn interests() -> ::std::vec::Vec<::std::string::String> {
                $slot.with(|slot| {
                    slot.get().map(|plugin| $crate::hooks::dispatcher::Learning::interests(plugin)).unwrap_or_default()
                })
            }
            fn learn() -> ::std::result::Result<(), $crate::Failure> {
                $slot.with(|slot| $crate::hooks::dispatcher::Learning::learn(slot.get()?))
            }
        }
    };
    (merging $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot merging dispatcher::Merging { fn merge() -> ::std::string::String; });
    };
    (visibility $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot visibility visibility::Visibility {
            fn visible(page: $crate::hooks::visibility::Page) -> $crate::hooks::visibility::View;
        });
    };
    (admission $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot admission policy::Admission { fn admit() -> $crate::hooks::policy::Admit; });
    };
    (reviewing $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot reviewing policy::Reviewing { fn review() -> $crate::hooks::policy::Review; });
    };
    (inbound $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot inbound policy::Inbound { fn inbound() -> $crate::hooks::policy::Onward; });
    };
    (explaining $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot explaining explaining::Explaining {
            fn explain(page: $crate::hooks::visibility::Page) -> ::std::vec::Vec<$crate::hooks::explaining::Understood>;
        });
    };
    (transfer $e:ident $p:ident $slot:ident) => {
        $crate::__pass_on!($e $slot transfer transfer::Transfer {
            fn destinations() -> ::std::vec::Vec<$crate::hooks::transfer::Destination>;
            fn open(thing: $crate::Payload, to: ::std::string::String) -> $crate::hooks::transfer::Plan;
        });
    };
    (filtering $e:ident $p:ident $slot:ident) => {
        impl $crate::glue::filtering::Guest for $e {
            type Filter = $crate::hooks::transfer::Running<$p>;
        }
        impl $crate::hooks::transfer::InSlot for $p {
            fn in_slot<R>(look: impl FnOnce(&$crate::glue::Slot<Self>) -> R) -> R {
                $slot.with(look)
            }
        }
    };
}

/// A hook whose functions all may fail with `Failure`.
#[doc(hidden)]
#[macro_export]
macro_rules! __pass_on {
    ($e:ident $slot:ident $hook:ident $of:ident :: $trait:ident {
        $( fn $f:ident ( $( $arg:ident : $ty:ty ),* ) -> $answer:ty; )+
    }) => {
        impl $crate::glue::$hook::Guest for $e {
            $( fn $f($( $arg: $ty ),*) -> ::std::result::Result<$answer, $crate::Failure> {
                $slot.with(|slot| $crate::hooks::$of::$trait::$f(slot.get()? $(, $arg)*))
            } )+
        }
    };
}
