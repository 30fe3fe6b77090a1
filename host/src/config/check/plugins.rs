//! Plugins: the ones that are written down, and the ones that are only used.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::findings::Findings;
use super::grants;
use super::limits::Bounds;
use super::whole::Origin;
use super::word::check_name;
use crate::config::file::{File, OnErrorWord, Plugin, PluginUse};
use crate::config::key::KeyPath;
use crate::config::nearest::nearest;
use crate::config::problem::Problem;
use crate::config::settings::{
    GrantSettings, OnError, PluginLimitSettings, PluginPlace, PluginSettings, PluginSource,
};

/// Plugins that are part of the binary.
const BUNDLED: &[&str] = &["router", "gateway", "visibility", "masking"];
/// Plugins that will be, and whose names are kept for them.
const RESERVED: &[&str] = &["dispatcher", "transfer"];
/// The plugins by name.
pub(super) struct Plugins {
    by_name: BTreeMap<Arc<str>, PluginSettings>,
    /// Names whose entry is wrong; using them is no further problem.
    wrong: Vec<String>,
    dir: Option<PathBuf>,
}

impl Plugins {
    /// Checks the plugins that are written down.
    pub(super) fn declared(file: &File, origin: &Origin<'_>, findings: &mut Findings) -> Self {
        let dir = file.plugin_dir.as_ref().map(|dir| origin.base.join(dir));
        let mut plugins = Self { by_name: BTreeMap::new(), wrong: Vec::new(), dir };
        for (name, plugin) in &file.plugins {
            let key = KeyPath::top().key("plugins").key(name);
            let named = check_name(name, "a plugin", &key, findings);
            let source = plugins.source(name, plugin, origin).map_err(|problem| {
                findings.problems.push(problem.under(&key));
            });
            let settings = settings_of(name, plugin, &key, findings);
            match source {
                Ok(source) if named => {
                    let settings = PluginSettings { source, ..settings };
                    plugins.by_name.insert(settings.name.clone(), settings);
                }
                _ => plugins.wrong.push(name.clone()),
            }
        }
        plugins
    }

    /// A file replaces a bundled plugin only when the entry names the file. The problem's key is relative to the entry.
    fn source(
        &self,
        name: &str,
        plugin: &Plugin,
        origin: &Origin<'_>,
    ) -> Result<PluginSource, Problem> {
        let entry = KeyPath::top();
        if let Some(file) = &plugin.file {
            return match file.as_str() {
                "" => {
                    Err(Problem::new(entry.key("file"), "is empty").hint("name a component file"))
                }
                file => Ok(PluginSource::File(origin.base.join(file))),
            };
        }
        if BUNDLED.contains(&name) {
            if plugin.digest.is_none() {
                return Ok(PluginSource::Bundled);
            }
            let sentence = "has no `file` to belong to: this plugin is part of plugway";
            return Err(
                Problem::new(entry.key("digest"), sentence).hint("name a file, or take it out")
            );
        }
        match &self.dir {
            Some(dir) if !RESERVED.contains(&name) => {
                Ok(PluginSource::File(dir.join(format!("{name}.wasm"))))
            }
            _ => Err(Problem::new(entry, "has no `file`, and is not part of plugway").hint(
                "name the component: `file: NAME.wasm`, relative to this file; or set `plugin_dir`",
            )),
        }
    }

    /// Checks a place where a plugin is used.
    pub(super) fn place(
        &mut self,
        written: &PluginUse,
        key: &KeyPath,
        findings: &mut Findings,
    ) -> Option<PluginPlace> {
        let Some(name) = &written.plugin else {
            findings.problem(key, "names no plugin", "write `{use: NAME, config: {..}}`");
            return None;
        };
        let config =
            written.config.as_ref().map(|config| config_text(config, &key.key("config"), findings));
        if self.wrong.contains(name) {
            return None;
        }
        if !self.by_name.contains_key(name.as_str()) {
            let settings = self.undeclared(name, key, findings)?;
            self.by_name.insert(settings.name.clone(), settings);
        }
        let plugin = self.by_name.get(name.as_str())?;
        let config = config.unwrap_or_else(|| plugin.config.clone());
        Some(PluginPlace { plugin: plugin.name.clone(), config })
    }

    /// A plugin that is used without an entry: bundled, or a file of the plugin directory.
    fn undeclared(
        &self,
        name: &str,
        key: &KeyPath,
        findings: &mut Findings,
    ) -> Option<PluginSettings> {
        let source = match &self.dir {
            _ if BUNDLED.contains(&name) => PluginSource::Bundled,
            _ if RESERVED.contains(&name) => {
                let sentence = format!("uses `{name}`, which is not part of plugway yet");
                let hint = "take it out, or give `plugins` an entry of this name with a `file`";
                findings.problem(key, sentence, hint);
                return None;
            }
            Some(dir) => {
                check_name(name, "a plugin", key, findings).then_some(())?;
                PluginSource::File(dir.join(format!("{name}.wasm")))
            }
            None => {
                let known = self.by_name.keys().map(|name| &**name).chain(BUNDLED.iter().copied());
                let hint = match nearest(name, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("write it down: `plugins: {{{name}: {{file: {name}.wasm}}}}`"),
                };
                findings.problem(key, format!("uses `{name}`, which is no known plugin"), &hint);
                return None;
            }
        };
        Some(PluginSettings {
            name: name.into(),
            source,
            digest: None,
            config: "{}".into(),
            limits: PluginLimitSettings::default(),
            grants: GrantSettings::default(),
            on_error: OnError::default(),
        })
    }

    /// Whether a plugin that is written down under this name comes from a file.
    pub(super) fn is_replaced(&self, name: &str) -> bool {
        let known = self.by_name.get(name);
        known.is_some_and(|plugin| matches!(plugin.source, PluginSource::File(_)))
    }

    /// All of them.
    pub(super) fn finish(self) -> Vec<PluginSettings> {
        self.by_name.into_values().collect()
    }
}

fn settings_of(
    name: &str,
    plugin: &Plugin,
    key: &KeyPath,
    findings: &mut Findings,
) -> PluginSettings {
    let digest = plugin.digest.as_deref().and_then(|text| {
        let digest = parse_digest(text);
        if digest.is_none() {
            let hint = "write `sha256:` and 64 hexadecimal digits, as `sha256sum FILE` prints them";
            findings.problem(&key.key("digest"), "is no SHA-256 digest", hint);
        }
        digest
    });
    let config = match &plugin.config {
        Some(config) => config_text(config, &key.key("config"), findings),
        None => "{}".into(),
    };
    PluginSettings {
        name: name.into(),
        source: PluginSource::Bundled,
        digest,
        config,
        limits: limits_of(plugin, &key.key("limits"), findings),
        grants: grants::check(&plugin.grants, &key.key("grants"), findings),
        on_error: match plugin.on_error {
            Some(OnErrorWord::Pass) => OnError::Pass,
            Some(OnErrorWord::Deny) | None => OnError::Deny,
        },
    }
}

fn config_text(config: &serde_json::Value, key: &KeyPath, findings: &mut Findings) -> Arc<str> {
    if !config.is_object() {
        findings.problem(key, "must be a set of keys", "write `config: {key: value}`");
    }
    config.to_string().into()
}

fn limits_of(plugin: &Plugin, key: &KeyPath, findings: &mut Findings) -> PluginLimitSettings {
    let written = &plugin.limits;
    let mut bounds = Bounds { key, findings };
    let fits = written.time_ms.is_none_or(|time| (1..=60_000).contains(&time));
    bounds.within("time_ms", fits, "from 1 to 60000");
    let fits = written.memory_mib.is_none_or(|memory| (1..=256).contains(&memory));
    bounds.within("memory_mib", fits, "from 1 to 256");
    let fits = written.instances.is_none_or(|instances| (1..=256).contains(&instances));
    bounds.within("instances", fits, "from 1 to 256");
    PluginLimitSettings {
        time: written.time_ms.map(|time| Duration::from_millis(time.into())),
        memory: written.memory_mib.and_then(|mib| usize::try_from(mib).ok()?.checked_mul(1 << 20)),
        instances: written.instances.and_then(|instances| usize::try_from(instances).ok()),
    }
}

fn parse_digest(text: &str) -> Option<[u8; 32]> {
    let hex = text.strip_prefix("sha256:")?;
    if hex.len() != 64 {
        return None;
    }
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(hex.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        pair.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(digest)
}
