use super::*;

#[test]
fn an_address_with_a_secret_is_refused() {
    for server in [
        "nats://me:word@broker:4222",
        "nats://token@broker",
        "me:word@broker",
    ] {
        let refused = check_server(server);
        assert!(
            matches!(refused, Err(PoolError::Secret)),
            "{server}: {refused:?}"
        );
        let words = refused.unwrap_err().to_string();
        assert!(
            words.contains("`credentials`") && !words.contains("word@"),
            "{words}"
        );
    }
}

#[test]
fn addresses_are_those_of_nats() {
    for server in [
        "nats://broker:4222",
        "broker:4222",
        "tls://broker",
        "nats://[::1]:4222",
    ] {
        assert!(check_server(server).is_ok(), "{server}");
    }
    for server in ["", "http://broker", "ws://broker"] {
        assert!(check_server(server).is_err(), "{server}");
    }
}
