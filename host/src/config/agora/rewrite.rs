//! Makes a configuration of plugway out of the tree of a `RouterConfig`, which may hold plugway's own keys besides.

use super::form::{self, Form};
use super::gateway;
use super::router::{self, Offers};
use super::url::endpoint;
use super::words::{DISPATCHER, Fate, GATEWAY, ROUTER, TAKE_OUT, key as fate_of};
use crate::config::check::Findings;
use crate::config::file::File;
use crate::config::key::KeyPath;
use crate::config::problem::Problem;
use crate::config::read::Also;
use crate::config::tree::{Item, Member, Node, Value};

/// Words that may be meant by one that nobody knows, besides plugway's own.
pub(super) const ALSO: Also = &[
    ("file", &["bridges", "entra_client_id", "entra_tenant_id"]),
    ("upstream", &["expose_tools", "tool_aliases"]),
];

/// Keys of an upstream that change their name: theirs, and plugway's.
const RENAMED: &[(&str, &str)] = &[("expose_tools", "expose"), ("tool_aliases", "aliases")];

/// A tree in plugway's words, and what has to be known to speak of it in the words of the file.
#[derive(Debug)]
pub(in crate::config) struct Rewritten {
    /// None for a form that plugway does not serve: the findings say which.
    pub(in crate::config) tree: Option<Node>,
    pub(in crate::config) findings: Findings,
    pub(in crate::config) also: Also,
    /// Keys here, and the same in the file.
    pub(super) moves: Vec<(KeyPath, KeyPath)>,
    /// Upstreams whose globs and aliases came from words of the reference.
    pub(super) of_functions: Vec<usize>,
}

impl Rewritten {
    pub(super) fn new(tree: Option<Node>) -> Self {
        Self {
            tree,
            findings: Findings::default(),
            also: &[],
            moves: Vec::new(),
            of_functions: Vec::new(),
        }
    }

    /// Notes what cannot be written in a file.
    pub(in crate::config) fn note(&self, file: &mut File) {
        let upstreams = file.upstreams.iter_mut().flatten().enumerate();
        for (index, upstream) in upstreams {
            upstream.of_functions = self.of_functions.contains(&index);
        }
    }

    /// A problem with what the file became, as one with the file.
    pub(in crate::config) fn moved(&self, mut problem: Problem) -> Problem {
        let found = self.moves.iter().find_map(|(here, there)| problem.key.moved(here, there));
        if let Some(key) = found {
            problem.key = key;
        }
        problem
    }
}

/// Rewrites a file, where it is one of the reference; else it stays as it is.
pub(in crate::config) fn rewrite(tree: &Node) -> Rewritten {
    let form = form::of(tree);
    match &form {
        Form::Own => return Rewritten::new(Some(tree.clone())),
        Form::Gateway(key) => return gateway::rewrite(tree, key.as_ref()),
        Form::Dispatcher(key) => return not_served(key, "DispatcherConfig"),
        Form::Router(_) | Form::Mixed { .. } => {}
    }
    let mut rewriter = Rewritten { also: ALSO, ..Rewritten::new(None) };
    let mut tree = tree.clone();
    if let Value::Map(members) = &mut tree.value {
        let passed = take_passed(members);
        gateway::refuse_words(members, &mut rewriter.findings);
        members.retain(|member| stays(member, &mut rewriter.findings));
        if tree_is_one(members) {
            router::configure(members, passed, Offers::All, &mut rewriter);
        }
    }
    let mut forwarding = Vec::new();
    for item in upstreams(&mut tree) {
        let key = KeyPath::top().key("upstreams").item(item.index);
        forwarding.extend(upstream(item, (&key, &key), &mut rewriter));
    }
    match form {
        Form::Mixed { theirs, own } => {
            let sentence = format!(
                "belongs to a RouterConfig of agora-workbench and `{own}` to a configuration of \
                 plugway, so it cannot be told which of them this file is"
            );
            let hint = "write `form: agora` or `form: plugway`, or keep to the words of one";
            rewriter.findings.problem(&theirs, sentence, hint);
        }
        Form::Router(Some(key)) => {
            say_so(&key, "RouterConfig", &forwarding, &mut rewriter.findings);
        }
        // Only where the file says itself what it is: else this key makes it a mixed one.
        _ if tree.value_of("connectors").is_some() => {
            let sentence = "has no place in a RouterConfig, which is one connector";
            let hint = "write `form: plugway`, and its words in all connectors";
            rewriter.findings.problem(&KeyPath::top().key("connectors"), sentence, hint);
        }
        _ => {}
    }
    rewriter.tree = Some(tree);
    rewriter
}

fn not_served(key: &KeyPath, name: &str) -> Rewritten {
    let mut rewritten = Rewritten::new(None);
    let word = key.last_key().unwrap_or_default();
    if let Some(Fate::NotYet(lacks)) = fate_of(word) {
        let sentence =
            format!("makes this a {name} of agora-workbench, which is not served yet: {lacks}");
        rewritten.findings.problem(key, sentence, TAKE_OUT);
    }
    rewritten
}

/// A file that does not say itself what it is may be taken for something else than it is.
pub(super) fn say_so(key: &KeyPath, form: &str, forwarding: &[String], findings: &mut Findings) {
    let upstreams = match forwarding {
        [] => String::new(),
        names => format!(": the credential of whoever calls goes to {}", names.join(", ")),
    };
    let sentence = format!("makes this a {form} of agora-workbench{upstreams}");
    let hint = "write `form: agora` to say so, or `form: plugway` to be told what does not belong; \
                `auth: none` keeps a credential from an upstream";
    findings.warning(key, sentence, hint);
}

/// Whether a key at the top is one for plugway's own reading.
pub(super) fn stays(member: &Member, findings: &mut Findings) -> bool {
    let known = ROUTER.iter().chain(GATEWAY).chain(DISPATCHER);
    if !known.into_iter().any(|(name, _)| *name == member.key) {
        return true;
    }
    if let Some(Fate::NotYet(lacks)) = fate_of(&member.key) {
        if !is_blank(&member.node) {
            let sentence = format!("does nothing yet: {lacks}");
            findings.problem(&KeyPath::top().key(&member.key), sentence, TAKE_OUT);
        }
        return false;
    }
    member.node.value != Value::Null
}

/// Takes out what is the router's.
fn take_passed(members: &mut Vec<Member>) -> Vec<Member> {
    let (passed, others) = std::mem::take(members)
        .into_iter()
        .partition(|member| matches!(fate_of(&member.key), Some(Fate::PassedOn)));
    *members = others;
    passed
}

/// Whether it is one connector: else it is refused anyway.
fn tree_is_one(members: &[Member]) -> bool {
    !members.iter().any(|member| member.key == "connectors")
}

/// What the reference prints where nobody said anything.
pub(super) fn is_blank(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(members) => members.is_empty(),
        _ => false,
    }
}

fn upstreams(tree: &mut Node) -> impl Iterator<Item = &mut Item> {
    let Value::Map(members) = &mut tree.value else { return [].iter_mut() };
    let list = members.iter_mut().find(|member| member.key == "upstreams");
    match list.map(|member| &mut member.node.value) {
        Some(Value::List(items)) => items.iter_mut(),
        _ => [].iter_mut(),
    }
}

/// Rewrites one upstream; its name if it gets credentials of callers that nobody spoke of. `keys` are its key here and in the
/// file.
pub(super) fn upstream(
    item: &mut Item,
    keys: (&KeyPath, &KeyPath),
    rewriter: &mut Rewritten,
) -> Option<String> {
    let place = item.node.place;
    let Value::Map(members) = &mut item.node.value else { return None };
    for (theirs, own) in RENAMED {
        rename(members, (theirs, own), keys, rewriter);
        if members.iter().any(|member| member.key == *own) {
            let was_moved = rewriter.was_moved(&keys.0.key(own));
            rewriter.of_functions.extend(was_moved.then_some(item.index));
        }
    }
    let text = |members: &[Member], key: &str| {
        members.iter().find_map(|member| match &member.node.value {
            Value::Text(text) if member.key == key => Some(text.clone()),
            _ => None,
        })
    };
    let url = text(members, "url")?;
    if text(members, "transport").is_some_and(|word| word == "sse") {
        return None;
    }
    if let Some(member) = members.iter_mut().find(|member| member.key == "url") {
        member.node.value = Value::Text(endpoint(&url));
    }
    members.retain(|member| member.key != "auth" || member.node.value != Value::Null);
    if members.iter().any(|member| member.key == "auth") {
        return None;
    }
    let forward = Node { value: Value::Text("forward".to_owned()), place };
    members.push(Member { key: "auth".to_owned(), place, node: forward });
    text(members, "name")
}

impl Rewritten {
    fn was_moved(&self, key: &KeyPath) -> bool {
        self.moves.iter().any(|(here, _)| here == key)
    }
}

/// Gives a key plugway's name, or takes it out where it says nothing.
fn rename(
    members: &mut Vec<Member>,
    (theirs, own): (&str, &str),
    (here, there): (&KeyPath, &KeyPath),
    rewriter: &mut Rewritten,
) {
    let key = there.key(theirs);
    let stands_twice = members.iter().any(|member| member.key == own);
    let Some(at) = members.iter().position(|member| member.key == theirs) else { return };
    let mut member = members.remove(at);
    // `["*"]` is everything, and an empty list counts as none.
    let is_everything = |item: &Item| item.node.value == Value::Text("*".to_owned());
    let says_nothing = match &member.node.value {
        Value::List(items) => matches!(items.as_slice(), [item] if is_everything(item)),
        _ => false,
    };
    if says_nothing || is_blank(&member.node) {
        return;
    }
    if stands_twice {
        let sentence = format!("means the same as `{own}`, which stands beside it");
        rewriter.findings.problem(&key, sentence, "keep one of them");
        return;
    }
    if own == "expose" {
        refuse_sets(&member.node, &key, &mut rewriter.findings);
    }
    rewriter.moves.push((here.key(own), key));
    own.clone_into(&mut member.key);
    members.push(member);
}

/// Globs of the reference know sets of characters, plugway's do not.
fn refuse_sets(globs: &Node, key: &KeyPath, findings: &mut Findings) {
    let Value::List(items) = &globs.value else { return };
    for item in items {
        if let Value::Text(glob) = &item.node.value
            && glob.contains('[')
        {
            let sentence = format!("is `{glob}`, but a glob of plugway knows only `*` and `?`");
            findings.problem(&key.item(item.index), sentence, "write a glob for each character");
        }
    }
}
