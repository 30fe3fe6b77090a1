//! The questions that a plugin can be asked, each as a value that brings its own arguments.

use std::future::Future;
use std::sync::Arc;

use plugway_bindings::exports as e;
use plugway_bindings::imports::types::{self, Failure as Said};
use wasmtime::{Result, format_err};

use super::convert::{Columns, Upstreams};
use super::limits::Hook;
use super::warm::Warm;
use crate::pipeline::port::ConnectorView;

/// A question.
pub(super) trait Ask: Send + Sync + 'static {
    /// Which hook answers it.
    const HOOK: Hook;
    /// The answer as the guest gives it.
    type Given: Send + 'static;
    /// Puts the question to an instance.
    fn put(&self, warm: &mut Warm) -> impl Future<Output = Result<Self::Given>> + Send;
}

/// Calls a function of an instance in the way that the instance needs.
macro_rules! call {
    ($warm:ident, $function:expr, $($argument:expr),*) => {{
        let function = $function;
        if $warm.waits {
            function.call_async(&mut $warm.store, ($($argument,)*)).await
        } else {
            function.call(&mut $warm.store, ($($argument,)*))
        }
        .map(|(given,)| given)
    }};
}

macro_rules! exported {
    ($warm:ident, $interface:ident) => {
        match &$warm.hooks.$interface {
            Some(guest) => guest,
            None => {
                return Err(format_err!("the plugin does not export `{}`", stringify!($interface)))
            }
        }
    };
}

/// A question without arguments.
macro_rules! plain {
    ($($name:ident = $hook:ident, $interface:ident . $function:ident -> $given:ty;)+) => {$(
        #[derive(Debug)]
        pub(super) struct $name;

        impl Ask for $name {
            const HOOK: Hook = Hook::$hook;
            type Given = $given;

            async fn put(&self, warm: &mut Warm) -> Result<Self::Given> {
                let guest = exported!(warm, $interface);
                call!(warm, guest.$function(),)
            }
        }
    )+};
}

plain! {
    Ready = Ready, readiness.func_ready -> std::result::Result<String, String>;
    Route = Route, routing.func_route -> std::result::Result<e::routing::Decision, Said>;
    Answer = Answer, answering.func_answer -> std::result::Result<e::answering::Reply, Said>;
    Interests = Interests, learning.func_interests -> Vec<String>;
    Learn = Learn, learning.func_learn -> std::result::Result<(), Said>;
    Admit = Admit, admission.func_admit -> std::result::Result<e::admission::Decision, Said>;
    Review = Review, reviewing.func_review -> std::result::Result<e::reviewing::Decision, Said>;
    Inbound = Inbound, inbound.func_inbound -> std::result::Result<e::inbound::Decision, Said>;
}

/// Tell about yourself.
#[derive(Debug)]
pub(super) struct Describe;

impl Ask for Describe {
    const HOOK: Hook = Hook::Describe;
    type Given = e::lifecycle::Info;

    async fn put(&self, warm: &mut Warm) -> Result<Self::Given> {
        call!(warm, warm.hooks.lifecycle.func_describe(),)
    }
}

/// Take your configuration.
#[derive(Debug)]
pub(super) struct Configure(pub(super) Arc<str>);

impl Ask for Configure {
    const HOOK: Hook = Hook::Configure;
    type Given = std::result::Result<(), String>;

    async fn put(&self, warm: &mut Warm) -> Result<Self::Given> {
        call!(warm, warm.hooks.lifecycle.func_configure(), &*self.0)
    }
}

/// Shape the catalogue.
#[derive(Debug)]
pub(super) struct Shape(pub(super) ConnectorView);

impl Ask for Shape {
    const HOOK: Hook = Hook::Shape;
    type Given = std::result::Result<e::router::Shaped, Said>;

    async fn put(&self, warm: &mut Warm) -> Result<Self::Given> {
        let guest = exported!(warm, router);
        let parts = Upstreams::of(&self.0);
        let upstreams = parts.views();
        let attributes: Vec<(&str, &str)> =
            self.0.attributes.iter().map(|(key, value)| (&**key, &**value)).collect();
        let view = e::router::ConnectorView {
            name: &self.0.name,
            description: &self.0.description,
            upstreams: &upstreams,
            attributes: &attributes,
        };
        call!(warm, guest.func_shape(), view)
    }
}

/// Binds a name to a page for a guest, borrowed from its columns.
macro_rules! page {
    ($columns:expr, $page:ident) => {
        let names = $columns.names();
        let upstreams = $columns.upstreams();
        let hints = $columns.hints();
        let tags = $columns.tag_sets();
        let tag_sets: Vec<&[&str]> = tags.iter().map(Vec::as_slice).collect();
        let hint_sets: Vec<&[(&str, &str)]> = hints.iter().map(Vec::as_slice).collect();
        let $page = types::Page {
            names: &names,
            kind_of: &$columns.kind_of,
            upstream_of: &$columns.upstream_of,
            tags_of: &$columns.tags_of,
            hints_of: &$columns.hints_of,
            kinds: &Columns::kinds(),
            upstreams: &upstreams,
            tag_sets: &tag_sets,
            hint_sets: &hint_sets,
        };
    };
}

/// Judge a page.
#[derive(Debug)]
pub(super) struct Visible(pub(super) Columns);

impl Ask for Visible {
    const HOOK: Hook = Hook::Visible;
    type Given = std::result::Result<e::visibility::View, Said>;

    async fn put(&self, warm: &mut Warm) -> Result<Self::Given> {
        let guest = exported!(warm, visibility);
        page!(self.0, page);
        call!(warm, guest.func_visible(), page)
    }
}

/// Say how the configuration was understood.
#[derive(Debug)]
pub(super) struct Explain(pub(super) Columns);

impl Ask for Explain {
    const HOOK: Hook = Hook::Explain;
    type Given = std::result::Result<Vec<e::explaining::Understood>, Said>;

    async fn put(&self, warm: &mut Warm) -> Result<Self::Given> {
        let guest = exported!(warm, explaining);
        page!(self.0, page);
        call!(warm, guest.func_explain(), page)
    }
}

/// A refusal as guests give it.
pub(super) type Refusal = types::Rejection;
