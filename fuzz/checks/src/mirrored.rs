//! Arguments that travel in headers, too.

use std::collections::HashSet;

use plugway::protocol::annotations::mirrored;

use crate::SEPARATOR;

/// The definition of a tool, then arguments: the header that is made of an argument is the one that it is compared with.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (definition, arguments) = text.split_once(SEPARATOR).unwrap_or((text, "{}"));
    let Ok(parameters) = mirrored(definition) else { return };
    let mut names = HashSet::new();
    for parameter in &parameters {
        let name = parameter.header();
        assert!(name.as_str().starts_with("mcp-param-"), "{name}");
        assert!(names.insert(name.clone()), "{name} stands for two parameters");
        if let Some(value) = parameter.value(arguments) {
            let value = value.to_str().unwrap_or_default();
            assert!(parameter.agrees(arguments, Some(value)), "{name}: {value:?} of {arguments}");
            assert!(!parameter.agrees(arguments, None), "{name} may not be left out");
        }
    }
}
