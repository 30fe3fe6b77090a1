//! Between the pipeline's words and the guest's, with every bound that a guest's answer must keep.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use plugway_bindings::exports as e;
use serde::de::IgnoredAny;

use super::ask::Refusal;
use super::failure::Failure;
use super::imports::clean;
use super::limits::{
    ANSWER_MAX, BODY_MAX, DEFINITION_MAX, DOCUMENT_MAX, EDITS_MAX, ENTRIES_MAX, LOG_LINE_MAX,
    MESSAGE_MAX, NOTICE_MAX, PROBLEMS_MAX, UNDERSTOOD_MAX,
};
use super::place::Place;
use super::tags;
use crate::catalogue::{Entry, EntryKind, Hints, Shaped, ShapedEntry, ShapedTarget, Sight};
use crate::pipeline::port::{
    Confirmation, ConnectorView, Edit, Page, Rejection, Sights, Understood, UpstreamView,
};

/// Bytes of an entry of a configuration that are repeated.
const ENTRY_MAX: usize = 256;

fn invalid<T>(why: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Invalid(why.into()))
}

/// A guest's sentence about its own failure.
pub(super) fn said(failure: &plugway_bindings::imports::types::Failure) -> Failure {
    Failure::Said { message: clean(&failure.message, MESSAGE_MAX), retryable: failure.retryable }
}

/// A refusal.
pub(super) fn rejection(given: Refusal) -> Result<Rejection, Failure> {
    if given.message.len() > MESSAGE_MAX {
        return invalid("the message of a refusal is too long");
    }
    if given.body.as_ref().is_some_and(|body| body.len() > BODY_MAX) {
        return invalid("the body of a refusal is too long");
    }
    Ok(Rejection {
        code: given.code,
        message: given.message,
        body: given.body,
        retry_after: given.retry_after_ms.map(|ms| Duration::from_millis(ms.into())),
        cause: given.cause.map(|cause| clean(&cause, MESSAGE_MAX)),
    })
}

/// JSON text of an object, in bounds.
pub(super) fn object(text: String, what: &str) -> Result<String, Failure> {
    if text.len() > ANSWER_MAX {
        return invalid(format!("{what} is too long"));
    }
    let is_object = text.trim_ascii_start().starts_with('{');
    if !is_object || serde_json::from_str::<IgnoredAny>(&text).is_err() {
        return invalid(format!("{what} is no JSON object"));
    }
    Ok(text)
}

/// Attribute keys that only the host sets.
const HOST_KEYS: [&str; 11] = [
    "connector",
    "connector-status",
    "explain",
    "functions",
    "guarded-tools",
    "reference",
    "request-id",
    "runs-code",
    "era",
    "protocol-version",
    "uri-normalised",
];

/// The edits of a policy, each allowed.
pub(super) fn edits(place: &Place, given: Vec<e::admission::Edit>) -> Result<Vec<Edit>, Failure> {
    if given.len() > EDITS_MAX {
        return invalid("there are too many edits");
    }
    given.into_iter().map(|one| edit(place, one)).collect()
}

fn edit(place: &Place, given: e::admission::Edit) -> Result<Edit, Failure> {
    let allowed = |name: &str| match place.headers.settable(name) {
        Some(header) => Ok(header.clone()),
        None => invalid(format!("it may not set the header {:?}", clean(name, 64))),
    };
    match given {
        e::admission::Edit::SetHeader((name, value)) => {
            let header = allowed(&name)?;
            match HeaderValue::from_str(&value) {
                Ok(value) if value.len() <= MESSAGE_MAX => Ok(Edit::SetHeader(header, value)),
                _ => invalid(format!("the value for the header {header} is no header value")),
            }
        }
        e::admission::Edit::RemoveHeader(name) => Ok(Edit::RemoveHeader(allowed(&name)?)),
        e::admission::Edit::MergeArguments(text) => {
            Ok(Edit::MergeArguments(object(text, "what is to be merged into the arguments")?))
        }
        e::admission::Edit::SetAttribute(given) => {
            attribute(given).map(|(key, value)| Edit::SetAttribute(key, value))
        }
    }
}

/// What a person is to confirm, with attributes that the policy may set.
pub(super) fn confirmation(given: e::admission::Confirmation) -> Result<Confirmation, Failure> {
    if given.attributes.len() > EDITS_MAX {
        return invalid("there are too many attributes");
    }
    let attributes = given.attributes.into_iter().map(attribute);
    Ok(Confirmation { text: given.text, attributes: attributes.collect::<Result<_, _>>()? })
}

/// An attribute that a policy may set.
fn attribute((key, value): (String, String)) -> Result<(Arc<str>, Arc<str>), Failure> {
    if HOST_KEYS.contains(&key.as_str()) || key.len() > 256 || value.len() > MESSAGE_MAX {
        return invalid(format!("it may not set the attribute {:?}", clean(&key, 64)));
    }
    Ok((key.into(), value.into()))
}

/// A shape.
pub(super) fn shaped(given: e::router::Shaped) -> Result<Shaped, Failure> {
    if given.entries.len() > ENTRIES_MAX || given.document.len() > DOCUMENT_MAX {
        return invalid("the shape is too large");
    }
    // Too long a definition costs its own entry: the router passes on what a server says.
    let (fitting, long): (Vec<_>, Vec<_>) =
        given.entries.into_iter().partition(|entry| entry.definition.len() <= DEFINITION_MAX);
    if !long.is_empty() {
        tracing::warn!(
            entries = long.len(),
            limit = DEFINITION_MAX,
            "definitions too long: left out"
        );
    }
    let entries = fitting.into_iter().map(|entry| ShapedEntry {
        kind: entry.kind,
        definition: entry.definition,
        target: match entry.target {
            e::router::Target::Fixed((upstream, name)) => ShapedTarget::Fixed(upstream, name),
            e::router::Target::Bound((upstream, name, arguments)) => {
                ShapedTarget::Bound(upstream, name, arguments)
            }
            e::router::Target::Guarded((upstream, name)) => ShapedTarget::Guarded(upstream, name),
            e::router::Target::Dynamic => ShapedTarget::Dynamic,
            e::router::Target::Local => ShapedTarget::Local,
        },
    });
    let problems = given.problems.iter().take(PROBLEMS_MAX).map(|one| clean(one, LOG_LINE_MAX));
    Ok(Shaped {
        entries: entries.collect(),
        document: given.document,
        problems: problems.collect(),
        pending: given.pending,
    })
}

/// One sight for each entry of a page.
pub(super) fn sights(given: &e::visibility::View, wanted: usize) -> Result<Sights, Failure> {
    if given.sights.len() != wanted {
        return invalid(format!("it gave {} sights for {wanted} items", given.sights.len()));
    }
    let sights = given.sights.iter().map(|sight| match sight {
        e::visibility::Sight::Shown => Sight::Shown,
        e::visibility::Sight::Unlisted => Sight::Unlisted,
        e::visibility::Sight::Hidden => Sight::Hidden,
    });
    let valid = given.valid_ms.map(|ms| Duration::from_millis(ms.into()));
    let notice = given.notice.as_deref().map(|said| clean(said, NOTICE_MAX));
    let notice = notice.filter(|said| !said.trim().is_empty());
    Ok(Sights { sights: sights.collect(), valid, notice })
}

/// What a policy understood: each match is a place on the page.
pub(super) fn understood(
    given: Vec<e::explaining::Understood>,
    items: usize,
) -> Result<Vec<Understood>, Failure> {
    if given.len() > UNDERSTOOD_MAX {
        return invalid("it understood too many entries");
    }
    let one = |given: e::explaining::Understood| {
        let matches = given.matches.iter().map(|place| *place as usize);
        let matches: Vec<usize> = matches.collect();
        if matches.iter().any(|place| *place >= items) {
            return invalid("it matches what is not on the page");
        }
        let meaning = clean(&given.meaning, LOG_LINE_MAX);
        Ok(Understood { entry: clean(&given.entry, ENTRY_MAX), meaning, matches })
    };
    given.into_iter().map(one).collect()
}

/// A page in columns: texts that many items share cross once.
#[derive(Debug)]
pub(super) struct Columns {
    page: Arc<Page>,
    pub(super) kind_of: Vec<u32>,
    pub(super) upstream_of: Vec<u32>,
    pub(super) tags_of: Vec<u32>,
    pub(super) hints_of: Vec<u32>,
    upstreams: Vec<Arc<str>>,
    tags: Vec<Vec<String>>,
    hints: Vec<Hints>,
}

impl Columns {
    /// The columns of a page.
    pub(super) fn of(page: &Arc<Page>) -> Self {
        let nobody: Arc<str> = "".into();
        let mut columns = Self {
            kind_of: Vec::with_capacity(page.entries.len()),
            upstream_of: Vec::with_capacity(page.entries.len()),
            tags_of: Vec::with_capacity(page.entries.len()),
            hints_of: Vec::with_capacity(page.entries.len()),
            upstreams: Vec::new(),
            // Most have none.
            tags: vec![Vec::new()],
            hints: Vec::new(),
            page: page.clone(),
        };
        for (entry, upstream) in &page.entries {
            columns.kind_of.push(entry.kind as u32);
            let upstream = upstream.as_ref().unwrap_or(&nobody);
            columns.upstream_of.push(place_of(&mut columns.upstreams, upstream));
            let own = tags::of(&entry.definition);
            columns.tags_of.push(place_of(&mut columns.tags, &own));
            columns.hints_of.push(place_of(&mut columns.hints, &entry.hints));
        }
        columns
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.page.entries.iter().map(|(entry, _): &(Arc<Entry>, _)| entry.name()).collect()
    }

    /// The words of `kind_of`.
    pub(super) fn kinds() -> [&'static str; EntryKind::ALL.len()] {
        EntryKind::ALL.map(EntryKind::as_str)
    }

    pub(super) fn upstreams(&self) -> Vec<&str> {
        self.upstreams.iter().map(|name| &**name).collect()
    }

    pub(super) fn tag_sets(&self) -> Vec<Vec<&str>> {
        self.tags.iter().map(|set| set.iter().map(String::as_str).collect()).collect()
    }

    pub(super) fn hints(&self) -> Vec<Vec<(&'static str, &'static str)>> {
        self.hints.iter().copied().map(hint_set).collect()
    }
}

/// Pages have few upstreams and hint sets, so a look at each is fast enough.
fn place_of<T: Clone + PartialEq>(known: &mut Vec<T>, wanted: &T) -> u32 {
    let place = known.iter().position(|one| one == wanted).unwrap_or_else(|| {
        known.push(wanted.clone());
        known.len() - 1
    });
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn hint_set(hints: Hints) -> Vec<(&'static str, &'static str)> {
    let all = [
        ("readOnlyHint", hints.read_only),
        ("destructiveHint", hints.destructive),
        ("idempotentHint", hints.idempotent),
        ("openWorldHint", hints.open_world),
    ];
    let word = |value| if value { "true" } else { "false" };
    all.into_iter().filter_map(|(name, value)| Some((name, word(value?)))).collect()
}

/// An upstream, its four lists and its documents.
type Parts<'a> = (&'a UpstreamView, [Vec<&'a str>; 4], Vec<(&'a str, &'a str)>);

/// The lists of every upstream, borrowed.
pub(super) struct Upstreams<'a> {
    parts: Vec<Parts<'a>>,
}

impl<'a> Upstreams<'a> {
    pub(super) fn of(connector: &'a ConnectorView) -> Self {
        let borrow =
            |list: &'a [Arc<str>]| -> Vec<&'a str> { list.iter().map(|text| &**text).collect() };
        let parts = connector.upstreams.iter().map(|view| {
            let lists = [
                borrow(&view.tools),
                borrow(&view.prompts),
                borrow(&view.resources),
                borrow(&view.templates),
            ];
            let documents = view.documents.iter().map(|(name, text)| (&**name, &**text)).collect();
            (view, lists, documents)
        });
        Self { parts: parts.collect() }
    }

    pub(super) fn views(&self) -> Vec<e::router::UpstreamView<'_>> {
        let views =
            self.parts.iter().map(|(view, [tools, prompts, resources, templates], documents)| {
                e::router::UpstreamView {
                    name: &view.name,
                    server_name: &view.server_name,
                    up: view.up,
                    tools,
                    prompts,
                    resources,
                    templates,
                    documents,
                    settings: &view.settings,
                }
            });
        views.collect()
    }
}
