//! The gateway policy of plugway: [`rules`] decides by the operator's ordered rules, [`code`] reads the names that Python
//! code uses.

pub mod code;
pub mod rules;
