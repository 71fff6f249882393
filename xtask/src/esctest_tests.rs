use super::*;

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn only_what_passed_counts_as_passed() {
    let log = "\
Run test: A.test_one
Passed.

Run test: A.test_two
Fails as expected: Not implemented.

Run test: A.test_three
*** TEST A.test_three FAILED:
Traceback (most recent call last):

Run test: A.test_four
Passed.
*** 2 tests passed, 1 known bug, 1 TEST FAILED ***
Failing tests:
A.test_three
";
    let outcome = SuiteRun {
        passed: names(&["A.test_one", "A.test_four"]),
        others: names(&["A.test_two", "A.test_three"]),
    };
    assert_eq!(SuiteRun::read(log), outcome);
}

#[test]
fn a_page_lists_tests_as_points() {
    let page = "Text about `A.test_no`\n- `A.test_one`: why\n- `code`\n- `B.test_two`\n";
    assert_eq!(listed(page), names(&["A.test_one", "B.test_two"]));
}
