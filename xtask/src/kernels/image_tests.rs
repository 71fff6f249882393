use super::library;

#[test]
fn libraries_are_found_in_the_output_of_ldd() {
    assert_eq!(library("\tlinux-vdso.so.1 (0x00007ffd)"), None);
    assert_eq!(
        library("\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)"),
        Some("/lib/x86_64-linux-gnu/libc.so.6")
    );
    assert_eq!(
        library("\t/lib64/ld-linux-x86-64.so.2 (0x00007f)"),
        Some("/lib64/ld-linux-x86-64.so.2")
    );
    assert_eq!(library("\tnot a dynamic executable"), None);
}
