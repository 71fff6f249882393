use super::*;

#[test]
fn an_account_is_read() {
    let text = "rchar: 6976\nwchar: 900\nsyscr: 10\nsyscw: 3\nread_bytes: 0\nwrite_bytes: 8192\n\
                cancelled_write_bytes: 4096\n";
    let written = WrittenBytes {
        to_disks: 4096,
        to_anything: 900,
    };
    assert_eq!(WrittenBytes::parse(text), Some(written));
    assert_eq!(WrittenBytes::parse("rchar: 1\n"), None);
}
