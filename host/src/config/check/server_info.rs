//! How a connector introduces itself.

use http::Uri;

use super::findings::Findings;
use crate::config::file::{self, IconTheme, Text};
use crate::config::key::KeyPath;
use crate::config::settings::{Icon, ServerInfo};

/// Fills in the defaults and refuses what clients could not use. `name` is the connector's.
pub(super) fn check(
    written: Option<&file::ServerInfo>,
    name: &str,
    key: &KeyPath,
    findings: &mut Findings,
) -> ServerInfo {
    let plain = ServerInfo::plain(name);
    let Some(written) = written else { return plain };
    for (word, text) in [
        ("name", &written.name),
        ("title", &written.title),
        ("version", &written.version.as_ref().map(|Text(version)| version.clone())),
        ("description", &written.description),
    ] {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            findings.problem(&key.key(word), "is empty", "leave the key out");
        }
    }
    if let Some(url) = &written.website_url
        && !is_web(url)
    {
        let sentence = "is no address of http or https";
        findings.problem(&key.key("website_url"), sentence, "write https://example.com");
    }
    let list = key.key("icons");
    let icons = written.icons.iter().flatten().enumerate();
    let icons = icons.filter_map(|(index, written)| icon(written, &list.item(index), findings));
    ServerInfo {
        name: written.name.clone().unwrap_or(plain.name),
        title: written.title.clone(),
        version: written.version.clone().map_or(plain.version, |Text(version)| version),
        description: written.description.clone(),
        website_url: written.website_url.clone(),
        icons: icons.collect(),
    }
}

fn icon(written: &file::Icon, key: &KeyPath, findings: &mut Findings) -> Option<Icon> {
    let Some(src) = &written.src else {
        findings.problem(key, "has no `src`", "write `src: https://example.com/icon.png`");
        return None;
    };
    if !is_web(src) && !src.starts_with("data:image/") {
        let hint = "write `https://example.com/icon.png` or `data:image/png;base64,..`";
        findings.problem(&key.key("src"), "is no address of a picture", hint);
    }
    for (index, size) in written.sizes.iter().flatten().enumerate() {
        if !is_size(size) {
            let sentence = format!("is `{size}`, which is no size of a picture");
            findings.problem(&key.key("sizes").item(index), sentence, "write `48x48` or `any`");
        }
    }
    Some(Icon {
        src: src.clone(),
        mime_type: written.mime_type.clone(),
        sizes: written.sizes.clone().unwrap_or_default(),
        theme: written.theme.map(|theme| match theme {
            IconTheme::Light => "light",
            IconTheme::Dark => "dark",
        }),
    })
}

fn is_web(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    matches!(uri.scheme_str(), Some("http" | "https"))
        && uri.authority().is_some_and(|authority| !authority.host().is_empty())
}

fn is_size(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text == "any"
        || text.split_once('x').is_some_and(|(wide, high)| is_number(wide) && is_number(high))
}
