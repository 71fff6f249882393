//! The description of this machine.

use std::path::Path;

use windlass_hold_wire::{FarHello, LINK_VERSION};
use windlass_process::find_program;

/// Describes this machine, with the paths of the requested programs.
pub fn describe(asks: &[String], holds_trees: bool) -> FarHello {
    let path = std::env::var_os("PATH");
    let here = std::env::current_dir().unwrap_or_default();
    let find = |name: &String| {
        let file = find_program(name.as_ref(), path.as_deref(), &here).ok();
        let is_there = |file: &std::path::PathBuf| file.is_file();
        let file = file.filter(is_there);
        (
            name.clone(),
            file.map(|it| it.to_string_lossy().into_owned()),
        )
    };
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    FarHello {
        version: LINK_VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine.trim().to_owned(),
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
        memory: memory().unwrap_or(0),
        load: load().unwrap_or(0),
        home: std::env::var("HOME").unwrap_or_default(),
        holds_trees,
        programs: asks.iter().map(find).collect(),
        sandbox: Vec::new(),
        labels: Vec::new(),
    }
}

fn memory() -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc/meminfo")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The load average of the last minute, times 1000.
fn load() -> Option<u32> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    let (whole, part) = text.split_ascii_whitespace().next()?.split_once('.')?;
    let (whole, part): (u32, u32) = (whole.parse().ok()?, part.get(..2)?.parse().ok()?);
    Some(whole.saturating_mul(1000) + part * 10)
}
