//! The CPU time that a command took.
//!
//! Seconds on the clock depend on what else the machine does; CPU seconds hardly do. They are compared between machines.

use std::time::Duration;

/// The CPU time of this process and of its ended descendants that somebody has waited for. `None` where the system has no `/proc`.
pub(crate) fn used() -> Option<Duration> {
    read(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// Adds `utime`, `stime`, `cutime` and `cstime`.
fn read(stat: &str) -> Option<Duration> {
    /// The index of `utime`, counted from behind the name.
    const FIRST: usize = 11;
    // The name is in parentheses, and may contain both spaces and parentheses.
    let (_, behind) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = behind.split_whitespace().collect();
    let ticks = fields.get(FIRST..FIRST + 4)?.iter();
    let ticks = ticks.map(|field| field.parse::<u64>().ok());
    let ticks = ticks.sum::<Option<u64>>()?;
    let per_second = rustix::param::clock_ticks_per_second();
    Some(Duration::from_millis(ticks * 1000 / per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_process_and_of_its_children_is_added() {
        let ticks = rustix::param::clock_ticks_per_second();
        let stat = format!(
            "7 (a ) b) S 1 7 7 0 -1 4194304 9 8 7 6 {ticks} {ticks} {} 0 20 0 1",
            2 * ticks
        );
        assert_eq!(read(&stat), Some(Duration::from_secs(4)));
        assert_eq!(read("7 (a) S 1"), None);
    }
}
