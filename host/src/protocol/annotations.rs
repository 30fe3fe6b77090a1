//! Which arguments of a tool travel in a header, too: what `inputSchema` says with `x-mcp-header` (MCP 2026-07-28,
//! "Custom Headers from Tool Parameters").

use std::borrow::Cow;

use http::HeaderName;
use memchr::memmem;

use super::header::PARAM_PREFIX;
use super::keys::beginning;
use super::message::string;
use super::mirrored::Mirrored;
use super::scan::{ScanError, Scanner, Span};

const ANNOTATION: &str = "x-mcp-header";

/// Parameters of one tool that may have a header: a server takes about 100 headers in all.
pub const MAX_MIRRORED: usize = 32;

/// Keywords that hold a schema, or an array of them (JSON Schema 2020-12 and its forerunners).
const SUBSCHEMAS: [&str; 17] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
    "extends",
];

/// Keywords that hold schemas by names of the author's.
const NAMED: [&str; 5] =
    ["$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies"];

/// An annotation that makes the definition of its tool invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAnnotation {
    /// What is to be the name of a header is no text.
    #[error("the x-mcp-header of {parameter:?} is no text")]
    NotText {
        /// Its path, with dots.
        parameter: String,
    },
    /// The text is empty, or holds what no name of a header may hold (RFC 9110, section 5.1).
    #[error("{name:?} cannot be the name of a header")]
    Name {
        /// The beginning of the text.
        name: String,
    },
    /// Names of headers are the same in any case.
    #[error("two parameters have the header {name:?}")]
    Twice {
        /// The beginning of the name.
        name: String,
    },
    /// The parameter is none of those that a header can carry.
    #[error(
        "the parameter {parameter:?} has a header and is not of the type string, integer or boolean"
    )]
    Type {
        /// Its path, with dots.
        parameter: String,
    },
    /// It stands at the root, or where `properties` alone do not lead.
    #[error("an x-mcp-header stands where properties alone do not lead to a parameter")]
    Place,
    /// Nobody could call such a tool.
    #[error("more than {MAX_MIRRORED} parameters have headers")]
    TooMany,
}

/// The parameters of a tool that have a header, in the order of its schema; `definition` is JSON text. A text that cannot be
/// read has none. Definitions without the word are not walked through.
pub fn mirrored(definition: &str) -> Result<Box<[Mirrored]>, BadAnnotation> {
    let text = definition.as_bytes();
    // A key may be written with escapes.
    if memmem::find(text, ANNOTATION.as_bytes()).is_none() && memmem::find(text, b"\\u").is_none() {
        return Ok(Box::default());
    }
    match Walk::of(definition) {
        Ok(found) => Ok(found.into_boxed_slice()),
        Err(Stop::Unreadable) => Ok(Box::default()),
        Err(Stop::Bad(bad)) => Err(bad),
    }
}

/// Why a walk ends early.
enum Stop {
    Unreadable,
    Bad(BadAnnotation),
}

impl From<ScanError> for Stop {
    fn from(_: ScanError) -> Self {
        Self::Unreadable
    }
}

/// One walk through a definition. Its recursion ends at the scanner's limit of depth.
struct Walk<'a> {
    text: &'a str,
    /// The names of the properties that lead to the schema in hand.
    path: Vec<Cow<'a, str>>,
    found: Vec<Mirrored>,
}

impl<'a> Walk<'a> {
    fn of(text: &'a str) -> Result<Vec<Mirrored>, Stop> {
        let mut walk = Self { text, path: Vec::new(), found: Vec::new() };
        Scanner::new(text)?.object(|scanner, key| {
            if walk.string(key).as_deref() == Some("inputSchema") {
                walk.found.clear();
                return walk.schema(scanner, true);
            }
            Ok::<(), Stop>(scanner.value().map(|_| ())?)
        })?;
        Ok(walk.found)
    }

    fn raw(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or_default()
    }

    fn string(&self, span: Span) -> Option<Cow<'a, str>> {
        string(self.raw(span))
    }

    /// Takes one schema. `reached` says that nothing but `properties` led to it.
    fn schema(&mut self, scanner: &mut Scanner<'a>, reached: bool) -> Result<(), Stop> {
        if scanner.peek() != Some(b'{') {
            scanner.value()?;
            return Ok(());
        }
        let (mut header, mut kind) = (None, None);
        scanner.object(|scanner, key| {
            match self.string(key).as_deref() {
                Some(ANNOTATION) => header = Some(scanner.value()?),
                Some("type") => kind = Some(scanner.value()?),
                Some("properties") => self.properties(scanner, reached)?,
                Some(word) if SUBSCHEMAS.contains(&word) => self.below(scanner)?,
                Some(word) if NAMED.contains(&word) => self.properties(scanner, false)?,
                // Everything else is data: a default or an example says nothing about headers.
                _ => drop(scanner.value()?),
            }
            Ok::<(), Stop>(())
        })?;
        match header {
            None => Ok(()),
            Some(header) if reached && !self.path.is_empty() => {
                self.annotated(header, kind).map_err(Stop::Bad)
            }
            Some(_) => Err(Stop::Bad(BadAnnotation::Place)),
        }
    }

    /// Takes an object of schemas by name.
    fn properties(&mut self, scanner: &mut Scanner<'a>, reached: bool) -> Result<(), Stop> {
        if scanner.peek() != Some(b'{') {
            scanner.value()?;
            return Ok(());
        }
        scanner.object(|scanner, key| {
            self.path.push(self.string(key).ok_or(Stop::Unreadable)?);
            let walked = self.schema(scanner, reached);
            self.path.pop();
            walked
        })
    }

    /// Takes a schema or an array of schemas to which more than `properties` leads.
    fn below(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Stop> {
        if scanner.peek() == Some(b'[') {
            return scanner.array(|scanner| self.schema(scanner, false));
        }
        self.schema(scanner, false)
    }

    fn annotated(&mut self, header: Span, kind: Option<Span>) -> Result<(), BadAnnotation> {
        let parameter = || beginning(&self.path.join("."));
        let name =
            self.string(header).ok_or_else(|| BadAnnotation::NotText { parameter: parameter() })?;
        let header = HeaderName::from_bytes(format!("{PARAM_PREFIX}{name}").as_bytes());
        let header = header.ok().filter(|_| !name.is_empty());
        let header = header.ok_or_else(|| BadAnnotation::Name { name: beginning(&name) })?;
        let kind = kind.and_then(|kind| self.string(kind)).unwrap_or_default();
        if !["string", "integer", "boolean"].contains(&&*kind) {
            return Err(BadAnnotation::Type { parameter: parameter() });
        }
        if self.found.iter().any(|known| *known.header() == header) {
            return Err(BadAnnotation::Twice { name: beginning(&name) });
        }
        if self.found.len() >= MAX_MIRRORED {
            return Err(BadAnnotation::TooMany);
        }
        self.found.push(Mirrored::new(header, &self.path));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Header and path of each, or the error.
    fn read(properties: &str) -> Result<Vec<String>, BadAnnotation> {
        of_schema(&format!(r#"{{"type":"object","properties":{properties}}}"#))
    }

    fn of_schema(schema: &str) -> Result<Vec<String>, BadAnnotation> {
        let found = mirrored(&format!(r#"{{"name":"t","inputSchema":{schema}}}"#))?;
        Ok(found.iter().map(|one| format!("{} {}", one.header(), one.parameter())).collect())
    }

    #[test]
    fn annotated_parameters_are_found_wherever_properties_lead() {
        for (properties, found) in [
            (r#"{"a":{"type":"string"}}"#, &[][..]),
            (r#"{"a":{"type":"string","x-mcp-header":"Region"}}"#, &["mcp-param-region a"]),
            (r#"{"a":{"x-mcp-header":"A","type":"integer"}}"#, &["mcp-param-a a"]),
            (r#"{"a":{"x-mcp-\u0068eader":"A","type":"boolean"}}"#, &["mcp-param-a a"]),
            (
                r#"{"a":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"B!#~"}}},"c":{"type":"string","x-mcp-header":"C"}}"#,
                &["mcp-param-b!#~ a.b", "mcp-param-c c"],
            ),
            // Names and data are no annotations.
            (r#"{"x-mcp-header":{"type":"string"}}"#, &[]),
            (r#"{"a":{"type":"object","default":{"x-mcp-header":"A"}}}"#, &[]),
            (r#"{"a":{"enum":[{"x-mcp-header":"A"}],"const":{"x-mcp-header":""}}}"#, &[]),
            (r#"{"a":{"description":"x-mcp-header"},"b":true}"#, &[]),
        ] {
            assert_eq!(
                read(properties).as_deref(),
                Ok(&found.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>()[..]),
                "{properties}"
            );
        }
        assert_eq!(
            mirrored(r#"{"name":"t","outputSchema":{"x-mcp-header":"A"}}"#),
            Ok(Box::default())
        );
        assert_eq!(mirrored(r#"{"inputSchema":{"x-mcp-header":"A""#), Ok(Box::default()));
    }

    #[test]
    fn an_annotation_that_breaks_a_rule_is_said_to() {
        let name = |name: &str| BadAnnotation::Name { name: name.to_owned() };
        let kind = |parameter: &str| BadAnnotation::Type { parameter: parameter.to_owned() };
        for (properties, bad) in [
            (r#"{"a":{"type":"string","x-mcp-header":""}}"#, name("")),
            (r#"{"a":{"type":"string","x-mcp-header":"My Region"}}"#, name("My Region")),
            (r#"{"a":{"type":"string","x-mcp-header":"Region:Primary"}}"#, name("Region:Primary")),
            (r#"{"a":{"type":"string","x-mcp-header":"Région"}}"#, name("Région")),
            (r#"{"a":{"type":"string","x-mcp-header":"Region\t1"}}"#, name("Region\t1")),
            (r#"{"a":{"type":"string","x-mcp-header":"a\r\nb"}}"#, name("a\r\nb")),
            (
                r#"{"a":{"type":"string","x-mcp-header":7}}"#,
                BadAnnotation::NotText { parameter: "a".to_owned() },
            ),
            (r#"{"a":{"type":"object","x-mcp-header":"A"}}"#, kind("a")),
            (r#"{"a":{"type":"array","x-mcp-header":"A","items":{}}}"#, kind("a")),
            (r#"{"a":{"type":"null","x-mcp-header":"A"}}"#, kind("a")),
            (r#"{"a":{"type":"number","x-mcp-header":"A"}}"#, kind("a")),
            (r#"{"a":{"type":["string","null"],"x-mcp-header":"A"}}"#, kind("a")),
            (r#"{"a":{"properties":{"b":{"$ref":"x","x-mcp-header":"A"}}}}"#, kind("a.b")),
            (
                r#"{"a":{"type":"string","x-mcp-header":"MyField"},"b":{"type":"string","x-mcp-header":"myfield"}}"#,
                BadAnnotation::Twice { name: "myfield".to_owned() },
            ),
            (r#"{"a":{"items":{"type":"string","x-mcp-header":"A"}}}"#, BadAnnotation::Place),
            (r#"{"a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}}"#, BadAnnotation::Place),
            (
                r#"{"a":{"not":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}}"#,
                BadAnnotation::Place,
            ),
            (r#"{"a":{"$defs":{"x":{"type":"string","x-mcp-header":"A"}}}}"#, BadAnnotation::Place),
        ] {
            assert_eq!(read(properties), Err(bad), "{properties}");
        }
        let root = r#"{"type":"string","x-mcp-header":"A"}"#;
        assert_eq!(of_schema(root), Err(BadAnnotation::Place));
        let many = |count: usize| {
            let one = |n| format!(r#""p{n}":{{"type":"string","x-mcp-header":"P{n}"}}"#);
            format!("{{{}}}", (0..count).map(one).collect::<Vec<_>>().join(","))
        };
        assert_eq!(read(&many(MAX_MIRRORED)).map(|found| found.len()), Ok(MAX_MIRRORED));
        assert_eq!(read(&many(MAX_MIRRORED + 1)), Err(BadAnnotation::TooMany));
    }
}
