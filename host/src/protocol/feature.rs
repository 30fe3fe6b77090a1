//! Features that a server may have or not, in the shape that each era gives them: which methods belong to one, and what a side
//! says to have it.

use super::scan;
use super::version::Era;

/// Every feature with methods of its own, but for those that [`Method`](super::Method) knows.
static ALL: [&Feature; 1] = [&TASKS];

/// A server goes on with a call after it answered (2025-11-25, "Tasks"; the extension of SEP-2663).
pub static TASKS: Feature = Feature {
    legacy: Shape {
        capability: &["tasks"],
        methods: &["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"],
    },
    modern: Shape {
        capability: &["extensions", "io.modelcontextprotocol/tasks"],
        methods: &["tasks/get", "tasks/update", "tasks/cancel"],
    },
};

/// A feature of servers.
#[derive(Debug, PartialEq, Eq)]
pub struct Feature {
    legacy: Shape,
    modern: Shape,
}

/// How one era has a feature.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    /// The way to the member of the capabilities, an object, that says who has it.
    capability: &'static [&'static str],
    methods: &'static [&'static str],
}

/// Where a method is at home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// It belongs to this feature.
    Feature(&'static Feature),
    /// It belongs to a feature that has it in the other era only: in this one there is no such method.
    OtherEra,
    /// Nothing is known of it.
    Unknown,
}

impl Home {
    /// Where requests of an era find a method; names are compared exactly.
    pub fn of(method: &str, era: Era) -> Self {
        let has = |shape: &Shape| shape.methods.contains(&method);
        for feature in ALL {
            if has(feature.shape(era)) {
                return Self::Feature(feature);
            }
            if has(&feature.legacy) || has(&feature.modern) {
                return Self::OtherEra;
            }
        }
        Self::Unknown
    }
}

impl Feature {
    fn shape(&self, era: Era) -> &Shape {
        match era {
            Era::Legacy => &self.legacy,
            Era::Modern => &self.modern,
        }
    }

    /// The way to the member of capabilities that says who has the feature in an era.
    pub fn capability(&self, era: Era) -> &'static [&'static str] {
        self.shape(era).capability
    }

    /// Whether capabilities of an era, which are JSON text, say so.
    pub fn is_in(&self, capabilities: &str, era: Era) -> bool {
        let member = self
            .capability(era)
            .iter()
            .try_fold(capabilities, |object, name| object.get(scan::member(object, name)?.range()));
        member.is_some_and(|member| member.starts_with('{'))
    }

    /// Whether a client has to declare it with each request that uses it, at the place where servers do: extensions are
    /// negotiated (MCP 2026-07-28, "Extensions").
    pub fn is_negotiated(&self, era: Era) -> bool {
        era == Era::Modern && self.capability(era).first() == Some(&"extensions")
    }

    /// JSON text of capabilities that say nothing else than that somebody has it.
    pub fn alone(&self, era: Era) -> String {
        let way = self.capability(era).iter().rev();
        way.fold("{}".to_owned(), |inner, name| format!(r#"{{"{name}":{inner}}}"#))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_at_home_in_the_eras_that_have_it() {
        for (method, legacy, modern) in [
            ("tasks/get", true, true),
            ("tasks/cancel", true, true),
            ("tasks/list", true, false),
            ("tasks/result", true, false),
            ("tasks/update", false, true),
        ] {
            for (era, has) in [(Era::Legacy, legacy), (Era::Modern, modern)] {
                let home = if has { Home::Feature(&TASKS) } else { Home::OtherEra };
                assert_eq!(Home::of(method, era), home, "{method} {era:?}");
            }
        }
        for method in ["tasks/Get", "tasks", "x/tasks/get", "tools/call", ""] {
            assert_eq!(Home::of(method, Era::Modern), Home::Unknown, "{method}");
        }
    }

    #[test]
    fn capabilities_say_who_has_it_each_era_in_its_own_words() {
        let modern = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
        assert_eq!(TASKS.alone(Era::Modern), modern);
        assert_eq!(TASKS.alone(Era::Legacy), r#"{"tasks":{}}"#);
        for (capabilities, era, expected) in [
            (modern, Era::Modern, true),
            (modern, Era::Legacy, false),
            (r#"{"tasks":{"list":{}}}"#, Era::Legacy, true),
            (r#"{"tasks":{"list":{}}}"#, Era::Modern, false),
            (r#"{"tasks":null}"#, Era::Legacy, false),
            (r#"{"extensions":{"io.modelcontextprotocol/tasks":true}}"#, Era::Modern, false),
            (r#"{"extensions":["io.modelcontextprotocol/tasks"]}"#, Era::Modern, false),
            ("[]", Era::Modern, false),
        ] {
            assert_eq!(TASKS.is_in(capabilities, era), expected, "{capabilities} {era:?}");
        }
        assert!(TASKS.is_negotiated(Era::Modern) && !TASKS.is_negotiated(Era::Legacy));
    }
}
