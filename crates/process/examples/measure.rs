//! What starting, waiting and reading cost, against the bare system calls in the same run.
//!
//! `cargo run --release -p windlass-process --example measure [spawn|sandbox|wake|print|memory|many|kept|terminal]…`, all of them without an
//! argument. Ratios are what counts: they hold from machine to machine better than times do.

#[cfg(target_os = "linux")]
#[path = "measure/kept.rs"]
mod kept;
#[cfg(target_os = "linux")]
#[path = "measure/linux.rs"]
mod linux;
#[cfg(target_os = "linux")]
#[path = "measure/sandbox.rs"]
mod sandbox;
#[cfg(target_os = "linux")]
#[path = "measure/terminal.rs"]
mod terminal;

fn main() {
    windlass_process::init();
    #[cfg(target_os = "linux")]
    linux::run();
    #[cfg(not(target_os = "linux"))]
    println!("there is nothing to measure here: trees are held together on Linux only");
}
