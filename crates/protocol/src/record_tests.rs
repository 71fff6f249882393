use super::*;

#[test]
fn a_project_has_the_same_id_in_every_version() {
    assert_eq!(project_id(Path::new("/project")), "4129dca95035745f");
    assert_eq!(project_id(Path::new("")), "cbf29ce484222325");
}
