//! What is refused, and the words for it.

use crate::identifiers;

#[track_caller]
fn refused(code: &str, line: usize, why: &str) {
    let refusal = identifiers(code).expect_err(code);
    assert_eq!((refusal.line, refusal.why), (line, why), "{code:?}");
}

#[test]
fn what_does_not_end() {
    refused("x\n'a", 2, "a string does not end");
    refused("'a\nb'", 2, "a string does not end on its line");
    refused("'''a\nb", 2, "a string does not end");
    refused("f'{x", 1, "a bracket is not closed");
    refused("(\n[", 2, "a bracket is not closed");
    refused("f'{x:'", 1, "a replacement field does not end before its string");
    refused("f'\\N{x", 1, "a character's name does not end");
}

#[test]
fn what_does_not_fit() {
    refused("(]", 1, "a bracket closes what was not opened");
    refused("f'}'", 1, "a closing brace without an opening one");
    refused("f'{x:{{y}}}'", 1, "two braces in a format specification");
    refused("1x", 1, "a number that runs into a name");
    refused("0x", 1, "a number without digits");
    refused("a \\b", 1, "a backslash that joins no lines");
    refused("$x", 1, "a character that is none of Python's");
    refused(&"(".repeat(201), 1, "too many brackets inside each other");
    refused(&"f'{".repeat(101), 1, "too many brackets inside each other");
    refused(&"x".repeat((1 << 20) + 1), 1, "code of more than 1 MiB is not looked at");
    let wide = "\u{fdfa};".repeat(8_000);
    refused(&wide, 1, "too many characters beyond ASCII in names");
}

#[test]
fn what_a_kernel_makes_something_else_of() {
    let magic = "a line that is no Python but a magic, a shell command or help";
    for code in ["%time x", "  %x", "!ls", "?x", ",f a", ";f a", "/f a", "%%bash\nls", "\\\n%x"] {
        refused(code, 1 + usize::from(code.starts_with('\\')), magic);
    }
    for code in ["x = %who", "x =%who", "time f()", "run 'x'", "run f'x'", "timeit 1"] {
        refused(code, 1, magic);
    }
    refused("y\nx?", 2, "a character that is none of Python's");
    refused("x = !ls", 1, "a character that is none of Python's");
    let divided = "a character that is a line's end to a kernel, but none to Python";
    for code in ["# a\u{2028}%run b", "'a\u{c}b'", "\"\"\"\u{85}\"\"\"", "f'\\\u{b}'"] {
        refused(code, 1, divided);
    }
    refused("f'{a +\n...: b}'", 2, "a prompt of a kernel in a replacement field");
    refused("f'{a\n[ins] In [12]: b}'", 2, "a prompt of a kernel in a replacement field");
    refused("x\n# coding: utf-7", 2, "a declaration of another encoding than UTF-8");
}

#[test]
fn a_refusal_is_one_sentence_without_the_code() {
    assert_eq!(identifiers("\n'secret").unwrap_err().to_string(), "line 2: a string does not end");
}
