//! Compresses the files of the page, which the program contains.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

const BEST: u8 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    pack_page(Path::new("page"), &out)
}

/// Writes all files as one stream, and a table with the name and the end of each.
fn pack_page(folder: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    paths.sort();
    let mut all = Vec::new();
    let mut table = String::from("&[\n");
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or("a file of the page has no readable name")?;
        println!("cargo::rerun-if-changed={}", path.display());
        all.extend(fs::read(&path)?);
        writeln!(table, "    ({name:?}, {}),", all.len())?;
    }
    table.push_str("]\n");
    fs::write(out.join("page.rs"), table)?;
    let packed = miniz_oxide::deflate::compress_to_vec(&all, BEST);
    fs::write(out.join("page.deflate"), packed)?;
    Ok(())
}
