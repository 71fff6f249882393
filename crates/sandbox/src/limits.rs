//! How much of the machine a program and its descendants may use.

use std::fmt;
use std::time::Duration;

/// Limits of one program with everything that it starts. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ResourceLimits {
    /// Bytes of memory of all processes together.
    pub memory: Option<u64>,
    /// Processes that run at once.
    pub processes: Option<u32>,
    /// CPU time of one process, and of all of them together.
    pub cpu: Option<Duration>,
    /// Open files of each process.
    pub open_files: Option<u64>,
    /// Bytes of each file that is written.
    pub file_size: Option<u64>,
    /// Time from the start.
    pub wall: Option<Duration>,
    /// Bytes that all processes together have written to disks, or to temporary folders in memory.
    pub disk: Option<u64>,
}

impl ResourceLimits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Of each limit the lower one.
    pub fn within(self, other: Self) -> Self {
        fn lower<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }
        }
        Self {
            memory: lower(self.memory, other.memory),
            processes: lower(self.processes, other.processes),
            cpu: lower(self.cpu, other.cpu),
            open_files: lower(self.open_files, other.open_files),
            file_size: lower(self.file_size, other.file_size),
            wall: lower(self.wall, other.wall),
            disk: lower(self.disk, other.disk),
        }
    }

    /// These limits, and those of `other` where these are silent.
    pub fn or(self, other: Self) -> Self {
        Self {
            memory: self.memory.or(other.memory),
            processes: self.processes.or(other.processes),
            cpu: self.cpu.or(other.cpu),
            open_files: self.open_files.or(other.open_files),
            file_size: self.file_size.or(other.file_size),
            wall: self.wall.or(other.wall),
            disk: self.disk.or(other.disk),
        }
    }

    /// The limit of this kind as the configuration writes it.
    pub fn describe(&self, kind: LimitKind) -> String {
        let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs_f64().to_string());
        let value = match kind {
            LimitKind::Memory => self.memory.map(size),
            LimitKind::Processes => self.processes.map(|limit| limit.to_string()),
            LimitKind::Cpu => seconds(self.cpu),
            LimitKind::FileSize => self.file_size.map(size),
            LimitKind::Wall => seconds(self.wall),
            LimitKind::Disk => self.disk.map(size),
        };
        match value {
            Some(value) => format!("{kind} = {value}"),
            None => kind.to_string(),
        }
    }
}

/// A limit whose excess ends a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitKind {
    /// [`ResourceLimits::memory`]
    Memory,
    /// [`ResourceLimits::processes`]
    Processes,
    /// [`ResourceLimits::cpu`]
    Cpu,
    /// [`ResourceLimits::file_size`]
    FileSize,
    /// [`ResourceLimits::wall`]
    Wall,
    /// [`ResourceLimits::disk`]
    Disk,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::Cpu => "cpu_secs",
            Self::FileSize => "file_size",
            Self::Wall => "wall_secs",
            Self::Disk => "disk",
        })
    }
}

fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    match unit {
        Some((unit, name)) if bytes > 0 => format!("{}{name}", bytes / unit),
        _ => bytes.to_string(),
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
