//! `plugway-bench`: what a call through plugway costs, as ratios to a bare proxy measured in the same run.
//!
//! `run PLUGWAY` starts the other two roles as processes of their own (`echo`, an MCP server that answers at once;
//! `proxy`, hyper in front of hyper without looking at anything) and the given plugway binary, sends the same calls
//! through the bare proxy and through plugway in turns, and prints processor time per request, rate, latency, resident
//! memory and the ratios.
//!
//! With `--audit` a second plugway, whose audit is on and chained, takes its turns beside it; the difference is printed.
//!
//! `against-reference PLUGWAY PYTHON FOLDER` does the same with the router of agora-workbench in place of the bare proxy.
#![expect(clippy::print_stdout, reason = "printing the figures is what this program does")]
#![expect(
    clippy::indexing_slicing,
    reason = "JSON values answer null for a member that is not there"
)]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures are rounded for print; counts stay far below 2^52"
)]

mod echo;
mod load;
mod memory;
mod process;
mod proxy;
mod reference;
mod report;
mod startup;
mod target;

use anyhow::{Context as _, Result, bail};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match words.as_slice() {
        ["echo"] => runtime.block_on(echo::serve()),
        ["proxy", upstream] => {
            let upstream = upstream.parse().context("the upstream is no address")?;
            runtime.block_on(proxy::serve(upstream))
        }
        ["run", plugway, rest @ ..] => {
            let quick = rest.contains(&"--quick");
            let audit = rest.contains(&"--audit");
            runtime.block_on(report::run(plugway.as_ref(), quick, audit))
        }
        ["against-reference", plugway, python, folder, rest @ ..] => {
            let scripts = reference::Scripts { python: python.as_ref(), folder: folder.as_ref() };
            let quick = rest.contains(&"--quick");
            runtime.block_on(reference::run(plugway.as_ref(), &scripts, quick))
        }
        _ => bail!(
            "usage: plugway-bench run PLUGWAY [--quick] [--audit] | echo | proxy ADDRESS | \
             against-reference PLUGWAY PYTHON FOLDER [--quick]"
        ),
    }
}
