//! Serving until a signal comes.

use std::io;
use std::pin::Pin;

use tokio_util::sync::CancellationToken;

use self::system::{Said, Signals};
use super::application::{self, Rereading};
use super::exit::{Exit, Failure};
use crate::config::Settings;

/// Which of the two ways of serving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A listener.
    Listener,
    /// Standard input and output.
    Pipes,
}

/// Serves until a signal asks plugway to end, then lets calls in progress end; a second one cuts that short. SIGHUP
/// has the configuration read again; without anything to read it ends the process, as it does by default.
pub(super) async fn until_signal(
    settings: Settings,
    rereading: Option<Rereading>,
    way: Way,
) -> Result<(), Failure> {
    let stop = CancellationToken::new();
    let mut signals = Signals::new(rereading.is_some()).map_err(|error| no_signals(&error))?;
    let bell = rereading.as_ref().map(|rereading| rereading.hangup.clone());
    let mut serving: Pin<Box<dyn Future<Output = Result<(), Failure>>>> = match way {
        Way::Listener => Box::pin(application::serve(settings, rereading, stop.clone())),
        Way::Pipes => Box::pin(application::stdio(settings, rereading, stop.clone())),
    };
    loop {
        tokio::select! {
            ended = serving.as_mut() => return ended,
            said = signals.next() => match (said, &bell) {
                (Said::ReadAgain, Some(bell)) => bell.notify_one(),
                _ => break,
            },
        }
    }
    stop.cancel();
    loop {
        // Who signals twice does not want to wait.
        tokio::select! {
            ended = serving.as_mut() => return ended,
            said = signals.next() => if said == Said::End { return Ok(()) },
        }
    }
}

fn no_signals(error: &io::Error) -> Failure {
    Failure::new(
        Exit::Internal,
        format!("signals cannot be received: {error}"),
        "look at the limits of open files (`ulimit -n`)",
    )
}

#[cfg(unix)]
mod system {
    use std::future::pending;
    use std::io;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// What a signal says.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Said {
        End,
        ReadAgain,
    }

    /// SIGINT and SIGTERM, and SIGHUP where it is wanted.
    #[derive(Debug)]
    pub(super) struct Signals {
        interrupt: Signal,
        terminate: Signal,
        hangup: Option<Signal>,
    }

    impl Signals {
        pub(super) fn new(hangup: bool) -> io::Result<Self> {
            let hangup = hangup.then(|| signal(SignalKind::hangup())).transpose()?;
            let interrupt = signal(SignalKind::interrupt())?;
            Ok(Self { interrupt, terminate: signal(SignalKind::terminate())?, hangup })
        }

        /// The next one.
        pub(super) async fn next(&mut self) -> Said {
            let hangup = async {
                match &mut self.hangup {
                    Some(hangup) => hangup.recv().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                _ = self.interrupt.recv() => Said::End,
                _ = self.terminate.recv() => Said::End,
                _ = hangup => Said::ReadAgain,
            }
        }
    }
}

#[cfg(windows)]
mod system {
    use std::io;

    use tokio::signal::windows::{
        CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
    };

    /// What the console says: there is nothing like SIGHUP.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Said {
        End,
        #[expect(dead_code, reason = "no event of the console means it")]
        ReadAgain,
    }

    /// What asks a program to end: Ctrl-C, Ctrl-Break, a closed console, a system that shuts down.
    #[derive(Debug)]
    pub(super) struct Signals {
        interrupt: CtrlC,
        terminate: CtrlBreak,
        close: CtrlClose,
        shutdown: CtrlShutdown,
    }

    impl Signals {
        pub(super) fn new(_hangup: bool) -> io::Result<Self> {
            let (interrupt, terminate) = (ctrl_c()?, ctrl_break()?);
            Ok(Self { interrupt, terminate, close: ctrl_close()?, shutdown: ctrl_shutdown()? })
        }

        /// The next one.
        pub(super) async fn next(&mut self) -> Said {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.terminate.recv() => {}
                _ = self.close.recv() => {}
                _ = self.shutdown.recv() => {}
            }
            Said::End
        }
    }
}
