//! The overhead of Windlass, compared with bare system calls in the same run.
//!
//! `cargo xtask bench [--quick] [--only NAME]…` prints one table. Start at
//! `bench::run`; each benchmark is a module. Compare ratios: they vary less
//! between machines than times do. A missed goal is printed, but is not a
//! failure: on a shared machine, only the reader of the table can tell a slow
//! program from a slow moment.

#[cfg(target_os = "linux")]
mod bench;

fn main() -> std::process::ExitCode {
    // Must be first: this process may be a zygote.
    windlass::init();
    #[cfg(target_os = "linux")]
    return bench::run();
    #[cfg(not(target_os = "linux"))]
    {
        eprintln!("the benchmarks need Linux: process trees are held together only there");
        std::process::ExitCode::FAILURE
    }
}
