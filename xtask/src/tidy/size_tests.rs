//! Example files of a given length.

use super::*;

fn check(text: &str) -> Vec<String> {
    long_parts(text).unwrap()
}

fn function(lines: usize) -> String {
    format!("fn long() {{\n{}}}\n", "    work();\n".repeat(lines - 2))
}

#[test]
fn what_is_just_short_enough_is_not_reported() {
    assert_eq!(check(&function(80)), [""; 0]);
    assert_eq!(check(&"const _: () = ();\n".repeat(500)), [""; 0]);
}

#[test]
fn a_long_function_is_reported_by_name() {
    let told = ["has function `long` of 81 lines; about 80 is the most"];
    assert_eq!(check(&function(81)), told);
    assert_eq!(check(&format!("impl X {{\n{}}}", function(81))), told);
    assert_eq!(check(&format!("trait X {{\n{}}}", function(81))), told);
}

#[test]
fn a_long_file_is_reported() {
    assert_eq!(
        check(&"const _: () = ();\n".repeat(501)),
        ["has 501 lines without its tests; about 500 is the most"]
    );
}

#[test]
fn tests_do_not_count() {
    let text = format!(
        "{}#[cfg(test)]\nmod tests {{\n{}}}\n",
        "const _: () = ();\n".repeat(400),
        function(200)
    );
    assert_eq!(check(&text), [""; 0]);
}
