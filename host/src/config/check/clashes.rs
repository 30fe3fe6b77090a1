//! Clashes of names that can be seen without asking a server.

use std::collections::BTreeMap;

use super::findings::Findings;
use crate::config::key::KeyPath;
use crate::config::settings::{Prefix, UpstreamSettings};

/// Looks at the names of the upstreams of one connector.
pub(super) fn check(upstreams: &[(KeyPath, UpstreamSettings)], findings: &mut Findings) {
    check_aliases(upstreams, findings);
    check_prefixes(upstreams, findings);
}

/// Two things cannot be shown under the same alias.
fn check_aliases(upstreams: &[(KeyPath, UpstreamSettings)], findings: &mut Findings) {
    let mut shown: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for (key, upstream) in upstreams {
        for (own, alias) in &upstream.naming.aliases {
            let before = shown.insert(alias, (&upstream.name, own));
            if let Some((other, name)) = before {
                findings.problem(
                    &key.key("aliases").key(own),
                    format!("is `{alias}`, like that of `{name}` of the upstream `{other}`"),
                    "show each thing under a name of its own",
                );
            }
        }
    }
}

/// `a` with the tool `b_c` and `a_b` with the tool `c` are both shown as `a_b_c`.
fn check_prefixes(upstreams: &[(KeyPath, UpstreamSettings)], findings: &mut Findings) {
    for (key, longer) in upstreams {
        for (_, shorter) in upstreams {
            let both = [longer, shorter].iter().all(|one| one.naming.prefix == Prefix::Always);
            let rest = longer.name.strip_prefix(&*shorter.name);
            let Some(rest) = rest.and_then(|rest| rest.strip_prefix('_')) else { continue };
            if both {
                findings.warning(
                    &key.key("name"),
                    format!(
                        "is `{}`: its tool `x` and the tool `{rest}_x` of the upstream `{}` would \
                         have the same name",
                        longer.name, shorter.name
                    ),
                    "rename one of them; where it happens, the first in the file keeps the name",
                );
            }
        }
    }
}
