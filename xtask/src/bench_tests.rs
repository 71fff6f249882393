use super::{Need, need};

fn check(arguments: &str, expected: &Need) {
    let arguments: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
    assert_eq!(need(&arguments, "page"), *expected, "{arguments:?}");
}

#[test]
fn a_browser_is_needed_where_the_page_is_measured() {
    check("", &Need::Welcome);
    check("--quick", &Need::Welcome);
    check("--only wake", &Need::Nothing);
    check("--only wake --quick --only page", &Need::Wanted);
}
