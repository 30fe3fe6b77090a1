//! JSON with comments and trailing commas, as editors write it, read into a tree with places.

use jsonc_parser::ast::{ObjectProp, Value as Parsed};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::config::problem::{Place, Problem};
use crate::config::tree::{Item, Member, Node, Value};

/// Reads a text. Where a key stands twice the later one counts, as for the clients.
pub(super) fn parse(text: &str) -> Result<Node, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let places = Places::of(text);
        let mut problem = Problem::general(format!("is not JSON: {}", sentence_of(error.kind())))
            .hint("close every quote and bracket, and write commas between values");
        problem.place = Some(places.at(error.range().start));
        problem
    })?;
    let places = Places::of(text);
    Ok(parsed.value.map_or_else(Node::empty, |value| node(value, &places)))
}

/// What the parser says, where it does not quote the file.
fn sentence_of(kind: &ParseErrorKind) -> String {
    let mut sentence = kind.to_string();
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    sentence
}

/// Where each line begins.
struct Places<'a> {
    text: &'a str,
    lines: Vec<usize>,
}

impl<'a> Places<'a> {
    fn of(text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, lines: std::iter::once(0).chain(ends).collect() }
    }

    /// Line and column of a byte; columns count characters.
    fn at(&self, byte: usize) -> Place {
        let line = self.lines.partition_point(|start| *start <= byte);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let before = self.text.get(start..byte).unwrap_or_default();
        let column = before.chars().count() + 1;
        Place { line: line as u64, column: column as u64 }
    }
}

fn node(parsed: Parsed<'_>, places: &Places<'_>) -> Node {
    let place = Some(places.at(parsed.range().start));
    let value = match parsed {
        Parsed::NullKeyword(_) => Value::Null,
        Parsed::BooleanLit(literal) => Value::Bool(literal.value),
        Parsed::NumberLit(literal) => number(literal.value),
        Parsed::StringLit(literal) => Value::Text(literal.value.into_owned()),
        Parsed::Array(array) => {
            let items = array.elements.into_iter().enumerate();
            Value::List(
                items.map(|(index, value)| Item { index, node: node(value, places) }).collect(),
            )
        }
        Parsed::Object(object) => Value::Map(members(object.properties, places)),
    };
    Node { value, place }
}

fn members(properties: Vec<ObjectProp<'_>>, places: &Places<'_>) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::with_capacity(properties.len());
    for property in properties {
        let place = Some(places.at(property.range().start));
        let member =
            Member { key: property.name.into_string(), place, node: node(property.value, places) };
        match members.iter_mut().find(|other| other.key == member.key) {
            Some(other) => *other = member,
            None => members.push(member),
        }
    }
    members
}

fn number(text: &str) -> Value {
    if let Ok(value) = text.parse() {
        return Value::Unsigned(value);
    }
    if let Ok(value) = text.parse() {
        return Value::Signed(value);
    }
    Value::Float(text.parse().unwrap_or(f64::NAN))
}
