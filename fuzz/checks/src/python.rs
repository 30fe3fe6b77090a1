//! Names in Python code: whatever the text is, it is read or refused; names stand in it, and what stands behind it or inside
//! a field of an f-string is found.

use plugway_python_names::identifiers;

/// A text.
pub(crate) fn check(data: &[u8]) {
    let Ok(code) = std::str::from_utf8(data) else { return };
    let Ok(names) = identifiers(code) else { return };
    for name in &names {
        assert!(!name.is_empty() && !name.contains(['\'', '"', '\n', ' ', '#']), "{name:?}");
        if name.is_ascii() && code.is_ascii() {
            assert!(code.contains(name.as_str()), "{name:?}");
        }
    }
    if let Ok(more) = identifiers(&format!("{code}\nbeyond_it")) {
        assert!(more.contains("beyond_it"), "{code:?}");
        assert!(names.is_subset(&more), "{code:?}");
    }
    // At the beginning it is no part of a name, elsewhere it would be.
    let inner = code.strip_prefix('\u{feff}').unwrap_or(code);
    if let Ok(inside) = identifiers(&format!("f'''{{(\n{inner}\n), inside_it}}'''")) {
        assert!(inside.contains("inside_it") && names.is_subset(&inside), "{code:?}");
    }
}
