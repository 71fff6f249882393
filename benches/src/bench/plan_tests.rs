use super::{Benchmark, Pace, Plan};

fn read(line: &str) -> Result<Plan, String> {
    let plan = Plan::read(line.split_ascii_whitespace().map(str::to_owned));
    plan.map_err(|error| error.to_string())
}

#[test]
fn everything_runs_thoroughly_unless_said() {
    let plan = read("").unwrap();
    assert_eq!(plan.benchmarks, Benchmark::ALL);
    assert_eq!(plan.pace, Pace::Thorough);
}

#[test]
fn only_may_be_said_twice_and_keeps_the_order() {
    let plan = read("--only wake --quick --only many").unwrap();
    assert_eq!(plan.benchmarks, [Benchmark::Many, Benchmark::Wake]);
    assert_eq!(plan.pace, Pace::Quick);
}

#[test]
fn a_wrong_name_is_answered_with_the_right_ones() {
    assert_eq!(
        read("--only speed").unwrap_err(),
        "`speed` is not a benchmark; the benchmarks are many, handles, terminals, one-shot, \
         sandbox, wake, apply, \
         fetch, argument, record, mcp, assistant, keystroke, load, startup, flood, \
         digest, terminal-flood, page, hosts, pool"
    );
    assert!(read("--only").unwrap_err().starts_with("`--only` needs"));
    assert!(read("quick").unwrap_err().contains("use --quick"));
}
