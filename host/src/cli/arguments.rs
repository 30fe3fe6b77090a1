//! What may be written on the command line. The comments are the help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::exit;
use crate::config::{Environment, Flags, Source};
use crate::telemetry::log::Format;

/// A proxy for the Model Context Protocol whose decisions are WebAssembly components.
#[derive(Clone, Debug, Parser)]
#[command(name = "plugway", version, after_help = exit::HELP, disable_help_subcommand = true)]
pub(super) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
    /// How the log on stderr is written.
    #[arg(long, value_name = "FORMAT", global = true, default_value = "human")]
    pub(super) log_format: LogFormat,
    /// How much is logged: a level, or directives such as `info,plugway::upstream=debug`. Default: the variable
    /// `PLUGWAY_LOG`, else `info`.
    #[arg(long, value_name = "LEVEL", global = true)]
    pub(super) log_level: Option<String>,
}

/// The subcommands.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Command {
    /// Serves a configuration.
    Serve(Serve),
    /// Serves one connector to the program that starts this one, over standard input and output.
    Stdio(Stdio),
    /// Explains what a configuration would run, or everything that is wrong with it.
    Check(Check),
    /// Asks the policies of a configuration.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Makes a configuration, and a file of secrets, of a file of Claude Desktop, Cursor, VS Code or another client.
    Import(Import),
    /// Prints the JSON Schema of a configuration, or its reference.
    Schema(Schema),
    /// Shows, compares and approves what servers say of their tools, prompts and resources (`pin` in the configuration).
    #[command(subcommand)]
    Pins(Pins),
    /// Serves one MCP server without a configuration file: `plugway try --url URL` or `plugway try -- COMMAND ARGS`.
    Try(Try),
    /// Asks a running plugway whether it lives: for container health checks.
    Health(Health),
    /// Looks at files of the audit.
    Audit(Audit),
}

/// A configuration and where to serve it.
#[derive(Clone, Debug, Args)]
pub(super) struct Serve {
    /// The configuration file: plugway's own, or a `RouterConfig` of agora-workbench in YAML or JSON. Default:
    /// `plugway.yaml`; where that does not exist, the variables `UPSTREAM_<NAME>_URL` of the environment.
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// In place of a configuration: a file of Claude Desktop, Cursor, VS Code or another client, as it is.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(super) mcp_servers: Option<PathBuf>,
    /// The listener.
    #[command(flatten)]
    pub(super) listen: Listen,
}

/// A configuration and how far to try it.
#[derive(Clone, Debug, Args)]
pub(super) struct Check {
    /// The configuration.
    #[command(flatten)]
    pub(super) serve: Serve,
    /// Starts and reads the servers, too: says what each entry of the policies is about, and warns of those that are about
    /// nothing.
    #[arg(long)]
    pub(super) connect: bool,
}

/// What policies can be asked.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Says what the policies of a connector make of a call, and which rule decides. No server is started, and nothing is
    /// counted.
    Explain(Explain),
}

/// A call that nobody makes.
#[derive(Clone, Debug, Args)]
pub(super) struct Explain {
    /// The configuration file, as for `plugway serve`.
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// The claims of the caller, a JSON object: `sub`, `client_id`, `tenant`, `scope` or `scopes`, and any other claim.
    #[arg(long, value_name = "FILE")]
    pub(super) caller: PathBuf,
    /// The call, a JSON object: `tool`, `upstream`, `own_name`, `runs_code`, `functions`, `arguments`, `hints`,
    /// `method`, `session`.
    #[arg(long, value_name = "FILE")]
    pub(super) call: PathBuf,
    /// The connector, where there are several.
    #[arg(long, value_name = "NAME")]
    pub(super) connector: Option<String>,
}

impl Explain {
    /// Where the settings are read from.
    pub(super) fn source(&self, environment: &Environment) -> Source {
        source(self.file.as_ref(), None, environment)
    }
}

impl Serve {
    /// Where the settings are read from.
    pub(super) fn source(&self, environment: &Environment) -> Source {
        source(self.file.as_ref(), self.mcp_servers.as_ref(), environment)
    }
}

impl Stdio {
    /// Where the settings are read from.
    pub(super) fn source(&self, environment: &Environment) -> Source {
        source(self.file.as_ref(), self.mcp_servers.as_ref(), environment)
    }
}

fn source(file: Option<&PathBuf>, desktop: Option<&PathBuf>, environment: &Environment) -> Source {
    match (desktop, file) {
        (Some(file), _) => Source::Desktop(file.clone()),
        (None, Some(file)) => Source::Configuration(file.clone()),
        (None, None) => Source::unnamed(environment),
    }
}

/// A file of a desktop client, and what to make of it.
#[derive(Clone, Debug, Args)]
pub(super) struct Import {
    /// The file: `claude_desktop_config.json`, `.cursor/mcp.json`, `.mcp.json`, `.vscode/mcp.json` or the like.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The configuration to write.
    #[arg(long, value_name = "FILE", default_value = "plugway.yaml")]
    pub(super) output: PathBuf,
    /// The file of secrets to write, readable for its owner alone.
    #[arg(long, value_name = "FILE", default_value = "plugway.secrets")]
    pub(super) secrets: PathBuf,
    /// Overwrites files that exist.
    #[arg(long)]
    pub(super) force: bool,
}

/// The form of a schema.
#[derive(Clone, Debug, Args)]
pub(super) struct Schema {
    /// `json` for editors, `markdown` for people.
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    pub(super) format: SchemaFormat,
}

/// How a schema is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaFormat {
    /// JSON Schema, draft 2020-12.
    Json,
    /// A page of Markdown.
    Markdown,
}

/// A configuration and which of its connectors to serve.
#[derive(Clone, Debug, Args)]
pub(super) struct Stdio {
    /// The configuration file: plugway's own, or a `RouterConfig` of agora-workbench in YAML or JSON. Default:
    /// `plugway.yaml`; where that does not exist, the variables `UPSTREAM_<NAME>_URL` of the environment.
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// In place of a configuration: a file of Claude Desktop, Cursor, VS Code or another client, as it is.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(super) mcp_servers: Option<PathBuf>,
    /// The connector, where there are several.
    #[arg(long, value_name = "NAME")]
    pub(super) connector: Option<String>,
}

/// The listener.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Listen {
    /// Address and port to listen on, before the environment and the file: `127.0.0.1:9000`; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<String>,
    /// Accepts that others can reach the listener without authentication and encryption, and says why.
    #[arg(long, value_name = "REASON")]
    pub(super) accept_exposure: Option<String>,
}

impl From<&Listen> for Flags {
    fn from(listen: &Listen) -> Self {
        Self { listen: listen.listen.clone(), accept_exposure: listen.accept_exposure.clone() }
    }
}

/// What to do with pins. A running plugway notices what is approved.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Pins {
    /// Lists definitions: those that wait for approval, and those that count.
    List(PinsList),
    /// Shows how each definition that waits differs from the one that was approved last.
    Diff(PinsDiff),
    /// Approves definitions that wait.
    Approve(PinsApprove),
}

/// Where the pins are.
#[derive(Clone, Debug, Args)]
pub(super) struct PinsFile {
    /// The configuration, whose `pins_file` is meant. Default: as of `serve`.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The file of pins itself; no configuration is read then.
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    pub(super) pins_file: Option<PathBuf>,
}

/// Which pins to list.
#[derive(Clone, Debug, Args)]
pub(super) struct PinsList {
    /// Only those that wait for approval.
    #[arg(long)]
    pub(super) held: bool,
    /// Only those of this connector.
    #[arg(long, value_name = "NAME")]
    pub(super) connector: Option<String>,
    /// Where they are.
    #[command(flatten)]
    pub(super) file: PinsFile,
}

/// Which pins to compare.
#[derive(Clone, Debug, Args)]
pub(super) struct PinsDiff {
    /// Only this one: `CONNECTOR/UPSTREAM/KIND/NAME`, or `CONNECTOR/UPSTREAM/instructions`.
    #[arg(value_name = "KEY")]
    pub(super) key: Option<String>,
    /// Where they are.
    #[command(flatten)]
    pub(super) file: PinsFile,
}

/// What to approve, and who does.
#[derive(Clone, Debug, Args)]
pub(super) struct PinsApprove {
    /// This one: `CONNECTOR/UPSTREAM/KIND/NAME`, or `CONNECTOR/UPSTREAM/instructions`.
    #[arg(value_name = "KEY", conflicts_with_all = ["all", "upstream"], required_unless_present_any = ["all", "upstream"])]
    pub(super) key: Option<String>,
    /// The definition of this digest, as `diff` shows it; as much of its beginning as means one is enough.
    #[arg(long, value_name = "DIGEST", requires = "key", required_unless_present_any = ["all", "upstream"])]
    pub(super) digest: Option<String>,
    /// Everything that waits.
    #[arg(long, conflicts_with = "upstream")]
    pub(super) all: bool,
    /// Everything that waits of this upstream: `CONNECTOR/UPSTREAM`, or its name alone.
    #[arg(long, value_name = "NAME")]
    pub(super) upstream: Option<String>,
    /// Approves what `--all` and `--upstream` mean; without it that is only listed.
    #[arg(long, conflicts_with = "key")]
    pub(super) yes: bool,
    /// Who approves it; stands in the file and in the audit.
    #[arg(long, value_name = "WHO", value_parser = somebody)]
    pub(super) by: String,
    /// Where they are.
    #[command(flatten)]
    pub(super) file: PinsFile,
}

fn somebody(who: &str) -> Result<String, String> {
    crate::pins::is_somebody(who).map(|()| who.to_owned())
}

/// One MCP server.
#[derive(Clone, Debug, Args)]
pub(super) struct Try {
    /// A server that speaks Streamable HTTP.
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "command",
        required_unless_present = "command"
    )]
    pub(super) url: Option<String>,
    /// Its name in plugway, which stands before its tools.
    #[arg(long, default_value = "demo")]
    pub(super) name: String,
    /// The listener.
    #[command(flatten)]
    pub(super) listen: Listen,
    /// A server that speaks over stdin and stdout: the program and its arguments, after `--`.
    #[arg(value_name = "COMMAND", last = true)]
    pub(super) command: Vec<String>,
}

/// A running plugway.
#[derive(Clone, Debug, Args)]
pub(super) struct Health {
    /// Where it listens.
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:9000/health")]
    pub(super) url: String,
}

/// What is done with files of the audit.
#[derive(Clone, Debug, Args)]
pub(super) struct Audit {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: AuditCommand,
}

/// The subcommands of `audit`.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Says whether all lines are as they were written, or the first that is not. The exit code is 1 then.
    Verify(Verify),
}

/// Files whose lines were tied together (`audit: {chain: true}`).
#[derive(Clone, Debug, Args)]
pub(super) struct Verify {
    /// The files: the one that is written, and those that were put aside, in any order.
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// The key that they were written with (`audit.digest_key`): `env://NAME` or `file://PATH`.
    #[arg(long, value_name = "REFERENCE")]
    pub(super) key: Option<String>,
    /// Fails, too, where the last line does not say that plugway ended: lines may be missing behind it.
    #[arg(long)]
    pub(super) closed: bool,
    /// Fails, too, where this line is not among them: its number and its hash, as the log and an earlier `verify` said them. It shows
    /// that lines were taken away back to an earlier end, which --closed does not.
    #[arg(long, value_name = "SEQ:HASH")]
    pub(super) last: Option<crate::audit::Known>,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// Lines for people.
    Human,
    /// One JSON object for each line.
    Json,
}

impl From<LogFormat> for Format {
    fn from(format: LogFormat) -> Self {
        match format {
            LogFormat::Human => Self::Human,
            LogFormat::Json => Self::Json,
        }
    }
}
