//! Commands for developers: `cargo xtask <chore>`.
//!
//! Start at [`main`], which selects the chore. Each chore is a module;
//! [`workspace`] has shared code. Nothing here is shipped.

#![expect(
    clippy::disallowed_methods,
    reason = "chores run cargo and apt-get, which are no tools and leave nothing behind"
)]

mod accept;
mod adapters;
mod agents;
mod apt;
mod artefacts;
mod bench;
mod ci;
mod clients;
mod conformance;
mod cpu;
mod edit_loop;
mod esctest;
mod fleet;
mod frameworks;
mod kernels;
mod lint;
mod lint_api;
mod nats;
mod packages;
mod platforms;
mod real_model;
mod sandboxed;
mod schemas;
mod sdk_bench;
mod sdks;
mod shots;
mod stages;
mod test;
mod tidy;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::bail;

use sandboxed::ToolSandbox;

const USAGE: &str = "\
usage: cargo xtask <chore> [arguments]

  tidy      check which crate uses which, the manifests, the test folders and
            that the counts of the ratchet do not rise; --tighten lowers them
  test      install what the tests need, run all of them, count them; --help lists
            the ways to select some
  stress    run tests many times beside other load; --help lists the arguments
  lint      clippy, the cargo features and the documentation; a warning is an error
  edit-loop    measure the seconds from an edit to the first test result; arguments
            name crates
  accept    run the tests that the arguments select, and write the texts that they
            get into their snapshots
  schemas   write schemas/*.schema.json and openapi.json
  shots     make the pictures of the page in docs/guide; arguments name some
  bench     run the benchmarks; arguments are passed on
  sdks      run the tests of the packages for Python and TypeScript, with every
            Python that is there
  sdk-bench    measure the packages against raw `drive`; the argument is a
            `windlass` program, else a release build is made
  adapters  run the programs of docs/adapters with their frameworks; arguments
            name them
  agents    run real agents from npm with Windlass; arguments name them, and
            --sandbox workspace confines their tools
  frameworks   run agent frameworks as MCP clients; arguments name them
  lint-api     run the linters of other people over openapi.json, the schemas
            and the proto
  fleet     run pools of workers with 3 brokers, 5 workers, 1,000 handles and deaths
            of all kinds
  real-model   run a turn with a small model from PyPI
  conformance  run the official MCP suite against our server; --sandbox workspace
            confines its tools
  esctest   run the terminal test suite esctest2 on one of our terminals; the
            argument is the folder of a checkout of it
  kernels   try limits and sandboxes on stock kernels of Debian in an emulated
            machine; arguments name suites of Debian, --tests adds tests of limits
  platforms    check that everything compiles for macOS and for Linux on ARM, on
            Linux; arguments name some of the targets
  package   build everything that users install into dist/, and try it;
            --check tries what is there, --profile NAME builds another way
  ci        format, tidy, lint, test, terminals in a sandbox, conformance and packages:
            what must hold before a merge; `check`, `test` or `package` runs a part";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[OsString]) -> anyhow::Result<()> {
    if let Some((chore, rest)) = arguments.split_first()
        && chore == test::guard::CHORE
    {
        return test::guard::run(rest);
    }
    let arguments = arguments
        .iter()
        .map(|word| word.to_string_lossy().into_owned());
    let arguments: Vec<String> = arguments.collect();
    let Some((chore, rest)) = arguments.split_first() else {
        bail!("no chore was given\n\n{USAGE}");
    };
    if !rest.is_empty()
        && matches!(
            chore.as_str(),
            "schemas" | "fleet" | "sdks" | "lint-api" | "real-model"
        )
    {
        bail!("`{chore}` takes no arguments, but `{}` was given", rest[0]);
    }
    match chore.as_str() {
        "tidy" => tidy::run(rest),
        "test" => test::run(rest),
        "edit-loop" => edit_loop::run(rest),
        "accept" => accept::run(rest),
        "schemas" => schemas::write(),
        "shots" => shots::run(rest),
        "bench" => bench::run(rest),
        "sdks" => sdks::run(),
        "sdk-bench" => sdk_bench::run(rest),
        "adapters" => adapters::run(rest),
        "fleet" => fleet::run(),
        "agents" => agents::run(rest),
        "frameworks" => frameworks::run(rest),
        "lint-api" => lint_api::run(),
        "conformance" => conformance::run(ToolSandbox::read_only_this(rest)?),
        "real-model" => real_model::run(),
        "esctest" => esctest::run(rest),
        "kernels" => kernels::run(rest),
        "platforms" => platforms::run(rest),
        "package" => artefacts::run(rest),
        "stress" => test::stress::run(rest),
        "lint" => lint::run(rest),
        "ci" => ci::run(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => bail!("`{other}` is not a chore\n\n{USAGE}"),
    }
}
