//! Upstreams of a connector.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::findings::Findings;
use super::limits::Bounds;
use super::whole::Origin;
use super::word::{check_name, is_tool_name};
use super::{credential, pin, tags, target, watch};
use crate::config::file::{
    CatalogWord, Connector, InstructionsWord, PrefixWord, ServerRequestWord, Timeouts, Upstream,
};
use crate::config::key::KeyPath;
use crate::config::settings::{
    Address, Asks, Credential, HttpTransport, Naming, Prefix, Target, UpstreamSettings,
    UpstreamTimeouts,
};

/// The upstreams of a connector with their places, and the names of those that are not started.
pub(super) struct Upstreams {
    pub(super) started: Vec<(KeyPath, UpstreamSettings)>,
    pub(super) disabled: Vec<Arc<str>>,
}

/// Checks every upstream of a connector.
pub(super) fn check(
    written: &Connector,
    connector: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Upstreams {
    let list = connector.key("upstreams");
    let waits = written.registry.is_some();
    let written = written.upstreams.as_deref().unwrap_or_default();
    if written.is_empty() && !waits {
        let hint = "write `upstreams: [{name: NAME, url: http://127.0.0.1:3000/mcp}]`, or `command` \
                    in place of `url`";
        findings.problem(connector, "has no `upstreams`, so there is nothing to serve", hint);
    }
    let mut names = BTreeSet::new();
    let (mut started, mut disabled) = (Vec::new(), Vec::new());
    for (index, upstream) in written.iter().enumerate() {
        let key = list.item(index);
        let name = check_own_name(upstream, &key, &mut names, findings);
        if upstream.disabled {
            // What is wrong with the rest of it, such as a secret that is not there, is why it is disabled.
            disabled.extend(name);
        } else {
            let checked = one(upstream, name, &key, origin, findings);
            started.extend(checked.map(|checked| (key, checked)));
        }
    }
    if !waits && !written.is_empty() && written.iter().all(|upstream| upstream.disabled) {
        findings.problem(&list, "are all disabled, so there is nothing to serve", "enable one");
    }
    Upstreams { started, disabled }
}

fn one(
    written: &Upstream,
    name: Option<Arc<str>>,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<UpstreamSettings> {
    let target = target::check(written, key, origin, findings);
    check_leases(written, key, findings);
    let (credential, headers) = credential::check(written, key, origin, findings);
    check_forwarding(target.as_ref(), &credential, key, findings);
    let naming = check_naming(written, key, origin, findings);
    let server_requests = check_asks(written, &key.key("server_requests"), findings);
    let timeouts = check_timeouts(&written.timeouts, &key.key("timeouts"), findings);
    let watch = watch::check(written, key, findings);
    let absence = watch::check_absence(written, key, findings);
    Some(UpstreamSettings {
        name: name?,
        target: target?,
        credential,
        headers,
        catalog: written.catalog != Some(CatalogWord::Never),
        naming,
        server_requests,
        instructions: written.instructions != Some(InstructionsWord::Omit),
        pin: pin::check(written.pin),
        timeouts,
        watch,
        absence,
        accept_leases: accept_leases(written),
    })
}

fn accept_leases(written: &Upstream) -> Vec<Arc<str>> {
    let accepted = written.accept_leases.as_deref().unwrap_or_default();
    accepted.iter().map(|who| who.as_str().into()).collect()
}

/// An entry has one address: the file's, or that of a lease.
fn check_leases(written: &Upstream, key: &KeyPath, findings: &mut Findings) {
    if written.accept_leases.is_some() && (written.url.is_some() || written.command.is_some()) {
        let sentence =
            "belongs to an entry without `url` and `command`: an upstream has one worker";
        findings.problem(&key.key("accept_leases"), sentence, "keep one of them");
    }
}

/// A channel of HTTP+SSE is opened once, and its stream carries one credential to its end.
fn check_forwarding(
    target: Option<&Target>,
    credential: &Credential,
    key: &KeyPath,
    findings: &mut Findings,
) {
    if let Some(Target::Http(Address { transport: HttpTransport::Sse, .. })) = target
        && let Credential::Forward { .. } = credential
    {
        let sentence = "is `forward`, which does not go with `transport: sse`";
        let hint = "give plugway a credential of its own, or use Streamable HTTP";
        findings.problem(&key.key("auth"), sentence, hint);
    }
}

fn check_own_name(
    upstream: &Upstream,
    key: &KeyPath,
    names: &mut BTreeSet<String>,
    findings: &mut Findings,
) -> Option<Arc<str>> {
    let Some(name) = &upstream.name else {
        let hint = "write `name: NAME`: it stands before the server's tools, `NAME_tool`";
        findings.problem(key, "has no `name`", hint);
        return None;
    };
    let key = key.key("name");
    if !check_name(name, "an upstream", &key, findings) {
        return None;
    }
    if !names.insert(name.clone()) {
        let sentence = format!("is `{name}`, like that of another upstream");
        findings.problem(&key, sentence, "give each upstream of a connector its own name");
        return None;
    }
    Some(name.as_str().into())
}

fn check_naming(
    upstream: &Upstream,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Naming {
    for (own, shown) in &upstream.aliases {
        if !is_tool_name(shown) {
            findings.problem(
                &key.key("aliases").key(own),
                format!("is `{shown}`, which clients do not take as a name"),
                "use 1 to 64 letters, digits, `_` and `-`",
            );
        }
    }
    let expose = upstream.expose.clone().unwrap_or_default();
    if upstream.expose.is_some() && expose.is_empty() {
        let hint = "name at least one glob; leave the key out to offer everything";
        findings.problem(&key.key("expose"), "is empty, so nothing would be offered", hint);
    }
    let hide = upstream.hide.clone().unwrap_or_default();
    for (list, globs) in [("expose", &expose), ("hide", &hide)] {
        for (index, _) in globs.iter().enumerate().filter(|(_, glob)| glob.is_empty()) {
            let key = key.key(list).item(index);
            findings.problem(&key, "is empty", "write a glob such as `read_*`");
        }
    }
    Naming {
        prefix: match upstream.prefix {
            Some(PrefixWord::Never) => Prefix::Never,
            Some(PrefixWord::Always) | None => Prefix::Always,
        },
        aliases: upstream.aliases.clone(),
        expose,
        hide,
        hide_tags: tags::check(upstream, &key.key("hide_tags"), origin, findings),
        split_actions: upstream.split_actions,
        of_functions: upstream.of_functions,
    }
}

fn check_asks(upstream: &Upstream, key: &KeyPath, findings: &mut Findings) -> Asks {
    let Some(words) = &upstream.server_requests else { return Asks::default() };
    let mut asks = Asks::NOTHING;
    for word in words {
        match word {
            ServerRequestWord::Elicitation => asks.elicitation = true,
            ServerRequestWord::Sampling => asks.sampling = true,
            ServerRequestWord::Roots => asks.roots = true,
            ServerRequestWord::IncludeContext => asks.include_context = true,
        }
    }
    if asks.include_context && !asks.sampling {
        let sentence = "has `include_context`, which means nothing without `sampling`";
        findings.warning(key, sentence, "add `sampling`, or take it out");
    }
    asks
}

fn check_timeouts(written: &Timeouts, key: &KeyPath, findings: &mut Findings) -> UpstreamTimeouts {
    let default = UpstreamTimeouts::default();
    let mut bounds = Bounds { key, findings };
    UpstreamTimeouts {
        connect: bounds.span("connect", written.connect, default.connect),
        initialize: bounds.span("initialize", written.initialize, default.initialize),
        catalogue: bounds.span("catalogue", written.catalogue, default.catalogue),
        answer: bounds.span("answer", written.answer, default.answer),
    }
}
