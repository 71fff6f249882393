//! The benchmarks, in the order in which they run and are printed.
//!
//! | module | contents |
//! |---|---|
//! | `plan` | the selected benchmarks, and the number of samples |
//! | `one_shot`, `wake`, `fetch`, `startup`, `flood`, `digest` | times and rates |
//! | `sandbox` | the cost of a sandbox and limits at start |
//! | `argument` | the cost of a large argument |
//! | `record` | the cost of the record per call |
//! | `mcp` | a call over MCP; its floor is `mcp_echo` |
//! | `assistant` | the overhead of a turn, and the cost of a long conversation |
//! | `load` | a server with many readers and many calls |
//! | `apply`, `terminal_flood` | times and rates of terminals |
//! | `many`, `handles`, `terminals` | leaks, and the cost of a live handle |
//! | `page` | the cost of the page of `serve` in a browser |
//! | `hosts` | tools on a host; its server is `ssh_server` |
//! | `pool` | programs on a pool, with a broker and a worker |
//! | `fixture` | the runtime under test, with its tools |
//! | `bare`, `bare_terminal` | the floors: only the system calls |
//! | `proc` | reads `/proc` |
//! | `samples`, `table` | medians, and the table |

mod apply;
mod argument;
mod assistant;
mod bare;
mod bare_terminal;
mod digest;
mod fetch;
mod fixture;
mod flood;
mod handles;
mod hosts;
mod keystroke;
mod load;
mod many;
mod mcp;
mod mcp_echo;
mod one_shot;
mod page;
mod plan;
mod pool;
mod proc;
mod record;
mod samples;
mod sandbox;
mod ssh_server;
mod startup;
mod table;
mod terminal_flood;
mod terminals;
mod wake;

use std::process::ExitCode;

use self::plan::{Benchmark, Plan};
use self::table::{Line, Table};

/// Runs the benchmarks of the command line and prints the table.
pub(crate) fn run() -> ExitCode {
    if mcp_echo::run_if_told() {
        return ExitCode::SUCCESS;
    }
    let plan = match Plan::read(std::env::args().skip(1)) {
        Ok(plan) => plan,
        Err(problem) => {
            eprintln!("error: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let mut table = Table::default();
    let mut code = ExitCode::SUCCESS;
    for benchmark in &plan.benchmarks {
        eprintln!("measuring {} …", benchmark.name());
        proc::give_back();
        let lines = match benchmark {
            // These compare our memory before and after. Memory freed by other benchmarks would hide growth, so they
            // run first.
            Benchmark::Many => on_executor(many::measure(plan.pace)),
            Benchmark::Handles => on_executor(handles::measure(plan.pace)),
            Benchmark::Terminals => on_executor(terminals::measure(plan.pace)),
            Benchmark::OneShot => on_executor(one_shot::measure(plan.pace)),
            Benchmark::Sandbox => on_executor(sandbox::measure(plan.pace)),
            Benchmark::Wake => on_executor(wake::measure(plan.pace)),
            Benchmark::Apply => on_executor(apply::measure(plan.pace)),
            Benchmark::Fetch => fetch::measure(plan.pace),
            Benchmark::Argument => on_executor(argument::measure(plan.pace)),
            Benchmark::Record => on_executor(record::measure(plan.pace)),
            Benchmark::Mcp => mcp::measure(plan.pace),
            Benchmark::Assistant => on_executor(assistant::measure(plan.pace)),
            Benchmark::Keystroke => on_executor(keystroke::measure(plan.pace)),
            Benchmark::Load => on_executor(load::measure(plan.pace)),
            Benchmark::Startup => startup::measure(plan.pace),
            Benchmark::Flood => on_executor(flood::measure(plan.pace)),
            Benchmark::Digest => digest::measure(plan.pace),
            Benchmark::TerminalFlood => on_executor(terminal_flood::measure(plan.pace)),
            Benchmark::Page => on_executor(page::measure(plan.pace)),
            Benchmark::Hosts => on_executor(hosts::measure(plan.pace)),
            Benchmark::Pool => on_executor(pool::measure(plan.pace)),
        };
        if plan.is_chosen && lines.is_empty() {
            eprintln!("error: `{}` could not be measured", benchmark.name());
            code = ExitCode::FAILURE;
        }
        table.extend(lines);
    }
    print!("{table}");
    code
}

/// Runs a benchmark as a task of its own executor, like every user of the runtime.
fn on_executor(benchmark: impl Future<Output = Vec<Line>> + Send + 'static) -> Vec<Line> {
    let executor = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("threads can be started");
    let lines = executor.block_on(async { tokio::spawn(benchmark).await });
    lines.expect("no benchmark panics")
}
