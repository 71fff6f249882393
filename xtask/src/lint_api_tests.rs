use super::*;

fn finding(linter: &'static str, text: &str) -> Finding {
    Finding {
        linter,
        text: text.to_owned(),
    }
}

#[test]
fn a_finding_stands_only_for_its_own_linter() {
    assert!(
        finding("spectral", "info-contact: no contact")
            .reason()
            .is_some()
    );
    assert!(
        finding("redocly", "info-contact: no contact")
            .reason()
            .is_none()
    );
    assert!(
        finding("spectral", "oas3-schema: broken")
            .reason()
            .is_none()
    );
}

#[test]
fn the_sample_is_a_config() {
    toml::from_str::<toml::Table>(CONFIG).unwrap();
}
