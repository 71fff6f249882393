//! The keys of model providers: tools do not get them.

use std::process::Stdio;

use crate::support::Project;

/// `KNOWN_PROVIDERS` says who has which key, and a real child is asked what it
/// got.
#[test]
fn the_key_of_every_known_provider_is_withheld_from_tools() {
    let project = Project::with_config("");
    let mut command = project.windlass(&["call", "shell", r#"{"command": "env"}"#]);
    command.stdin(Stdio::null()).env("KEPT", "yes");
    let keyed = windlass_assistant::KNOWN_PROVIDERS.iter();
    let keyed: Vec<_> = keyed.filter(|known| !known.needs_no_key()).collect();
    for known in &keyed {
        for variable in known.key_variables {
            command.env(variable, format!("secret-of-{}", known.name));
        }
    }
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("KEPT=yes"), "{printed}");
    for known in keyed {
        assert!(!printed.contains("secret-of-"), "{}: {printed}", known.name);
        for variable in known.key_variables {
            assert!(!printed.contains(variable), "{variable}: {printed}");
        }
    }
}
