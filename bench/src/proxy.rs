//! The baseline: hyper in front of hyper, streaming both bodies, looking at nothing.

use std::net::SocketAddr;

use anyhow::Result;
use http::{HeaderName, Request, Response, Uri, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpListener;

const HOP_BY_HOP: [HeaderName; 3] =
    [header::CONNECTION, header::TRANSFER_ENCODING, header::UPGRADE];

/// Serves on a free port and prints its address.
pub(crate) async fn serve(upstream: SocketAddr) -> Result<()> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Client<_, Incoming> = Client::builder(TokioExecutor::new()).build(connector);
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let client = client.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| forward(client.clone(), upstream, request));
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
            drop(served);
        });
    }
}

async fn forward(
    client: Client<HttpConnector, Incoming>,
    upstream: SocketAddr,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, Error> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let uri: Uri = format!("http://{upstream}{path}").parse().unwrap_or_default();
    *request.uri_mut() = uri;
    for name in HOP_BY_HOP {
        request.headers_mut().remove(name);
    }
    request.headers_mut().remove(header::HOST);
    let mut reply = client.request(request).await?;
    for name in HOP_BY_HOP {
        reply.headers_mut().remove(name);
    }
    Ok(reply)
}
