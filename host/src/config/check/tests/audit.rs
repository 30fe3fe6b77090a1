//! What may be written of the audit.

use std::path::Path;

use super::support::{refused, settings, upstream};
use crate::config::{AuditRotation, AuditSettings, Secret};

fn of(audit: &str) -> Option<AuditSettings> {
    let text = format!("audit: {audit}\n{}", upstream("url: http://x"));
    settings(&text).unwrap().audit
}

#[test]
fn off_is_the_default_and_a_file_is_enough() {
    assert_eq!(settings(&upstream("url: http://x")).unwrap().audit, None);
    assert_eq!(of("off"), None);
    let expected = AuditSettings {
        file: Some(Path::new("/etc/plugway/a.jsonl").to_owned()),
        stdout: false,
        rotation: AuditRotation { size: 100 << 20, keep: 10, daily: false },
        required: false,
        arguments: false,
        chain: false,
        digest_key: None,
    };
    assert_eq!(of("{file: a.jsonl}"), Some(expected));
}

#[test]
fn every_key_has_its_place() {
    let audit = of("{file: /v/a, stdout: true, rotate: {size: 1MiB, keep: 2, every: day}, \
                    required: true, arguments: redacted, chain: true, digest_key: 0123456789abcdef}");
    let expected = AuditSettings {
        file: Some(Path::new("/v/a").to_owned()),
        stdout: true,
        rotation: AuditRotation { size: 1 << 20, keep: 2, daily: true },
        required: true,
        arguments: true,
        chain: true,
        digest_key: Some(Secret::new("0123456789abcdef")),
    };
    assert_eq!(audit, Some(expected));
}

#[test]
fn what_cannot_work_is_refused() {
    let with = |audit: &str| format!("{}audit: {audit}\n", upstream("url: http://x"));
    let texts = [
        with("{chain: true}"),
        with("{file: a, rotate: {keep: 0}}"),
        with("{file: a, digest_key: short}"),
    ];
    refused(&[
        (&texts[0], ":4:1: `audit` has neither `file` nor `stdout`", "write `file: audit.jsonl`"),
        (&texts[1], ":4:27: `audit.rotate.keep` must be from 1 to 1000", "leave the key out"),
        (&texts[2], ":4:18: `audit.digest_key` is shorter than 16 bytes", "make one"),
    ]);
}
