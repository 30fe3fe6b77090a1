//! Serves an MCP handler over Streamable HTTP with hyper: `/mcp`, `/stats` and `/health`.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio::{net::TcpListener, task::JoinSet};

use crate::stats::Stats;

/// What is answered.
pub type Reply = Response<BoxBody<Bytes, Infallible>>;

/// How the transport behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    /// The SDK's default: a session per legacy client, answers as event streams.
    Stateful,
    /// No sessions; answers are plain JSON wherever one message suffices.
    StatelessJson,
}

/// Serves `handler` on `listener` until the future is dropped; the connections end with it.
pub async fn serve<S: ServerHandler>(
    listener: TcpListener,
    sessions: Sessions,
    stats: Arc<Stats>,
    handler: impl Fn() -> S + Send + Sync + 'static,
) -> std::io::Result<()> {
    let stateful = sessions == Sessions::Stateful;
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(stateful)
        .with_json_response(!stateful)
        .enforce_origin_validation();
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(Duration::from_hours(1));
    let mcp = StreamableHttpService::new(move || Ok(handler()), Arc::new(manager), config);
    accept(listener, stats, TowerToHyperService::new(mcp)).await
}

/// Serves `mcp` at `/mcp` on `listener` until the future is dropped; the connections end with it.
pub async fn accept<M>(listener: TcpListener, stats: Arc<Stats>, mcp: M) -> std::io::Result<()>
where
    M: Service<Request<Incoming>, Response = Reply, Error = Infallible> + Clone + Send + 'static,
    M::Future: Send,
    M: Sync,
{
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        stats.count_connection();
        let (mcp, stats) = (mcp.clone(), Arc::clone(&stats));
        connections.spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let (mcp, stats) = (mcp.clone(), Arc::clone(&stats));
                async move { Ok::<_, Infallible>(answer(mcp, &stats, request).await) }
            });
            // A client that breaks its own connection is no event for a demo server.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer<M>(mcp: M, stats: &Stats, request: Request<Incoming>) -> Reply
where
    M: Service<Request<Incoming>, Response = Reply, Error = Infallible>,
{
    match (request.method(), request.uri().path()) {
        (_, "/mcp") => {
            stats.count_request();
            match mcp.call(request).await {
                Ok(reply) => reply,
                Err(never) => match never {},
            }
        }
        (&Method::GET, "/stats") => json(StatusCode::OK, stats.to_json().to_string()),
        (&Method::GET, "/health") => json(StatusCode::OK, r#"{"status":"ok"}"#.to_owned()),
        _ => json(StatusCode::NOT_FOUND, r#"{"error":"not found"}"#.to_owned()),
    }
}

fn json(status: StatusCode, body: String) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(body)).boxed());
    *reply.status_mut() = status;
    reply
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    reply
}
