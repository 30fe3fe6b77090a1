//! Every seed holds, and every check has a fuzz target.

#![expect(clippy::unwrap_used, reason = "a seed that cannot be read fails the test")]

use std::path::{Path, PathBuf};

use plugway_fuzz_checks::{TARGETS, run};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(fuzz().join(folder)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn every_seed_holds() {
    for (target, _) in TARGETS {
        for entry in std::fs::read_dir(fuzz().join("seeds").join(target)).unwrap() {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            run(target, &std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn checks_targets_and_folders_of_seeds_have_the_same_names() {
    let checks: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names("fuzz_targets"), checks);
    assert_eq!(names("seeds"), checks);
    let manifest = std::fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for name in checks {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} in fuzz/Cargo.toml");
    }
}
