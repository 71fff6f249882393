//! Made-up string tables.

use super::*;

#[test]
fn the_newest_glibc_is_by_number() {
    let program = b"\0GLIBC_2.2.5\0GLIBC_2.28\0GLIBC_2.4\0GLIBC_PRIVATE\0";
    assert_eq!(glibc(program), Some((2, 28)));
}

#[test]
fn a_text_that_speaks_of_glibc_is_no_version() {
    assert_eq!(glibc(b"\0GLIBC_2.99 is too new for us\0GLIBC_\0"), None);
}

#[test]
fn a_library_is_needed_by_its_whole_name() {
    let program = b"\0libc.so.6\0libgcc_s.so.1\0";
    assert!(needs(program, "libgcc_s.so.1"));
    assert!(!needs(program, "gcc_s.so.1"));
}
