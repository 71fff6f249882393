//! Tags, METADATA and RECORD.

use super::*;
use crate::artefacts::platform;

#[test]
fn a_tag_names_the_oldest_glibc_and_the_processor() {
    let tag = |npm: &str, glibc| {
        let mut all = platform::all().iter();
        platform_tag(all.find(|platform| platform.npm == npm).unwrap(), glibc).unwrap()
    };
    assert_eq!(tag("linux-x64", Some((2, 28))), "manylinux_2_28_x86_64");
    assert_eq!(tag("linux-arm64", Some((2, 34))), "manylinux_2_34_aarch64");
    assert_eq!(tag("darwin-arm64", None), "macosx_11_0_arm64");
}

#[test]
fn metadata_carries_what_the_project_says() {
    let project: Table = r#"
        description = "A runtime"
        requires-python = ">=3.11"
        classifiers = ["License :: OSI Approved", "Typing :: Typed"]
        dependencies = ["httpx>=0.27"]
        optional-dependencies.agents = ["openai-agents", "tomli; python_version < '3.12'"]
    "#
    .parse()
    .unwrap();
    assert_eq!(
        metadata(&project, "1.2.3", "# Readme"),
        "Metadata-Version: 2.4\nName: windlass\nVersion: 1.2.3\nSummary: A runtime\n\
         Keywords: mcp,agent,assistant,tools,terminal\nLicense-Expression: MIT OR Apache-2.0\n\
         License-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\nLicense-File: THIRD-PARTY-LICENSES.txt\n\
         Classifier: Typing :: Typed\nRequires-Python: >=3.11\nRequires-Dist: httpx>=0.27\n\
         Provides-Extra: agents\nRequires-Dist: openai-agents; extra == 'agents'\n\
         Requires-Dist: tomli; (python_version < '3.12') and extra == 'agents'\n\
         Description-Content-Type: text/markdown\n\n# Readme"
    );
}

#[test]
fn a_program_may_be_run_and_every_file_has_its_sum() {
    let entry = |path: &str, is_program| WheelEntry {
        path: path.to_owned(),
        bytes: b"abc".to_vec(),
        is_program,
    };
    let entries = vec![
        entry("windlass-1.data/scripts/windlass", true),
        entry("windlass/py.typed", false),
    ];
    let bytes = packed(entries, "windlass-1.dist-info", PackingEffort::Least).unwrap();
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mode = |archive: &mut zip::ZipArchive<_>, place| {
        let file: zip::read::ZipFile<'_, Cursor<Vec<u8>>> = archive.by_index(place).unwrap();
        file.unix_mode().unwrap() & 0o777
    };
    assert_eq!(
        (mode(&mut archive, 0), mode(&mut archive, 1)),
        (0o755, 0o644)
    );
    let record = archive.by_name("windlass-1.dist-info/RECORD").unwrap();
    let record = std::io::read_to_string(record).unwrap();
    // The well-known checksum of `abc`.
    let sum = "sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3";
    assert_eq!(
        record,
        format!(
            "windlass-1.data/scripts/windlass,{sum}\nwindlass/py.typed,{sum}\nwindlass-1.dist-info/RECORD,,\n"
        )
    );
}
