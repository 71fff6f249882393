//! Gets Debian's kernels.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::apt::Apt;

/// The path of the newest kernel of a suite, for machines in clouds: it has everything built in that is needed here.
pub(super) fn kernel(folder: &Path, suite: &str) -> anyhow::Result<PathBuf> {
    let folder = folder.join(suite);
    if let Some(kernel) = unpacked(&folder) {
        return Ok(kernel);
    }
    let apt = Apt::new(&folder, &[("debian", suite)])?;
    apt.run("apt-get", &["update"])?;
    let names = apt.run("apt-cache", &["pkgnames", "linux-"])?;
    let name = newest(&names).context("the suite has no kernel package")?;
    apt.run("apt-get", &["download", name])?;
    let entries = folder.read_dir()?.flatten().map(|entry| entry.path());
    let mut packages = entries.filter(|path| path.extension().is_some_and(|it| it == "deb"));
    let package = packages.next().context("apt has downloaded no package")?;
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("-x").arg(&package).arg(&folder);
    ensure!(unpack.status()?.success(), "`dpkg-deb` failed");
    unpacked(&folder).context("the package has no kernel")
}

/// The kernel of an unpacked package: `boot/vmlinuz-VERSION`, or `usr/lib/modules/VERSION/vmlinuz`.
fn unpacked(folder: &Path) -> Option<PathBuf> {
    let paths = |part: &str| -> Vec<PathBuf> {
        let entries = folder.join(part).read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let named = paths("boot").into_iter();
    let inner = paths("usr/lib/modules").into_iter();
    let mut kernels = named.chain(inner.map(|path| path.join("vmlinuz")));
    kernels.find(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("vmlinuz")) && path.is_file()
    })
}

/// The package of the highest version among these names. From Linux 7 on, the kernel is in a package of its own.
fn newest(names: &str) -> Option<&str> {
    let version = |name: &&str| -> Option<(Vec<u32>, bool)> {
        let binary = name.strip_prefix("linux-binary-");
        let version = binary.or_else(|| name.strip_prefix("linux-image-"))?;
        let version = version.strip_suffix("-cloud-amd64")?;
        let numbers = version.split(['.', '-', '+']);
        let numbers: Vec<u32> = numbers.map_while(|it| it.parse().ok()).collect();
        (!numbers.is_empty()).then_some((numbers, binary.is_some()))
    };
    let names = names.lines().filter(|name| version(name).is_some());
    names.max_by_key(version)
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
