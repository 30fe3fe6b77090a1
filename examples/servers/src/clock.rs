//! A clock with a memory: tells the time, adds, echoes, and counts the calls of one MCP session.
//!
//! It has one of everything that a catalogue can hold, and dials for tests: more tools, pages, a delay.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::{router::tool::ToolRouter, tool::ToolCallContext, wrapper::Parameters},
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, CompletionInfo, ContentBlock, GetPromptRequestParams, GetPromptResponse,
        GetPromptResult, Implementation, InitializeRequestParams, InitializeResult,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
        Role, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    tool, tool_router,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::stats::Stats;

const ZONES: [&str; 4] = ["africa/nairobi", "america/lima", "asia/tokyo", "europe/oslo"];

/// The dials of a [`Clock`].
#[derive(Debug, Clone)]
pub struct Dials {
    /// The name the server gives itself.
    pub name: String,
    /// How many generated tools (`tool_0001`, ..) it lists besides its own.
    pub extra_tools: usize,
    /// How many tools one page of `tools/list` holds.
    pub page_size: usize,
    /// How long every tool call takes.
    pub delay: Duration,
}

impl Default for Dials {
    fn default() -> Self {
        Self {
            name: "demo-clock".to_owned(),
            extra_tools: 0,
            page_size: 100,
            delay: Duration::ZERO,
        }
    }
}

/// The server of one MCP session (of one request, in the modern era).
#[derive(Debug, Clone)]
pub struct Clock {
    dials: Arc<Dials>,
    stats: Arc<Stats>,
    calls: Arc<AtomicU64>,
    router: ToolRouter<Self>,
}

/// Arguments of `add`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Add {
    /// One summand.
    a: i64,
    /// The other one.
    b: i64,
}

/// Arguments of `echo`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Echo {
    /// What to send back.
    message: String,
}

#[tool_router]
impl Clock {
    #[tool(description = "Seconds since 1970", annotations(read_only_hint = true))]
    fn now() -> String {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_secs().to_string()
    }

    #[tool(description = "How often this MCP session has called `count`")]
    fn count(&self) -> String {
        (self.calls.fetch_add(1, Ordering::Relaxed) + 1).to_string()
    }

    #[tool(description = "Sends a message back", annotations(read_only_hint = true))]
    fn echo(Parameters(Echo { message }): Parameters<Echo>) -> String {
        message
    }

    #[tool(description = "Adds two integers", annotations(read_only_hint = true))]
    fn add(Parameters(Add { a, b }): Parameters<Add>) -> String {
        a.wrapping_add(b).to_string()
    }
}

impl Clock {
    /// A server with these dials whose calls are counted in `stats`.
    pub fn new(dials: Arc<Dials>, stats: Arc<Stats>) -> Self {
        Self { dials, stats, calls: Arc::default(), router: Self::tool_router() }
    }

    fn tools(&self) -> Vec<Tool> {
        let mut tools = self.router.list_all();
        let schema = Arc::new(rmcp::object!({"type": "object"}));
        tools.extend((1..=self.dials.extra_tools).map(|n| {
            Tool::new(format!("tool_{n:04}"), format!("Generated tool {n}"), Arc::clone(&schema))
        }));
        tools
    }

    fn is_generated(&self, name: &str) -> bool {
        name.strip_prefix("tool_")
            .and_then(|digits| digits.parse().ok())
            .is_some_and(|n: usize| (1..=self.dials.extra_tools).contains(&n))
    }
}

impl ServerHandler for Clock {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(&self.dials.name, env!("CARGO_PKG_VERSION")))
            .with_instructions("Tells the time and counts your calls.")
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.stats.count_session();
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.stats.count_list();
        let tools = self.tools();
        let start = match request.and_then(|request| request.cursor) {
            None => 0,
            Some(cursor) => cursor
                .parse()
                .ok()
                .filter(|start| *start < tools.len())
                .ok_or_else(|| ErrorData::invalid_params("unknown cursor", None))?,
        };
        let end = start.saturating_add(self.dials.page_size.max(1));
        let next_cursor = (end < tools.len()).then(|| end.to_string());
        let page = tools.into_iter().skip(start).take(self.dials.page_size.max(1)).collect();
        Ok(ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(page) })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.stats.count_call();
        if !self.dials.delay.is_zero() {
            tokio::time::sleep(self.dials.delay).await;
        }
        if self.is_generated(&request.name) {
            let text = ContentBlock::text(request.name.into_owned());
            return Ok(CallToolResult::success(vec![text]).into());
        }
        self.router.call(ToolCallContext::new(self, request, context)).await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let zone = PromptArgument::new("zone").with_description("a time zone").with_required(true);
        let prompt = Prompt::new("ask_time", Some("Asks for the time somewhere"), Some(vec![zone]));
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != "ask_time" {
            return Err(ErrorData::invalid_params("unknown prompt", None));
        }
        let zone = request.arguments.as_ref().and_then(|given| given.get("zone")?.as_str());
        let zone = zone.ok_or_else(|| ErrorData::invalid_params("`zone` is missing", None))?;
        let message =
            PromptMessage::new_text(Role::User, format!("What time is it in {zone}? Use `now`."));
        Ok(GetPromptResult::new(vec![message]).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let zones = Resource::new("clock://zones", "zones").with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![zones]))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let zone = ResourceTemplate::new("clock://zone/{zone}", "zone");
        Ok(ListResourceTemplatesResult::with_all_items(vec![zone]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let text = match request.uri.strip_prefix("clock://") {
            Some("zones") => Some(ZONES.join("\n")),
            Some(rest) => rest.strip_prefix("zone/").map(|zone| format!("a zone named {zone}")),
            None => None,
        };
        let text = text.ok_or_else(|| ErrorData::resource_not_found("no such resource", None))?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let typed = request.argument.value.as_str();
        let fitting = ZONES.iter().filter(|zone| zone.starts_with(typed));
        let info =
            CompletionInfo::with_all_values(fitting.map(|zone| (*zone).to_owned()).collect())
                .map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(info))
    }
}
