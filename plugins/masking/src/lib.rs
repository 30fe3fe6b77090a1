//! Masks secrets and personal data in what servers send, before any byte of it reaches a client.
//!
//! In reading order: [`kind`] is what can be found, [`find`] finds it in a text, [`masker`] puts something else in its place,
//! [`document`] does that to every string of a JSON text and leaves all other bytes alone, [`json`] reads and writes strings of
//! JSON, [`blob`] is text in Base64, [`config`] is what operators write, [`component`] is the plugin.

pub mod kind;

pub mod find;
pub mod masker;

pub mod document;

mod blob;
pub mod config;
mod json;

pub mod component;

#[cfg(test)]
mod tests;
