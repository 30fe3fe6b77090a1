//! `asking-server`: an MCP server of the official Rust SDK whose tools ask its client. Prints its URL and serves until it is
//! killed, or, with `--stdio`, serves the client that started it.
#![expect(clippy::print_stdout, reason = "the line with the URL is this program's answer")]

use std::sync::{Arc, Mutex, PoisonError};

use plugway_demo_servers::{
    http::{Sessions, serve},
    stats::Stats,
};
use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
        ServerConfig, ServerRequest, Tool,
    },
    service::{NotificationContext, PeerRequestOptions, RequestContext},
    transport::stdio,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const TOOLS: [(&str, &str); 6] = [
    ("ask", "Sends the client the request `method` with `params`; what it answered."),
    ("ask_later", "Does so once the call has its result."),
    ("give_up", "Does so, and gives the request up at once."),
    (
        "require",
        "Asks for that in its result, as a server of 2026-07-28 does; what it was answered.",
    ),
    ("claims", "The capabilities of the client."),
    ("outcomes", "What every client answered so far, and the progress that any reported."),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let asking = Asking::default();
    if std::env::args().any(|word| word == "--stdio") {
        Box::pin(asking.serve(stdio())).await?.waiting().await?;
        return Ok(());
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    serve(listener, Sessions::Stateful, Arc::new(Stats::default()), move || asking.clone()).await?;
    Ok(())
}

/// A result that asks for what the arguments are.
fn required(call: &CallToolRequestParams) -> serde_json::Result<CallToolResponse> {
    let questions =
        json!({"resultType": "input_required", "inputRequests": {"it": call.arguments}});
    Ok(CallToolResponse::InputRequired(serde_json::from_value(questions)?))
}

#[derive(Debug, Clone, Default)]
struct Asking {
    outcomes: Arc<Mutex<Vec<Value>>>,
}

impl Asking {
    fn note(&self, outcome: Value) {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
    }

    async fn ask(&self, peer: &Peer<RoleServer>, request: ServerRequest) -> Value {
        let outcome = match peer.send_request(request).await {
            Ok(answer) => json!({"result": answer}),
            Err(rmcp::ServiceError::McpError(error)) => json!({"error": error}),
            Err(error) => json!({"failed": error.to_string()}),
        };
        self.note(outcome.clone());
        outcome
    }

    async fn run(
        &self,
        call: CallToolRequestParams,
        peer: Peer<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let asked = || {
            let asked = Value::from(call.arguments.clone());
            serde_json::from_value::<ServerRequest>(asked)
                .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
        };
        Ok(match &*call.name {
            "ask" => self.ask(&peer, asked()?).await,
            "ask_later" => {
                let (asking, request) = (self.clone(), asked()?);
                tokio::spawn(async move { asking.ask(&peer, request).await });
                Value::Null
            }
            "give_up" => {
                let options = PeerRequestOptions::no_options();
                let sent = peer.send_cancellable_request(asked()?, options).await;
                let given_up = match sent {
                    Ok(sent) => sent.cancel(None).await,
                    Err(error) => Err(error),
                };
                json!(given_up.is_ok())
            }
            "require" => json!(call.input_responses),
            "claims" => json!(peer.peer_info().map(|client| client.capabilities.clone())),
            "outcomes" => {
                self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).clone().into()
            }
            other => return Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        })
    }
}

impl ServerHandler for Asking {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("asking-server", "0"))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(json!({"type": "object"}).as_object().cloned().unwrap_or_default());
        let define = |(name, text)| Tool::new(name, text, Arc::clone(&schema));
        Ok(ListToolsResult::with_all_items(TOOLS.map(define).to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "require" && request.input_responses.is_none() {
            return required(&request)
                .map_err(|error| ErrorData::invalid_params(error.to_string(), None));
        }
        let outcome = self.run(request, context.peer).await?;
        Ok(CallToolResult::success(vec![ContentBlock::text(outcome.to_string())]).into())
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _context: NotificationContext<RoleServer>,
    ) {
        self.note(json!({"progress": progress}));
    }
}
