use super::*;

/// On a machine whose numbers begin with the lowest byte.
#[cfg(target_endian = "little")]
#[test]
fn addresses_are_read_as_the_system_writes_them() {
    let read = |text| address(text).map(|address| address.to_string());
    assert_eq!(read("0100007F:20DD").as_deref(), Some("127.0.0.1:8413"));
    assert_eq!(
        read("00000000000000000000000001000000:20DD").as_deref(),
        Some("[::1]:8413")
    );
    assert_eq!(
        read("0000000000000000FFFF00000100007F:20DD").as_deref(),
        Some("[::ffff:127.0.0.1]:8413")
    );
    assert_eq!(read("0100007F"), None);
    assert_eq!(read("01:1"), None);
}
