//! What a request asks to see: the query parameters and headers of agent-connector-sdk, and some more.

use std::fmt;

use crate::lists::{About, Lists, Set};

/// Bytes of one value, all that were given under its name.
const RAW_MAX: usize = 16 * 1024;
/// Names in one value.
const NAMES_MAX: usize = 256;
/// Characters of one name.
const NAME_MAX: usize = 128;

/// Where in a set a value belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Of(About),
    /// All of them.
    Components,
    Tags,
}

use About::{Prompts, Resources, Tools};
use Place::{Components, Of, Tags};

/// A parameter or header: its name, what it is about, and whether it enables or disables.
type Word = (&'static str, Place, bool);

/// Query parameters.
const QUERY: [Word; 10] = [
    ("tools", Of(Tools), true),
    ("toolsets", Of(Tools), true),
    ("disabled_tools", Of(Tools), false),
    ("disabled_toolsets", Of(Tools), false),
    ("prompts", Of(Prompts), true),
    ("disabled_prompts", Of(Prompts), false),
    ("resources", Of(Resources), true),
    ("disabled_resources", Of(Resources), false),
    ("tags", Tags, true),
    ("disabled_tags", Tags, false),
];
/// Headers.
const HEADERS: [Word; 10] = [
    ("x-mcp-enabled-tools", Of(Tools), true),
    ("x-mcp-disabled-tools", Of(Tools), false),
    ("x-mcp-enabled-prompts", Of(Prompts), true),
    ("x-mcp-disabled-prompts", Of(Prompts), false),
    ("x-mcp-enabled-resources", Of(Resources), true),
    ("x-mcp-disabled-resources", Of(Resources), false),
    ("x-mcp-enabled-components", Components, true),
    ("x-mcp-disabled-components", Components, false),
    ("x-mcp-enabled-tags", Tags, true),
    ("x-mcp-disabled-tags", Tags, false),
];
/// What would have to be understood to be answered.
const QUERY_SEARCH: [&str; 3] = ["q", "query", "search"];
const HEADERS_SEARCH: [&str; 2] = ["x-mcp-query", "x-mcp-search"];

/// Why a request is shown nothing. Displayed, it is a sentence for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The value of this parameter or header is no list of names.
    Malformed(&'static str),
    /// This parameter or header asks for a search.
    Search(&'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(name) => write!(
                f,
                "Nothing is shown here: the filter `{name}` of the request is no list of names. Separate at most {NAMES_MAX} \
                 names by commas, each of at most {NAME_MAX} letters, digits and `_.:/-`, with `*` for any text."
            ),
            Self::Search(name) => write!(
                f,
                "Nothing is shown here: the filter `{name}` of the request asks for a search, which this server does not do. \
                 Leave it out, and name tools or tags instead."
            ),
        }
    }
}

/// The lists that a request asks for, of its query and of its headers; what holds first comes first. Each function gives all
/// that stands under a name, with commas between.
pub fn read(
    query: impl Fn(&str) -> Option<String>,
    header: impl Fn(&str) -> Option<String>,
) -> Result<Vec<Set>, Refused> {
    for (names, value) in [
        (&QUERY_SEARCH[..], &query as &dyn Fn(&str) -> Option<String>),
        (&HEADERS_SEARCH[..], &header),
    ] {
        for name in names {
            if value(name).is_some_and(|value| !value.trim().is_empty()) {
                return Err(Refused::Search(name));
            }
        }
    }
    let mut sets = vec![set(&QUERY, query)?, set(&HEADERS, header)?];
    sets.retain(|set| !set.is_empty());
    Ok(sets)
}

fn set(words: &[Word], value: impl Fn(&str) -> Option<String>) -> Result<Set, Refused> {
    let mut set = Set::default();
    for (name, place, enables) in words {
        let Some(value) = value(name) else { continue };
        let names = names(&value).ok_or(Refused::Malformed(name))?;
        if names.is_empty() {
            continue;
        }
        let abouts: &[About] = match place {
            Of(about) => std::slice::from_ref(about),
            Components => &About::ALL,
            Tags => &[],
        };
        let add = |lists: &mut Lists| {
            let list =
                if *enables { lists.enabled.get_or_insert_default() } else { &mut lists.disabled };
            list.extend(names.iter().cloned());
        };
        if *place == Tags {
            add(&mut set.tags);
        }
        for about in abouts {
            add(set.of_mut(*about));
        }
    }
    Ok(set)
}

/// The names in a value; none where it is no list of names.
fn names(value: &str) -> Option<Vec<String>> {
    if value.len() > RAW_MAX {
        return None;
    }
    let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.take(NAMES_MAX + 1).map(str::to_owned).collect();
    let fits = names.len() <= NAMES_MAX && names.iter().all(|name| is_name(name));
    fits.then_some(names)
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-*".contains(&byte);
    name.len() <= NAME_MAX && name != "all" && name.bytes().all(plain)
}
