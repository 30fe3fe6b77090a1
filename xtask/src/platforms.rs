//! `cargo xtask platforms`: does plugway compile for systems that its tests do not run on?
//!
//! A check needs the standard library of the target (`rustup target add`) and, for the C and assembler parts of two
//! dependencies, a C compiler for it: `zig`, or for Windows MinGW. What is missing is said, and that target is left out.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Result, ensure};

use crate::{run, workspace};

struct Platform {
    /// Rust's name.
    target: &'static str,
    /// Zig's name.
    zig: &'static str,
    /// Another compiler that will do, if it is installed.
    compiler: Option<&'static str>,
}

const PLATFORMS: [Platform; 2] = [
    Platform { target: "aarch64-apple-darwin", zig: "aarch64-macos", compiler: None },
    Platform {
        target: "x86_64-pc-windows-gnu",
        zig: "x86_64-windows-gnu",
        compiler: Some("x86_64-w64-mingw32-gcc"),
    },
];

/// Checks each target that can be checked here; fails when one does not compile, or none could be checked in CI.
pub(crate) fn check() -> Result<()> {
    let mut skipped = Vec::new();
    for platform in &PLATFORMS {
        match platform.compiler() {
            Ok(compiler) => run::step(platform.target, || platform.check(&compiler))?,
            Err(missing) => skipped.push(format!("{}: {missing}", platform.target)),
        }
    }
    for line in &skipped {
        println!("left out {line}");
    }
    ensure!(skipped.is_empty() || !run::is_ci(), "nothing may be left out where CI is set");
    Ok(())
}

impl Platform {
    /// The C compiler to use, or what is missing.
    fn compiler(&self) -> Result<PathBuf, String> {
        let words = ["--print", "target-libdir", "--target", self.target];
        let library = run::output("rustc", &words).unwrap_or_default();
        if library.is_empty() || !Path::new(&library).is_dir() {
            return Err(format!(
                "its standard library is not installed: rustup target add {}",
                self.target
            ));
        }
        let installed = self.compiler.filter(|name| run::output(name, &["--version"]).is_some());
        if let Some(name) = installed {
            return Ok(name.into());
        }
        if run::output("zig", &["version"]).is_none() {
            return Err("there is no C compiler for it: install zig".to_owned());
        }
        self.zig_wrapper().map_err(|error| format!("the wrapper of zig: {error:#}"))
    }

    /// A program that takes the words that the crate `cc` gives to clang, and has zig compile for this target.
    fn zig_wrapper(&self) -> Result<PathBuf> {
        let folder = target_folder();
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("zig-cc-{}", self.target));
        let script = format!(
            "#!/bin/sh\nfor word do\n  shift\n  case $word in --target=*|-arch|arm64|-mmacosx-version-min=*) ;; \
             *) set -- \"$@\" \"$word\" ;; esac\ndone\nexec zig cc -target {} \"$@\"\n",
            self.zig
        );
        fs::write(&path, script)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    fn check(&self, compiler: &Path) -> Result<()> {
        let words = ["check", "--package", "plugway", "--locked", "--target", self.target];
        let mut cargo = run::cargo(&words);
        let variable = format!("CC_{}", self.target.replace('-', "_"));
        cargo.env(variable, compiler).env("CARGO_TARGET_DIR", target_folder());
        run::finish(cargo)
    }
}

/// Beside the ordinary one, whose files would be built anew otherwise.
fn target_folder() -> PathBuf {
    workspace::root().join("target/platforms")
}
