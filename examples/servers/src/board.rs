//! A notice board: its notes are resources that clients subscribe to, and it says aloud what it is told to.
//!
//! It speaks both eras, or only the one that it was started for.
#![expect(deprecated, reason = "clients of today use log levels")]

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler,
    handler::server::{router::tool::ToolRouter, tool::ToolCallContext, wrapper::Parameters},
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, InitializeRequestParams,
        InitializeResult, ListResourcesResult, ListToolsResult, LoggingLevel,
        LoggingMessageNotificationParam, PaginatedRequestParams, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
        ResourceContents, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
    tool, tool_router,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::broadcast;

/// Changes that may wait for one listener.
const CHANGES: usize = 64;

/// Which era a board speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Era {
    /// Both.
    Both,
    /// Revisions with sessions.
    Legacy,
    /// The stateless revision.
    Modern,
}

/// What hangs on the board, the same for everybody.
#[derive(Debug)]
pub struct Notes {
    texts: Mutex<BTreeMap<String, String>>,
    /// Tools besides the server's own.
    extra: Mutex<usize>,
    changes: broadcast::Sender<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    /// The text of the note with this URI.
    Note(String),
    /// There is a new note.
    Notes,
    /// There is a new tool.
    Tools,
}

/// The server of one MCP session (of one request, in the modern era).
#[derive(Debug, Clone)]
pub struct Board {
    era: Era,
    notes: Arc<Notes>,
    session: Arc<Mutex<Session>>,
    router: ToolRouter<Self>,
}

/// What a session was told.
#[derive(Debug, Default)]
struct Session {
    subscribed: BTreeSet<String>,
    levels: Vec<LoggingLevel>,
}

/// Arguments of `pin`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Pin {
    /// The name of the note.
    name: String,
    /// What it says now.
    text: String,
}

/// Arguments of `speak`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Speak {
    /// How grave it is, in the words of RFC 5424; every level where none is given.
    level: Option<String>,
}

impl Default for Notes {
    fn default() -> Self {
        let texts = BTreeMap::from(["a", "b"].map(|name| (name.to_owned(), String::new())));
        let (extra, changes) = (Mutex::default(), broadcast::Sender::new(CHANGES));
        Self { texts: Mutex::new(texts), extra, changes }
    }
}

impl Notes {
    fn texts(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the note `a` again and again, until this is dropped.
    pub async fn change_every(&self, pause: Duration) {
        loop {
            tokio::time::sleep(pause).await;
            self.tell(Change::Note(uri("a")));
        }
    }

    fn tell(&self, change: Change) {
        // Nobody may be listening.
        drop(self.changes.send(change));
    }
}

#[tool_router]
impl Board {
    #[tool(description = "Changes a note, or pins a new one")]
    fn pin(&self, Parameters(Pin { name, text }): Parameters<Pin>) -> String {
        let uri = uri(&name);
        if self.notes.texts().insert(name, text).is_none() {
            self.notes.tell(Change::Notes);
        }
        self.notes.tell(Change::Note(uri.clone()));
        uri
    }

    #[tool(description = "Sends a log message, whatever level was asked for")]
    async fn speak(
        &self,
        Parameters(Speak { level }): Parameters<Speak>,
        context: RequestContext<RoleServer>,
    ) -> String {
        for word in LEVELS.iter().filter(|known| level.as_ref().is_none_or(|one| one == **known)) {
            if let Ok(level) = serde_json::from_value(serde_json::Value::from(*word)) {
                let message = LoggingMessageNotificationParam::new(level, (*word).into());
                let message = message.with_logger("board/speech");
                // A client that is gone hears nothing.
                drop(context.peer.notify_logging_message(message).await);
            }
        }
        "spoken".to_owned()
    }

    #[tool(description = "What this session was told: its subscriptions and its levels")]
    fn told(&self) -> String {
        let session = self.session();
        serde_json::json!({"subscribed": session.subscribed, "levels": session.levels}).to_string()
    }

    #[tool(description = "Adds a tool")]
    fn grow(&self) -> String {
        let mut extra = self.notes.extra.lock().unwrap_or_else(PoisonError::into_inner);
        *extra += 1;
        self.notes.tell(Change::Tools);
        extra.to_string()
    }

    #[tool(description = "Ends this process without an answer")]
    fn crash() -> String {
        std::process::abort()
    }
}

const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

fn uri(name: &str) -> String {
    format!("board://notes/{name}")
}

impl Board {
    /// A board that shows these notes.
    pub fn new(era: Era, notes: Arc<Notes>) -> Self {
        Self { era, notes, session: Arc::default(), router: Self::tool_router() }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the client of a session what changes, as long as it is there.
    async fn follow(self, peer: Peer<RoleServer>, mut changes: broadcast::Receiver<Change>) {
        while let Ok(change) = changes.recv().await {
            let told = match change {
                Change::Note(uri) if self.session().subscribed.contains(&uri) => {
                    peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                }
                Change::Note(_) => Ok(()),
                Change::Notes => peer.notify_resource_list_changed().await,
                Change::Tools => peer.notify_tool_list_changed().await,
            };
            if told.is_err() {
                return;
            }
        }
    }
}

impl ServerHandler for Board {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("demo-board", env!("CARGO_PKG_VERSION")))
            .with_instructions("Subscribe to notes to hear of their changes.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let speaks = |version: &&ProtocolVersion| match self.era {
            Era::Both => true,
            Era::Legacy => version.has_initialize(),
            Era::Modern => !version.has_initialize(),
        };
        ProtocolVersion::KNOWN_VERSIONS.iter().filter(speaks).cloned().collect()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.era == Era::Modern {
            return Err(ErrorData::invalid_request("there are no sessions here", None));
        }
        context.peer.set_peer_info(request.clone());
        let changes = self.notes.changes.subscribe();
        tokio::spawn(self.clone().follow(context.peer, changes));
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = self.router.list_all();
        let schema = Arc::new(rmcp::object!({"type": "object"}));
        let extra = *self.notes.extra.lock().unwrap_or_else(PoisonError::into_inner);
        let extra = (1..=extra).map(|n| {
            Tool::new(format!("extra_{n}"), "One of those that grew", Arc::clone(&schema))
        });
        tools.extend(extra);
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.router.get(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.router.call(ToolCallContext::new(self, request, context)).await
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let names: Vec<String> = self.notes.texts().keys().cloned().collect();
        let notes = names.into_iter().map(|name| Resource::new(uri(&name), name)).collect();
        Ok(ListResourcesResult::with_all_items(notes))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let name = request.uri.strip_prefix("board://notes/").unwrap_or_default();
        let text = self.notes.texts().get(name).cloned();
        let text = text.ok_or_else(|| ErrorData::resource_not_found("no such note", None))?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session().levels.push(request.level);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session().subscribed.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session().subscribed.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.notes.changes.subscribe();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            let Ok(change) = change else { return Ok(()) };
            let sink = context.sink();
            // What was not asked for is refused by the sink.
            drop(match change {
                Change::Note(uri) => sink.notify_resource_updated(uri).await,
                Change::Notes => sink.notify_resource_list_changed().await,
                Change::Tools => sink.notify_tool_list_changed().await,
            });
        }
    }
}
