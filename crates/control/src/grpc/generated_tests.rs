//! The generated code belongs to `proto/tool.proto`. With
//! `WINDLASS_GENERATE=1` it is written instead.

use std::fs;
use std::path::{Path, PathBuf};

use prost::Message;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("generated")
}

/// Every generated file and what belongs into it.
fn generated() -> Vec<(PathBuf, Vec<u8>)> {
    let protos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    let descriptors = protox::compile(["tool.proto"], [protos]).unwrap();
    let made = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_transport(false)
        .out_dir(made.path())
        .compile_fds(descriptors.clone())
        .unwrap();
    let name = "opencode.tool.rs";
    let code = fs::read(made.path().join(name)).unwrap();
    vec![
        (folder().join(name), code),
        (folder().join("tool.binpb"), descriptors.encode_to_vec()),
    ]
}

#[test]
fn the_generated_code_belongs_to_the_proto_file() {
    for (path, right) in generated() {
        if std::env::var_os("WINDLASS_GENERATE").is_some() {
            fs::write(&path, &right).unwrap();
        }
        let there = fs::read(&path).unwrap_or_default();
        assert!(
            there == right,
            "`{}` is stale; write it with \
             `WINDLASS_GENERATE=1 cargo test -p windlass-control generated`",
            path.display()
        );
    }
}
