//! Tools that the router answers itself, over everything that stands behind its connector.
//!
//! In reading order: [`packed`] and [`bm25`] find documents by words; [`catalogue`] reads what a code-execution server says
//! of its functions and skills, [`bounded`] as far as there is memory; [`functions`] makes entries of them, for policies to judge; [`shares`] and [`rooms`] keep one server from taking
//! the place of all; [`prepared`] is what a shape leaves for the calls after it, [`wire`] its text, [`words`], [`found`],
//! [`cost`] and [`gather`] make it; [`sight`] is what the caller may know of that; [`search`], [`plan`] and [`skills`] answer,
//! and [`published`] tells other connectors; [`offers`] names and describes the tools.

pub mod packed;

pub mod bm25;
mod bounded;
pub mod catalogue;
mod cost;
mod found;
mod functions;
pub mod gather;
pub mod offers;
pub mod plan;
pub mod prepared;
pub mod published;
mod rooms;
pub mod search;
pub mod shares;
pub mod sight;
pub mod skills;
pub mod wire;
pub mod words;

/// The text, or what of it fits into so many bytes, with a sign that something is missing.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let kept = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
    [kept, "…"].concat()
}
