/// The faults of a list with one row, beside a source with a test that may be skipped.
fn check(test: &str, reason: &str) -> Vec<String> {
    let list = format!("[[skip]]\ntest = \"{test}\"\nreason = \"{reason}\"\n");
    let source = "#[test]\nfn it_works() { if x() { skip!(\"only root can\") } }";
    super::stale(&list, &[("x.rs".to_owned(), source.to_owned())]).unwrap()
}

#[test]
fn a_row_names_a_test_and_its_reason() {
    assert_eq!(check("x::it_works", "only root can"), [""; 0]);
    assert_eq!(
        check("x::it_worked", "only root can"),
        ["`xtask/skips.toml`: there is no test `x::it_worked`; remove its row"]
    );
    assert_eq!(
        check("x::it_works", "only root"),
        [
            "`xtask/skips.toml`: no test gives the reason \"only root\"; correct the row of `x::it_works`"
        ]
    );
}
