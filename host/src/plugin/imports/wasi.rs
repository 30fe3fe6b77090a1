//! WASI 0.2 with nothing in it: no files, sockets, arguments or environment. Output becomes log lines.
//!
//! wasmtime's own synchronous WASI blocks the thread, and a thread of the event loop must not be blocked. So the parts
//! that could wait are written here: what is not ready at once traps.

use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::io::AsyncWrite;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime::{Result, format_err};
use wasmtime_wasi::WasiCtx;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream, WasiCli, WasiCliView as _};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView as _};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::io as waiting;
use wasmtime_wasi::p2::bindings::sockets::network::{self, ErrorCode, IpAddressFamily};
use wasmtime_wasi::p2::bindings::sockets::tcp_create_socket;
use wasmtime_wasi::p2::bindings::sync::{self, io};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random, sockets};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, DynPollable, IoError, OutputStream, Pollable, SocketError,
    SocketResult, StreamError, StreamResult, TcpSocket, UdpSocket,
};
use wasmtime_wasi::random::{WasiRandom, WasiRandomView as _};
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView as _};

use super::log;
use crate::plugin::ctx::Ctx;
use crate::plugin::limits::LOG_LINE_MAX;
use crate::plugin::place::Place;
use plugway_bindings::imports::log::Level;

/// The WASI of a new instance.
pub(in crate::plugin) fn empty(place: &Arc<Place>) -> WasiCtx {
    let mut builder = WasiCtx::builder();
    builder
        .stdout(Output { place: place.clone(), level: Level::Info })
        .stderr(Output { place: place.clone(), level: Level::Warn })
        .max_random_size(64 << 10)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false);
    builder.build()
}

/// Adds WASI to a linker; the same for both ways of calling.
pub(super) fn link(l: &mut Linker<Ctx>) -> Result<()> {
    clocks::wall_clock::add_to_linker::<Ctx, WasiClocks>(l, Ctx::clocks)?;
    clocks::monotonic_clock::add_to_linker::<Ctx, WasiClocks>(l, Ctx::clocks)?;
    filesystem::preopens::add_to_linker::<Ctx, WasiFilesystem>(l, Ctx::filesystem)?;
    sync::filesystem::types::add_to_linker::<Ctx, WasiFilesystem>(l, Ctx::filesystem)?;
    random::random::add_to_linker::<Ctx, WasiRandom>(l, |ctx| ctx.random())?;
    random::insecure::add_to_linker::<Ctx, WasiRandom>(l, |ctx| ctx.random())?;
    random::insecure_seed::add_to_linker::<Ctx, WasiRandom>(l, |ctx| ctx.random())?;
    cli::exit::add_to_linker::<Ctx, WasiCli>(l, Ctx::cli)?;
    cli::environment::add_to_linker::<Ctx, WasiCli>(l, Ctx::cli)?;
    cli::stdin::add_to_linker::<Ctx, WasiCli>(l, Ctx::cli)?;
    cli::stdout::add_to_linker::<Ctx, WasiCli>(l, Ctx::cli)?;
    cli::stderr::add_to_linker::<Ctx, WasiCli>(l, Ctx::cli)?;
    cli::terminal_input::add_to_linker::<Ctx, WasiCli>(l, Ctx::cli)?;
    cli::terminal_output::add_to_linker::<Ctx, WasiCli>(l, Ctx::cli)?;
    cli::terminal_stdin::add_to_linker::<Ctx, WasiCli>(l, Ctx::cli)?;
    cli::terminal_stdout::add_to_linker::<Ctx, WasiCli>(l, Ctx::cli)?;
    cli::terminal_stderr::add_to_linker::<Ctx, WasiCli>(l, Ctx::cli)?;
    let network = network::LinkOptions::default();
    network::add_to_linker::<Ctx, WasiSockets>(l, &network, Ctx::sockets)?;
    sockets::instance_network::add_to_linker::<Ctx, WasiSockets>(l, Ctx::sockets)?;
    sockets::ip_name_lookup::add_to_linker::<Ctx, WasiSockets>(l, Ctx::sockets)?;
    sync::sockets::tcp::add_to_linker::<Ctx, WasiSockets>(l, Ctx::sockets)?;
    sync::sockets::udp::add_to_linker::<Ctx, WasiSockets>(l, Ctx::sockets)?;
    tcp_create_socket::add_to_linker::<Ctx, NoSockets>(l, |_| Denied)?;
    sync::sockets::udp_create_socket::add_to_linker::<Ctx, NoSockets>(l, |_| Denied)?;
    waiting::error::add_to_linker::<Ctx, ErrorTable>(l, Ctx::table)?;
    io::poll::add_to_linker::<Ctx, AtOnce>(l, |ctx| Io(ctx.table()))?;
    io::streams::add_to_linker::<Ctx, AtOnce>(l, |ctx| Io(ctx.table()))
}

struct ErrorTable;

impl HasData for ErrorTable {
    type Data<'a> = &'a mut ResourceTable;
}

/// Sockets cannot be made, so nothing else about them can be used.
struct NoSockets;

impl HasData for NoSockets {
    type Data<'a> = Denied;
}

struct Denied;

impl network::Host for Denied {
    fn convert_error_code(&mut self, error: SocketError) -> Result<ErrorCode> {
        error.downcast()
    }

    fn network_error_code(&mut self, _error: Resource<IoError>) -> Result<Option<ErrorCode>> {
        Ok(None)
    }
}

impl network::HostNetwork for Denied {
    fn drop(&mut self, _network: Resource<network::Network>) -> Result<()> {
        Ok(())
    }
}

impl tcp_create_socket::Host for Denied {
    fn create_tcp_socket(&mut self, _family: IpAddressFamily) -> SocketResult<Resource<TcpSocket>> {
        Err(ErrorCode::AccessDenied.into())
    }
}

impl sync::sockets::udp_create_socket::Host for Denied {
    fn create_udp_socket(&mut self, _family: IpAddressFamily) -> SocketResult<Resource<UdpSocket>> {
        Err(ErrorCode::AccessDenied.into())
    }
}

struct AtOnce;

impl HasData for AtOnce {
    type Data<'a> = Io<'a>;
}

/// wasmtime's streams and pollables, without waiting.
struct Io<'a>(&'a mut ResourceTable);

fn wait() -> wasmtime::Error {
    format_err!("the plugin tried to wait, which plugins cannot")
}

impl io::poll::Host for Io<'_> {
    fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> Result<Vec<u32>> {
        waiting::poll::Host::poll(self.0, pollables).now_or_never().ok_or_else(wait)?
    }
}

impl io::poll::HostPollable for Io<'_> {
    fn ready(&mut self, pollable: Resource<DynPollable>) -> Result<bool> {
        waiting::poll::HostPollable::ready(self.0, pollable).now_or_never().ok_or_else(wait)?
    }

    fn block(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        waiting::poll::HostPollable::block(self.0, pollable).now_or_never().ok_or_else(wait)?
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        waiting::poll::HostPollable::drop(self.0, pollable)
    }
}

impl io::streams::Host for Io<'_> {
    fn convert_stream_error(&mut self, error: StreamError) -> Result<io::streams::StreamError> {
        io::streams::Host::convert_stream_error(self.0, error)
    }
}

fn at_once<T>(answer: Option<StreamResult<T>>) -> StreamResult<T> {
    answer.unwrap_or_else(|| Err(StreamError::Trap(wait())))
}

impl io::streams::HostOutputStream for Io<'_> {
    fn drop(&mut self, stream: Resource<DynOutputStream>) -> Result<()> {
        waiting::streams::HostOutputStream::drop(self.0, stream).now_or_never().ok_or_else(wait)?
    }

    fn check_write(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<u64> {
        waiting::streams::HostOutputStream::check_write(self.0, stream)
    }

    fn write(&mut self, stream: Resource<DynOutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        waiting::streams::HostOutputStream::write(self.0, stream, bytes)
    }

    fn blocking_write_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        bytes: Vec<u8>,
    ) -> StreamResult<()> {
        at_once(
            waiting::streams::HostOutputStream::blocking_write_and_flush(self.0, stream, bytes)
                .now_or_never(),
        )
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        len: u64,
    ) -> StreamResult<()> {
        at_once(
            waiting::streams::HostOutputStream::blocking_write_zeroes_and_flush(
                self.0, stream, len,
            )
            .now_or_never(),
        )
    }

    fn subscribe(&mut self, stream: Resource<DynOutputStream>) -> Result<Resource<DynPollable>> {
        waiting::streams::HostOutputStream::subscribe(self.0, stream)
    }

    fn write_zeroes(&mut self, stream: Resource<DynOutputStream>, len: u64) -> StreamResult<()> {
        waiting::streams::HostOutputStream::write_zeroes(self.0, stream, len)
    }

    fn flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        waiting::streams::HostOutputStream::flush(self.0, stream)
    }

    fn blocking_flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        at_once(waiting::streams::HostOutputStream::blocking_flush(self.0, stream).now_or_never())
    }

    fn splice(
        &mut self,
        to: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        waiting::streams::HostOutputStream::splice(self.0, to, from, len)
    }

    fn blocking_splice(
        &mut self,
        to: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        at_once(
            waiting::streams::HostOutputStream::blocking_splice(self.0, to, from, len)
                .now_or_never(),
        )
    }
}

impl io::streams::HostInputStream for Io<'_> {
    fn drop(&mut self, stream: Resource<DynInputStream>) -> Result<()> {
        waiting::streams::HostInputStream::drop(self.0, stream).now_or_never().ok_or_else(wait)?
    }

    fn read(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<Vec<u8>> {
        waiting::streams::HostInputStream::read(self.0, stream, len)
    }

    fn blocking_read(
        &mut self,
        stream: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<Vec<u8>> {
        at_once(
            waiting::streams::HostInputStream::blocking_read(self.0, stream, len).now_or_never(),
        )
    }

    fn skip(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        waiting::streams::HostInputStream::skip(self.0, stream, len)
    }

    fn blocking_skip(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        at_once(
            waiting::streams::HostInputStream::blocking_skip(self.0, stream, len).now_or_never(),
        )
    }

    fn subscribe(&mut self, stream: Resource<DynInputStream>) -> Result<Resource<DynPollable>> {
        waiting::streams::HostInputStream::subscribe(self.0, stream)
    }
}

/// Standard output or error of a guest.
struct Output {
    place: Arc<Place>,
    level: Level,
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(Lines { place: self.place.clone(), level: self.level, line: Vec::new() })
    }
}

/// Cuts what a guest writes into log lines.
struct Lines {
    place: Arc<Place>,
    level: Level,
    line: Vec<u8>,
}

impl Lines {
    fn end_line(&mut self) {
        if !self.line.is_empty() && self.place.may_log() {
            log::line_out(&self.place, self.level, &String::from_utf8_lossy(&self.line), None);
        }
        self.line.clear();
    }
}

impl OutputStream for Lines {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LOG_LINE_MAX.saturating_sub(self.line.len());
            self.line.extend(part.iter().filter(|byte| **byte != b'\n').take(room));
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 << 10)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Lines {
    async fn ready(&mut self) {}
}
