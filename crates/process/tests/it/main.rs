#![cfg(target_os = "linux")]
//! Real programs, started, fed, lost and ended. Start at `support`.

mod deaths;
mod end;
mod keep;
mod keep_input;
mod limits;
mod plain;
mod prompt;
mod resources;
mod run;
mod sandbox;
mod sandbox_attacks;
mod sandbox_races;
mod sandbox_shims;
mod sandbox_tools;
mod settle;
mod stops;
mod support;
mod sweep;
mod terminal;
mod trust;

windlass_process::init_before_main!();
