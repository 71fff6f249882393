# One line each; anything longer is Rust in `xtask`.

# The checks before a merge.
check:
    cargo xtask ci

# Every test, with the counts at the end.
test *arguments:
    cargo xtask test {{arguments}}

# Applies automatic fixes.
fix:
    cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged && cargo fmt --all && cargo xtask schemas

# The documentation of every crate; a warning is an error.
doc:
    cargo --config "build.rustdocflags=['-D','warnings']" doc --workspace --no-deps

# The benchmarks.
bench *arguments:
    cargo xtask bench {{arguments}}
