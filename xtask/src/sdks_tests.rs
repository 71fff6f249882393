use super::*;

#[test]
fn counts_are_read_from_what_unittest_says() {
    assert_eq!(
        read_unittest("....\nRan 54 tests in 24.016s\n\nOK\n"),
        Some((54, 0))
    );
    assert_eq!(
        read_unittest("Ran 54 tests in 1s\n\nFAILED (failures=1, errors=2)\n"),
        Some((54, 3))
    );
    assert_eq!(read_unittest("Traceback"), None);
}
