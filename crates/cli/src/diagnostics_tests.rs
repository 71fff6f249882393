use tracing::Level;

use super::filter;

fn shows(asked: &str, target: &str, level: Level) -> bool {
    filter(asked).unwrap().would_enable(target, &level)
}

#[test]
fn a_bare_level_applies_to_our_crates_only() {
    for asked in ["debug", "DEBUG", " debug "] {
        assert!(shows(asked, "windlass_runtime::session", Level::DEBUG));
        assert!(!shows(asked, "hyper::client", Level::ERROR));
    }
    assert!(!shows("info", "windlass", Level::DEBUG));
}

#[test]
fn dependencies_are_named() {
    let asked = "windlass=info, hyper=debug,";
    assert!(shows(asked, "hyper::client", Level::DEBUG));
    assert!(shows(asked, "windlass_store", Level::INFO));
    assert!(!shows(asked, "windlass_store", Level::DEBUG));
    assert!(!shows(asked, "h2", Level::ERROR));
}

#[test]
fn a_level_beside_pairs_applies_to_the_rest() {
    let asked = "warn,windlass_process=debug";
    assert!(shows(asked, "h2", Level::WARN));
    assert!(shows(asked, "windlass_process::pipe", Level::DEBUG));
    assert!(!shows(asked, "h2", Level::INFO));
}

#[test]
fn a_wrong_level_is_an_error() {
    assert!(filter("windlass=loud").is_err());
}
