//! Who callers are, and where plugway is administered.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::findings::Findings;
use super::listen::parse_address;
use super::secret::{self, Literal};
use super::tokens;
use super::whole::Origin;
use crate::config::file::{
    Admin as WrittenAdmin, AuthMode, AuthUse, CredentialMode, File, Tokens, Upstream,
};
use crate::config::key::KeyPath;
use crate::config::settings::{Admin, AdminListen, Auth, Listen, StaticToken};

/// The scope that may administer.
const ADMIN_SCOPE: &str = "plugway:admin";
/// Longest path of a Unix socket that every system takes.
const LONGEST_SOCKET: usize = 100;

/// How callers are identified, if it can be told.
pub(super) fn check_auth(
    file: &File,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<Auth> {
    let key = KeyPath::top().key("auth");
    let Some(written) = &file.auth else { return Some(Auth::None) };
    let tokens = key.key("tokens");
    let not_yet = |word: &str, findings: &mut Findings| {
        let sentence = format!("is `{word}`, which does nothing yet");
        findings.problem(&key.key("mode"), sentence, "write `static` or `none`");
        None
    };
    match written.mode {
        None => {
            let hint = "write `auth: none` or `auth: {mode: static, tokens: file://tokens.json}`";
            findings.problem(&key, "has no `mode`", hint);
            None
        }
        Some(AuthMode::None) => {
            if written.tokens.is_some() {
                let sentence = "belongs to the mode `static`, but the mode is `none`";
                findings.problem(&tokens, sentence, "take it out, or write `mode: static`");
            }
            Some(Auth::None)
        }
        Some(AuthMode::Static) => check_static(written, &tokens, origin, findings),
        Some(AuthMode::Jwt) => not_yet("jwt", findings),
        Some(AuthMode::Entra) => not_yet("entra", findings),
        Some(AuthMode::RemoteOauth) => not_yet("remote-oauth", findings),
    }
}

fn check_static(
    written: &AuthUse,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<Auth> {
    let tokens = match &written.tokens {
        None => {
            let hint = "write `tokens: file://tokens.json`; the file holds \
                        `{TOKEN: {client_id: NAME, scopes: [..]}}`";
            findings.problem(key, "is missing: nobody could come", hint);
            return None;
        }
        Some(Tokens::Inline(map)) => {
            let hint = "move them into a file of their own: `tokens: file://tokens.json`";
            findings.warning(key, "holds the tokens themselves", hint);
            tokens::parse(&map.to_string(), key, findings)
        }
        Some(Tokens::Reference(text)) => {
            let text = secret::check(text, Literal::Fine, key, origin, findings)?;
            tokens::parse(text.reveal(), key, findings)
        }
    };
    tokens.map(Auth::Static)
}

/// Whether callers without a credential can reach something.
pub(super) fn lets_strangers_in(file: &File, auth: Option<&Auth>) -> bool {
    match auth {
        None | Some(Auth::Static(_)) => parts(file).any(|part| part.anonymous == Some(true)),
        Some(Auth::None) => true,
    }
}

/// Looks at what connectors say that depends on who callers are.
pub(super) fn check_callers(file: &File, auth: Option<&Auth>, findings: &mut Findings) {
    for part in parts(file) {
        match auth {
            Some(Auth::None) if part.anonymous.is_some() => {
                let sentence = "means nothing without `auth`: every caller is anonymous";
                findings.warning(&part.key.key("anonymous"), sentence, "take it out");
            }
            Some(Auth::Static(_)) => {
                for (index, upstream) in part.upstreams.iter().enumerate() {
                    let mode = upstream.auth.as_ref().and_then(|written| written.mode);
                    if mode == Some(CredentialMode::Forward) {
                        let sentence = "passes on the tokens of `auth`, with which that server \
                                        could come to plugway as the caller";
                        let key = part.key.key("upstreams").item(index).key("auth");
                        findings.warning(&key, sentence, "write `{mode: bearer, token: ..}`");
                    }
                }
            }
            _ => {}
        }
    }
}

/// What a connector says, and where.
struct Part<'a> {
    key: KeyPath,
    anonymous: Option<bool>,
    upstreams: &'a [Upstream],
}

/// The lone connector at the top, and the ones in the list.
fn parts(file: &File) -> impl Iterator<Item = Part<'_>> {
    let lone = Part {
        key: KeyPath::top(),
        anonymous: file.anonymous,
        upstreams: file.upstreams.as_deref().unwrap_or_default(),
    };
    let list = KeyPath::top().key("connectors");
    let listed = file.connectors.iter().flatten().enumerate();
    std::iter::once(lone).chain(listed.map(move |(index, connector)| Part {
        key: list.item(index),
        anonymous: connector.anonymous,
        upstreams: connector.upstreams.as_deref().unwrap_or_default(),
    }))
}

/// Where plugway is administered: nowhere unless it is written.
pub(super) fn check_admin(
    file: &File,
    auth: Option<&Auth>,
    listen: Option<&Listen>,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<Admin> {
    let written = file.admin.as_ref()?;
    let key = KeyPath::top().key("admin");
    let token_file = match written.token_file.as_deref() {
        Some("") => {
            findings.problem(&key.key("token_file"), "is empty", "name the file");
            None
        }
        Some(path) => Some(origin.base.join(path)),
        None => None,
    };
    // What could not be told about `auth` is said there.
    let may = |token: &StaticToken| token.scopes.iter().any(|scope| &**scope == ADMIN_SCOPE);
    let somebody_may = match auth {
        None => true,
        Some(Auth::None) => false,
        Some(Auth::Static(tokens)) => tokens.iter().any(may),
    };
    if written.token_file.is_none() && !somebody_may {
        let sentence = "lets nobody in: there is neither a `token_file` nor a token of `auth` with \
                        the scope `plugway:admin`";
        findings.problem(&key, sentence, "write `token_file: admin.token`; plugway makes the file");
    }
    let listen = check_admin_listen(written, &key, listen, origin, findings)?;
    Some(Admin { listen, token_file })
}

fn check_admin_listen(
    written: &WrittenAdmin,
    key: &KeyPath,
    listen: Option<&Listen>,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<AdminListen> {
    match (&written.listen, &written.socket) {
        (Some(text), None) => {
            let address = admin_address(text, listen.map(|listen| listen.address));
            let address = address.map_err(|sentence| {
                let hint = "write a loopback address with a port of its own: 127.0.0.1:9901";
                findings.problem(&key.key("listen"), sentence, hint);
            });
            address.ok().map(AdminListen::Address)
        }
        (None, Some(path)) => {
            let path: PathBuf = origin.base.join(path);
            let fits = written.socket.as_deref().is_some_and(|path| !path.is_empty())
                && path.as_os_str().len() <= LONGEST_SOCKET;
            if !fits {
                let sentence = format!("must be a path of 1 to {LONGEST_SOCKET} bytes");
                findings.problem(&key.key("socket"), sentence, "name a file in a shorter path");
            }
            fits.then_some(AdminListen::Socket(path))
        }
        (Some(_), Some(_)) => {
            findings.problem(key, "has both `listen` and `socket`", "keep one");
            None
        }
        (None, None) => {
            let hint = "write `listen: 127.0.0.1:9901` or `socket: plugway.sock`";
            findings.problem(key, "has neither `listen` nor `socket`", hint);
            None
        }
    }
}

fn admin_address(text: &str, main: Option<SocketAddr>) -> Result<SocketAddr, String> {
    let Some(address) = parse_address(text) else {
        return Err(format!("is `{text}`, which is no address"));
    };
    if !address.ip().is_loopback() {
        return Err(format!("is `{text}`, which other machines can reach"));
    }
    if Some(address) == main && address.port() != 0 {
        return Err(format!("is `{text}`, where clients are served"));
    }
    Ok(address)
}
