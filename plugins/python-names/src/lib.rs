//! The names that Python code uses, as far as its text says them.
//!
//! A tokeniser of Python 3.12 and later, no parser: what it accepts may still be no program, but whatever Python would run has
//! exactly these names. Where that is not certain, the code is refused: unterminated strings, brackets without their
//! partner, characters that are none of Python's, and what an interactive kernel (`IPython`) makes other code of, before Python
//! sees it.
//!
//! Reading order: [`names`] is the door, [`lexer`] goes over code, [`strings`] over literals and what is nested in them,
//! [`numbers`] over numbers; [`words`](mod@words) is for what is refused; [`kernel`] knows what a kernel would rewrite; [`cursor`] is the place in the text and
//! [`refusal`] what is said.

pub mod names;
pub mod refusal;
pub mod words;

mod cursor;
mod kernel;
mod lexer;
mod numbers;
mod strings;

#[cfg(test)]
mod tests;

pub use names::{find, identifiers};
pub use refusal::NotPython;
pub use words::words;
