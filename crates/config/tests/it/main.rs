//! Loading from real folders, and what people read when that fails.

mod errors;
mod examples;
mod hosts;
mod jp;
mod layers;
mod support;
mod templates;
mod tools;
mod trust;
mod user_word;

#[test]
fn every_file_of_this_folder_is_a_module() {
    let main = include_str!("main.rs");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "rs") {
            continue;
        }
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            stem == "main" || main.contains(&format!("mod {stem};")),
            "{stem}"
        );
    }
}
