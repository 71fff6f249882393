//! What Windlass costs, held against the bare system calls in the same run.
//!
//! `cargo xtask bench [--quick] [--only NAME]…` prints one table. Start at
//! `bench::run`; each benchmark is a module of its own. Ratios are what
//! counts: they hold from machine to machine better than times do. A goal
//! that is missed is printed, and is no failure: on a machine that others
//! use, only the person who reads the table can tell a slow program from a
//! slow moment.

#[cfg(target_os = "linux")]
mod bench;

fn main() -> std::process::ExitCode {
    // Before anything else: this may be a zygote.
    windlass::init();
    #[cfg(target_os = "linux")]
    return bench::run();
    #[cfg(not(target_os = "linux"))]
    {
        eprintln!("there is nothing to measure here: trees are held together on Linux only");
        std::process::ExitCode::FAILURE
    }
}
