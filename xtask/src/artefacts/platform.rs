//! The platforms that packages are made for.

use anyhow::Context;

/// An operating system and a processor, with each packager's names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Platform {
    /// The suffix of the npm package.
    pub(super) npm: &'static str,
    /// `os` of the npm package.
    pub(super) os: &'static str,
    /// `cpu` of the npm package.
    pub(super) cpu: &'static str,
    /// The Rust target.
    pub(super) triple: &'static str,
    /// Debian's architecture, if there is one.
    pub(super) debian: Option<&'static str>,
    /// The processor in a wheel's tag.
    pub(super) wheel: &'static str,
    os_here: &'static str,
    cpu_here: &'static str,
}

#[rustfmt::skip]
const ALL: &[Platform] = &[
    Platform { npm: "linux-x64", os: "linux", cpu: "x64", triple: "x86_64-unknown-linux-gnu", debian: Some("amd64"), wheel: "x86_64", os_here: "linux", cpu_here: "x86_64" },
    Platform { npm: "linux-arm64", os: "linux", cpu: "arm64", triple: "aarch64-unknown-linux-gnu", debian: Some("arm64"), wheel: "aarch64", os_here: "linux", cpu_here: "aarch64" },
    Platform { npm: "darwin-x64", os: "darwin", cpu: "x64", triple: "x86_64-apple-darwin", debian: None, wheel: "x86_64", os_here: "macos", cpu_here: "x86_64" },
    Platform { npm: "darwin-arm64", os: "darwin", cpu: "arm64", triple: "aarch64-apple-darwin", debian: None, wheel: "arm64", os_here: "macos", cpu_here: "aarch64" },
];

/// Every platform that packages exist for.
pub(super) fn all() -> &'static [Platform] {
    ALL
}

/// The platform of this machine.
pub(super) fn here() -> anyhow::Result<&'static Platform> {
    let (os, cpu) = (std::env::consts::OS, std::env::consts::ARCH);
    ALL.iter()
        .find(|platform| platform.os_here == os && platform.cpu_here == cpu)
        .with_context(|| format!("there are no packages for {os} on {cpu}"))
}

/// All platforms but this one.
pub(super) fn others(one: &Platform) -> impl Iterator<Item = &'static Platform> {
    ALL.iter().filter(move |platform| *platform != one)
}

impl Platform {
    /// Whether it runs Linux.
    pub(super) fn is_linux(&self) -> bool {
        self.os == "linux"
    }
}
