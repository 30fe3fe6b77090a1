//! A notebook: whatever one process was told, it tells again.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{
    ServerHandler,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{Implementation, ServerCapabilities, ServerConfig},
    tool, tool_handler, tool_router,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// The notebook's server.
#[derive(Debug, Clone)]
pub struct Notes {
    notes: Arc<Mutex<Vec<String>>>,
    tools: ToolRouter<Self>,
}

/// Arguments of `add_note`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AddNote {
    /// What to remember.
    text: String,
}

impl Default for Notes {
    fn default() -> Self {
        Self { notes: Arc::default(), tools: Self::tool_router() }
    }
}

#[tool_router]
impl Notes {
    #[tool(description = "Remember a line of text")]
    fn add_note(&self, Parameters(AddNote { text }): Parameters<AddNote>) -> String {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(text);
        format!("noted; {} in all", notes.len())
    }

    #[tool(
        description = "Everything that was noted, one line each",
        annotations(read_only_hint = true)
    )]
    fn list_notes(&self) -> String {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    #[tool(description = "The process that keeps these notes", annotations(read_only_hint = true))]
    fn process_id() -> String {
        std::process::id().to_string()
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("demo-notes", env!("CARGO_PKG_VERSION")))
            .with_instructions("Keeps notes for as long as this process lives.")
    }
}
