//! The gateway policy of plugway: [`rules`] decides by the operator's ordered rules, [`code`] reads the names that Python
//! code uses, [`understood`] says how the entries of lists are understood.

pub mod code;
pub mod rules;
pub mod understood;
