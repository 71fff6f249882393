//! Compresses the description of the interface, which the program contains.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

const BEST: u8 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let openapi = "openapi.json";
    println!("cargo::rerun-if-changed={openapi}");
    let packed = miniz_oxide::deflate::compress_to_vec(&fs::read(openapi)?, BEST);
    fs::write(out.join("openapi.deflate"), packed)?;
    Ok(())
}
