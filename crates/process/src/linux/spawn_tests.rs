use super::*;

#[test]
fn a_list_of_strings_ends_in_null() {
    let empty = StringList::new([]);
    assert_eq!(empty.pointers, [ptr::null()]);
    let strings = [c"one", c"two"];
    let list = StringList::new(strings);
    let expected = [strings[0].as_ptr(), strings[1].as_ptr(), ptr::null()];
    assert_eq!(list.pointers, expected);
}
