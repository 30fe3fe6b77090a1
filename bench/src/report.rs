//! The run: rounds in turn, medians, ratios.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::process::Running;
use crate::target::{CONNECTIONS, Target, print_more, print_ratios, print_rows};
use crate::{echo, load, memory, startup, target};

/// Measures and prints.
#[expect(clippy::fn_params_excessive_bools, reason = "both are flags of the command line")]
pub(crate) async fn run(plugway: &Path, quick: bool, audit: bool) -> Result<()> {
    let (rounds, time) = if quick { (2, 300) } else { (7, 3_000) };
    let time = Duration::from_millis(time);
    let upstream = Running::role(&["echo"]).await?;
    let address = upstream.address.to_string();
    let bare = Running::role(&["proxy", &address]).await?;
    let folder = std::env::temp_dir().join(format!("plugway-bench-{}", std::process::id()));
    let configuration = configure(&folder, &format!("http://{address}/mcp"))?;

    let through = Running::plugway(plugway, &configuration).await?;
    startup::until_ready(through.address).await?;
    let mut targets = vec![
        Target::new("bare proxy", bare, load::echo(echo::TOOL)).await?,
        Target::new("plugway", through, load::echo(&format!("up_{}", echo::TOOL))).await?,
    ];
    if audit {
        targets.push(
            audited(plugway, &folder.join("audited"), &format!("http://{address}/mcp")).await?,
        );
    }
    println!(
        "{rounds} rounds of {time:?} each, in turns; {CONNECTIONS} connections, each with a session;"
    );
    println!(
        "tools/call of 1 KiB, answered with 1 KiB; one HTTP upstream; medians of the rounds\n"
    );
    target::rounds(&mut targets, rounds, time).await?;
    print_rows(&targets)?;
    if let [bare, through, audited @ ..] = targets.as_slice() {
        print_ratios("ratio", through, bare);
        for audited in audited {
            print_more("the audit", audited, through);
        }
    }
    drop(targets);
    memory::run(plugway, &configuration).await?;
    startup::run(plugway, &configuration, if quick { 3 } else { 21 }).await?;
    remove(&folder);
    Ok(())
}

/// plugway with an audit that is on and chained.
async fn audited(plugway: &Path, folder: &Path, url: &str) -> Result<Target> {
    let configuration = configure(folder, url)?;
    let file = folder.join("audit.jsonl");
    let mut text = std::fs::read_to_string(&configuration)?;
    text += &["audit: {file: ", &file.display().to_string(), ", chain: true}\n"].concat();
    std::fs::write(&configuration, text)?;
    let process = Running::plugway(plugway, &configuration).await?;
    startup::until_ready(process.address).await?;
    Target::new("with audit", process, load::echo(&format!("up_{}", echo::TOOL))).await
}

/// Writes a configuration with one upstream, `up`, at this URL.
pub(crate) fn configure(folder: &Path, url: &str) -> Result<PathBuf> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join("plugway.yaml");
    let cache = folder.join("cache");
    let text = format!(
        "name: hub\ncache_dir: {}\nupstreams:\n  - name: up\n    url: {url}\n",
        cache.display()
    );
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Removes what [`configure`] wrote.
pub(crate) fn remove(folder: &Path) {
    if let Err(error) = std::fs::remove_dir_all(folder) {
        println!("{} stays: {error}", folder.display());
    }
}
