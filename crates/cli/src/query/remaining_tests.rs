use std::time::Duration;

use windlass_protocol::HandleId;

use super::{LeasedHandle, RemainingHandles, leased_names};

#[test]
fn handles_are_named_with_their_tool_and_lease() {
    let remaining = RemainingHandles {
        ending: vec![
            (HandleId::new("web").unwrap(), "shell".to_owned()),
            (HandleId::new("db").unwrap(), "shell".to_owned()),
        ],
        kept: vec![LeasedHandle {
            id: HandleId::new("build").unwrap(),
            tool: "cargo".to_owned(),
            lease: Duration::from_mins(90),
        }],
    };
    assert_eq!(remaining.ending_names(), "web (shell), db (shell)");
    assert_eq!(leased_names(&remaining.kept), "build (cargo) for 1h30m");
}
