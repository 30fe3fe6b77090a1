//! Builds the plugins that the binary carries.
//!
//! Components are built by a cargo of their own, in a target directory of their own beside the outer one: it is shared by
//! all profiles, and the outer cargo's lock is not in the way.

#![expect(
    clippy::disallowed_methods,
    reason = "the host's doors are the host's; this runs before it is built"
)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

const TARGET: &str = "wasm32-wasip2";

/// Package and file of each plugin.
const PLUGINS: &[(&str, &str)] = &[
    ("plugway-router", "plugway_router.wasm"),
    ("plugway-gateway", "plugway_gateway.wasm"),
    ("plugway-visibility", "plugway_visibility.wasm"),
    ("plugway-masking", "plugway_masking.wasm"),
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("..");
    for path in ["plugins", "sdk", "wit", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("DOCS_RS").is_some() {
        return PLUGINS.iter().try_for_each(|(_, file)| Ok(fs::write(out.join(file), b"")?));
    }
    if !has_target()? {
        return Err(format!(
            "plugway carries plugins that are built for {TARGET}, which is not installed: rustup target add {TARGET}"
        )
        .into());
    }
    let target = target_dir(&out).ok_or("OUT_DIR is not where cargo puts it")?;
    for &(package, file) in PLUGINS {
        build(&root, &target, package)?;
        let built = target.join(TARGET).join("release").join(file);
        fs::copy(&built, out.join(file))
            .map_err(|error| format!("{}: {error}", built.display()))?;
    }
    Ok(())
}

/// The target directory of the components: `bundled` beside the profile's directory.
fn target_dir(out: &Path) -> Option<PathBuf> {
    let build = out.ancestors().find(|path| path.ends_with("build"))?;
    Some(build.parent()?.parent()?.join("bundled"))
}

fn has_target() -> Result<bool, Box<dyn Error>> {
    let output = Command::new(variable("RUSTC")?)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()?;
    let folder = String::from_utf8(output.stdout)?;
    Ok(output.status.success() && Path::new(folder.trim()).is_dir())
}

fn build(root: &Path, target: &Path, package: &str) -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(variable("CARGO")?);
    cargo
        .current_dir(root)
        .args(["build", "--release", "--lib", "--quiet", "--package", package, "--target", TARGET])
        .arg("--target-dir")
        .arg(target);
    // what the outer cargo set for the host's own build (flags, a lint driver in place of rustc, profiles) is not meant
    // for the components
    for (name, _) in env::vars_os() {
        let Some(word) = name.to_str() else { continue };
        let meant_for_host = matches!(
            word,
            "RUSTFLAGS"
                | "RUSTDOCFLAGS"
                | "RUSTC"
                | "RUSTDOC"
                | "RUSTC_WRAPPER"
                | "RUSTC_WORKSPACE_WRAPPER"
                | "RUSTC_LINKER"
        ) || [
            "CARGO_ENCODED_",
            "CARGO_BUILD_",
            "CARGO_TARGET_",
            "CARGO_PROFILE_",
            "CARGO_FEATURE_",
            "CARGO_CFG_",
            "CLIPPY_",
        ]
        .iter()
        .any(|prefix| word.starts_with(prefix));
        if meant_for_host {
            cargo.env_remove(word);
        }
    }
    if cargo.status()?.success() {
        Ok(())
    } else {
        Err(format!("the plugin {package} does not build; see above").into())
    }
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("{name}: {error}"))
}
