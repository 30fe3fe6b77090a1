//! The listener of administration: a loopback address, or a Unix socket that its owner alone can use.

use std::convert::Infallible;
#[cfg(unix)]
use std::fs::Permissions;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::{UnixListener, UnixSocket};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::admin::{Desk, Entrance};

/// Connections at once; one more waits in the system's queue.
const CONNECTIONS: usize = 16;
/// Time for the head of a request to arrive, idle time before it included.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Time that one connection may stay: who does not read what was asked for holds its place no longer.
const CONNECTION_TIME: Duration = Duration::from_mins(5);
/// Time for answers in the making when plugway stops.
const DRAIN_TIME: Duration = Duration::from_secs(5);
/// Connections that wait to be accepted.
#[cfg(unix)]
const BACKLOG: u32 = 64;

/// Where administrators come in.
#[derive(Debug)]
pub enum AdminSocket {
    /// A loopback address.
    Tcp(TcpListener),
    /// A Unix socket; its file is removed with it.
    #[cfg(unix)]
    Unix(UnixListener, SocketFile),
}

/// The file of a socket, removed when it is dropped.
#[cfg(unix)]
#[derive(Debug)]
pub struct SocketFile(PathBuf);

#[cfg(unix)]
impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::debug!(%error, "the socket of administration was not there any more");
        }
    }
}

impl AdminSocket {
    /// A Unix socket at this path. Nobody can connect before its mode is 0600: it does not listen until then. A file that
    /// a plugway left behind is replaced; anything else is not touched.
    #[cfg(unix)]
    pub fn unix(path: &Path) -> io::Result<Self> {
        remove_abandoned(path)?;
        let socket = UnixSocket::new_stream()?;
        socket.bind(path)?;
        let file = SocketFile(path.to_owned());
        std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(Self::Unix(socket.listen(BACKLOG)?, file))
    }

    /// There are no modes of sockets here.
    #[cfg(not(unix))]
    pub fn unix(_: &Path) -> io::Result<Self> {
        let why = "sockets in files cannot be kept from others on this system: use `listen`";
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }
}

#[cfg(unix)]
fn remove_abandoned(path: &Path) -> io::Result<()> {
    let there = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        there => there?,
    };
    if !there.file_type().is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "there is a file that is no socket",
        ));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_somebody) => Err(io::ErrorKind::AddrInUse.into()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path)
        }
        Err(error) => Err(error),
    }
}

/// Serves administrators until `stop` is cancelled.
pub async fn serve(socket: AdminSocket, desk: Arc<Desk>, stop: CancellationToken) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    let tasks = TaskTracker::new();
    loop {
        let Ok(permit) = permits.clone().acquire_owned().await else { break };
        let (desk, until) = (desk.clone(), stop.clone());
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&socket) => accepted,
        };
        match accepted {
            Ok(Accepted::Tcp(stream, from)) => {
                tasks.spawn(async move {
                    connection(stream, Entrance::Tcp(from), desk, until).await;
                    drop(permit);
                });
            }
            #[cfg(unix)]
            Ok(Accepted::Unix(stream)) => {
                tasks.spawn(async move {
                    connection(stream, Entrance::Unix, desk, until).await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "an administrator's connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(socket);
    tasks.close();
    if tokio::time::timeout(DRAIN_TIME, tasks.wait()).await.is_err() {
        tracing::warn!("stopped with connections of administrators still open");
    }
}

enum Accepted {
    Tcp(tokio::net::TcpStream, String),
    #[cfg(unix)]
    Unix(tokio::net::UnixStream),
}

async fn accept(socket: &AdminSocket) -> io::Result<Accepted> {
    match socket {
        AdminSocket::Tcp(listener) => {
            let (stream, from) = listener.accept().await?;
            Ok(Accepted::Tcp(stream, from.to_string()))
        }
        #[cfg(unix)]
        AdminSocket::Unix(listener, _) => Ok(Accepted::Unix(listener.accept().await?.0)),
    }
}

async fn connection<S>(stream: S, from: Entrance, desk: Arc<Desk>, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let (desk, from) = (desk.clone(), from.clone());
        async move { Ok::<_, Infallible>(desk.answer(&from, request.into_parts().0).await) }
    });
    let mut connection = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(16 * 1024)
            .serve_connection(TokioIo::new(stream), service)
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = tokio::time::sleep(CONNECTION_TIME) => return,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "an administrator's connection broke off");
    }
}
