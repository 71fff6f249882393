//! The page's files, as the build script has compressed them into the program.

use miniz_oxide::inflate::decompress_to_vec;

/// The page's files, one after the other.
pub(crate) fn page() -> Vec<u8> {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/page.deflate"));
    decompress_to_vec(packed).expect("the build script has written it")
}

/// The name and the end of each file in [`page()`].
#[expect(
    clippy::unreadable_literal,
    reason = "the build script writes the numbers"
)]
pub(crate) const PAGE_TABLE: &[(&str, usize)] = include!(concat!(env!("OUT_DIR"), "/page.rs"));
