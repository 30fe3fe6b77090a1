//! The schema of the configuration, for editors, and the reference, for people. Both are made of the types in
//! [`file`](super::file) and their comments, and checked in; tests tell when they are not current.
//!
//! Reading order: [`json`] makes the schema, [`forms`] knows the forms that are not plain structs, [`mod@markdown`] turns the
//! schema into the reference.

mod forms;
mod json;
mod markdown;

#[cfg(test)]
mod tests;

pub use json::schema;
pub use markdown::markdown;
