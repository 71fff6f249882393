use super::*;

#[test]
fn a_title_is_the_name_as_words() {
    assert_eq!(title("describe_tools"), "Describe tools");
    assert_eq!(title("x"), "X");
}
