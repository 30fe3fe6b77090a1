//! Who sends a request: the ways to find out, behind the port `Authenticator`.
//!
//! Reading order: [`identity`] makes a caller's id out of what is known of it; [`bearer`] reads the header; [`tokens`]
//! keeps tokens without keeping them; [`fixed`] is `auth: static`; [`claims`] makes a caller of what is claimed of it; [`refusal`] is what a client hears that is not let in.

pub mod bearer;
pub mod claims;
pub mod fixed;
pub mod identity;
pub mod refusal;
pub mod tokens;

pub use fixed::{Static, Unusable, WallClock};
pub use identity::Identity;
