//! The plugins that the binary carries.

/// The default router.
pub const ROUTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugway_router.wasm"));
