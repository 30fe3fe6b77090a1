//! What a contributor runs: `cargo xtask <command>`.
#![expect(clippy::print_stdout, reason = "a command line tool speaks on stdout")]
#![expect(clippy::print_stderr, reason = "a command line tool complains on stderr")]

use std::process::ExitCode;

mod bench;
mod demo;
mod nightly;
mod peers;
mod platforms;
mod run;
mod soak;
mod test;
mod tidy;
mod workspace;

const HELP: &str = "\
cargo xtask <command>

  try [--once]   build plugway, start it in front of two demo servers, show a call, stay up
                 (--once: end after the call)
  test           everything that must pass: format, lints, house rules, components, tests, docs
  components     build the test guests and the example plugins, as `test` does
  tidy           the house rules alone: layers, file sizes, banned constructs
  peers          install the pinned official clients and servers that tests use into .cache/peers
  platforms      check that plugway compiles for macOS and Windows, where their parts are installed
  bench [--quick] [--audit]
                 a call's cost through plugway, as ratios to a bare proxy in the same run
                 (--audit: what an audit that is on and chained adds)
  bench against-reference [--quick]
                 the same as ratios to the router of agora-workbench, before one of its servers
  nightly        slow checks: licences, unused dependencies, spelling, fuzz runs
  soak NAME      one volume or fault run of minutes; without a name, the list
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["try"] => demo::run(demo::Then::StayUp),
        ["try", "--once"] => demo::run(demo::Then::End),
        ["test"] => test::run(),
        ["components"] => test::components(),
        ["tidy"] => tidy::run(),
        ["peers"] => peers::install(),
        ["bench", rest @ ..] => bench::run(rest),
        ["platforms"] => platforms::check(),
        ["nightly"] => nightly::run(),
        ["soak", names @ ..] => soak::run(names),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        _ => Err(anyhow::anyhow!("unknown command `{}`\n\n{HELP}", words.join(" "))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
