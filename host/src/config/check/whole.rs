//! The order of the checks.

use std::path::Path;

use super::findings::Findings;
use super::{access, audit, connectors, limits, listen, plugins, registry};
use crate::config::environment::Environment;
use crate::config::file::File;
use crate::config::key::KeyPath;
use crate::config::load::Flags;
use crate::config::problem::{Problem, Problems};
use crate::config::settings::Settings;

/// The file of pins where nobody names another one.
const PINS: &str = "plugway.lock";

/// Where a configuration comes from.
pub(in crate::config) struct Origin<'a> {
    /// The file; none when it was put together in code.
    pub(in crate::config) file: Option<&'a Path>,
    /// Where relative paths start.
    pub(in crate::config) base: &'a Path,
    pub(in crate::config) flags: &'a Flags,
    pub(in crate::config) environment: &'a Environment,
    /// Port of 127.0.0.1 where nobody says where to listen.
    pub(in crate::config) default_port: u16,
}

/// Makes settings of a file, or says everything that is wrong with it.
pub(in crate::config) fn check(file: &File, origin: &Origin<'_>) -> Result<Settings, Vec<Problem>> {
    let mut findings = Findings::default();
    let auth = access::check_auth(file, origin, &mut findings);
    let listen = listen::check(file, auth.as_ref(), origin, &mut findings);
    let (callers, clients) = (auth.as_ref(), listen.as_ref());
    let admin = access::check_admin(file, callers, clients, origin, &mut findings);
    let audit = audit::check(file, origin, &mut findings);
    let limits = limits::check(&file.limits, &KeyPath::top().key("limits"), &mut findings);
    let mut plugins = plugins::Plugins::declared(file, origin, &mut findings);
    let connectors = connectors::check(file, origin, &mut plugins, &mut findings);
    access::check_callers(file, auth.as_ref(), &mut findings);
    registry::check_callers(file, auth.as_ref(), &mut findings);
    let plugins = plugins.finish();
    let Findings { problems, warnings, sources } = findings;
    match (listen, auth) {
        (Some(listen), Some(auth)) if problems.is_empty() => Ok(Settings {
            file: origin.file.map(Path::to_owned),
            listen,
            auth,
            admin,
            audit,
            limits,
            plugins,
            plugin_dir: file.plugin_dir.as_ref().map(|dir| origin.base.join(dir)),
            cache_dir: match &file.cache_dir {
                Some(dir) => Some(origin.base.join(dir)),
                None => origin.environment.cache_dir(),
            },
            pins_file: origin.base.join(file.pins_file.as_deref().unwrap_or(PINS)),
            connectors,
            sources: origin.file.map(Path::to_owned).into_iter().chain(sources).collect(),
            warnings: Problems { file: origin.file.map(Path::to_owned), list: warnings },
        }),
        _ => Err(problems),
    }
}
