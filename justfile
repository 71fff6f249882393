# One line each; anything longer is Rust in `xtask`.

# What must hold before a merge.
check:
    cargo xtask ci

# Every test, with the counts at the end.
test *arguments:
    cargo xtask test {{arguments}}

# Mend what can be mended by machine.
fix:
    cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged && cargo fmt --all && cargo xtask schemas

# The documentation of every crate.
doc:
    cargo doc --workspace --no-deps

# The benchmarks.
bench *arguments:
    cargo xtask bench {{arguments}}
