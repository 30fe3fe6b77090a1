//! Makes conditions of what operators write.

use super::hints::Hints;
use super::names::Names;
use super::place::{Place, Wrong};
use super::time::Hours;
use super::value::{self, ValueTest};
use super::when::{Argument, Claim, Test, When};

const KEYS: [&str; 12] = [
    "scope", "claim", "tenant", "client", "kind", "tool", "upstream", "hint", "argument", "time",
    "all", "not",
];
const KINDS: [(&str, &str); 3] = [("tool", "tool"), ("prompt", "prompt"), ("resource", "resource")];
/// How deep `all` and `not` may stand inside each other.
pub(super) const DEPTH_MAX: u32 = 8;

/// Reads the value of `when`.
pub(super) fn when(place: &Place<'_>) -> Result<When, Wrong> {
    nested(place, 0)
}

fn nested(place: &Place<'_>, depth: u32) -> Result<When, Wrong> {
    if depth > DEPTH_MAX {
        return place.wrong(format!("conditions stand inside each other at most {DEPTH_MAX} deep"));
    }
    let members = place.members(&KEYS)?;
    let tests = members.all().map(|(key, place)| test(key, &place, depth));
    Ok(When::new(tests.collect::<Result<_, _>>()?))
}

fn test(key: &str, place: &Place<'_>, depth: u32) -> Result<Test, Wrong> {
    Ok(match key {
        "scope" => Test::Scope(place.texts()?.into_iter().map(Into::into).collect()),
        "claim" => Test::Claim(each(place, claim)?),
        "tenant" => Test::Tenant(Names::read(place)?),
        "client" => Test::Client(Names::read(place)?),
        "kind" => Test::Kind(each(place, kind)?),
        "tool" => Test::Tool(Names::read(place)?),
        "upstream" => Test::Upstream(Names::read(place)?),
        "hint" => Test::Hint(each(place, Hints::read)?),
        "argument" => Test::Argument(each(place, argument)?),
        "time" => Test::Time(each(place, Hours::read)?),
        "all" => Test::All(each(place, |place| nested(place, depth + 1))?),
        _ => Test::Not(each(place, |place| nested(place, depth + 1))?),
    })
}

fn kind(place: &Place<'_>) -> Result<&'static str, Wrong> {
    if place.value == "template" {
        return place
            .wrong("templates are resources: a call of one does not say by which it was found");
    }
    place.word(&KINDS)
}

/// One, or a list of which any may hold.
fn each<T>(
    place: &Place<'_>,
    read: impl Fn(&Place<'_>) -> Result<T, Wrong>,
) -> Result<Vec<T>, Wrong> {
    place.any_of()?.iter().map(read).collect()
}

/// `{name, ..}`; a name that begins with a slash is a pointer whose first part is the claim.
fn claim(place: &Place<'_>) -> Result<Claim, Wrong> {
    let members = place.members(&[&["name"], &value::KEYS[..]].concat())?;
    let written = members.need("name")?;
    let name = written.text()?;
    let test = ValueTest::read(place, &members)?;
    let Some(rest) = name.strip_prefix('/') else {
        return Ok(Claim { name: name.into(), pointer: "".into(), test });
    };
    checked_pointer(&written, name)?;
    let (first, inside) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let first = first.replace("~1", "/").replace("~0", "~");
    Ok(Claim { name: first.into(), pointer: inside.into(), test })
}

/// `{pointer, ..}`.
fn argument(place: &Place<'_>) -> Result<Argument, Wrong> {
    let members = place.members(&[&["pointer"], &value::KEYS[..]].concat())?;
    let written = members.need("pointer")?;
    // The empty pointer is all arguments.
    let pointer = if written.value == "" { "" } else { written.text()? };
    checked_pointer(&written, pointer)?;
    Ok(Argument { pointer: pointer.into(), test: ValueTest::read(place, &members)? })
}

fn checked_pointer(place: &Place<'_>, pointer: &str) -> Result<(), Wrong> {
    let escapes = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if (pointer.is_empty() || pointer.starts_with('/')) && escapes {
        return Ok(());
    }
    place.wrong("this must be a JSON pointer such as /path/0, with ~1 for / and ~0 for ~")
}
