//! The only file of the command line that names the composition root: what it builds, and how its errors end the
//! process.

use tokio_util::sync::CancellationToken;

use super::exit::{Exit, Failure};
use crate::app::{self, StartError};
use crate::config::{ConnectorSettings, Settings};
use crate::pipeline::explain::{Explanation, Question};

pub(super) use crate::app::Rereading;

/// Serves until `stop` is cancelled.
pub(super) async fn serve(
    settings: Settings,
    rereading: Option<Rereading>,
    stop: CancellationToken,
) -> Result<(), Failure> {
    Box::pin(app::serve(settings, rereading, stop)).await.map_err(|error| failure(&error))
}

/// Serves the first connector over standard input and output.
pub(super) async fn stdio(
    settings: Settings,
    rereading: Option<Rereading>,
    stop: CancellationToken,
) -> Result<(), Failure> {
    Box::pin(app::stdio(settings, rereading, stop)).await.map_err(|error| failure(&error))
}

/// Loads every plugin as serving would, and says what it found; starts and reads the servers, too, if asked to.
pub(super) async fn check(settings: &Settings, connect: bool) -> Result<Vec<String>, Failure> {
    Box::pin(app::check(settings, connect)).await.map_err(|error| failure(&error))
}

/// What the policies of a connector say of a call.
pub(super) async fn explain(
    settings: &Settings,
    connector: &ConnectorSettings,
    question: Question,
) -> Result<Explanation, Failure> {
    app::explain(settings, connector, question).await.map_err(|error| failure(&error))
}

fn failure(error: &StartError) -> Failure {
    let (exit, hint) = match error {
        StartError::Listen { .. } => {
            (Exit::Listen, "end the program that has the address, or take another with --listen")
        }
        StartError::Plugin { .. } | StartError::NoPlugin { .. } => {
            (Exit::Plugin, "correct its entry under `plugins`, or its file")
        }
        StartError::AdminListen { .. } => {
            (Exit::Listen, "end the program that has it, or name another under `admin`")
        }
        StartError::AdminToken(_) => (Exit::Refused, "correct `admin.token_file`, or the file"),
        StartError::Auth(_) => (Exit::Refused, "correct the tokens under `auth`"),
        StartError::Misfit { .. } => {
            (Exit::Refused, "correct what the router's `config` says, or the servers")
        }
        StartError::Upstream { .. } => (Exit::Refused, "correct its entry under `upstreams`"),
        StartError::Audit(_) => (Exit::Refused, "correct `audit.file`, or who may write there"),
        StartError::System(_) => (Exit::Internal, "this is a fault of the system under plugway"),
    };
    Failure::new(exit, error, hint)
}
