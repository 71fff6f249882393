//! Reads the required libraries of a program from its bytes.

/// The newest version of glibc that the program requires.
pub(super) fn glibc(program: &[u8]) -> Option<(u32, u32)> {
    const MARK: &[u8] = b"GLIBC_";
    let mut newest = None;
    for (place, window) in program.windows(MARK.len()).enumerate() {
        if window == MARK {
            newest = newest.max(version(&program[place + MARK.len()..]));
        }
    }
    newest
}

/// Whether the program requires the shared library of this name.
pub(super) fn needs(program: &[u8], library: &str) -> bool {
    let name = [b"\0", library.as_bytes(), b"\0"].concat();
    program.windows(name.len()).any(|window| window == name)
}

/// Reads a version such as `2.28` or `2.2.5`, terminated by a zero byte.
fn version(bytes: &[u8]) -> Option<(u32, u32)> {
    let end = bytes.iter().take(16).position(|byte| *byte == 0)?;
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut numbers = text.split('.').map(str::parse::<u32>);
    let version = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    numbers.all(|number| number.is_ok()).then_some(version)
}

#[cfg(test)]
#[path = "elf_tests.rs"]
mod tests;
