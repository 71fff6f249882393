//! `docs/guide/library.md` shows these programs and no others.

use std::path::Path;

/// The programs, by name.
const PROGRAMS: [(&str, &str); 3] = [
    (
        "function_tool",
        include_str!("../../src/bin/function_tool.rs"),
    ),
    (
        "custom_executor",
        include_str!("../../src/bin/custom_executor.rs"),
    ),
    ("agent_loop", include_str!("../../src/bin/agent_loop.rs")),
];

fn guide() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/library.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_code_of_the_guide_is_the_programs() {
    let guide = guide();
    for (name, program) in PROGRAMS {
        let block = format!("```rust {name}\n{program}```\n");
        assert!(guide.contains(&block), "`{name}` of the guide is stale");
    }
    let blocks = guide.lines().filter(|line| line.starts_with("```rust"));
    assert_eq!(blocks.count(), PROGRAMS.len());
}

#[test]
fn every_program_is_short() {
    for (name, program) in PROGRAMS {
        assert!(program.lines().count() < 60, "`{name}` is too long");
    }
}
