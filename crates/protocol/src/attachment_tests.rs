use super::*;

#[test]
fn a_path_becomes_a_url_that_names_it() {
    let url = file_url(Path::new("/tmp/a b/ü.log"));
    assert_eq!(url, "file:///tmp/a%20b/%C3%BC.log");
}
