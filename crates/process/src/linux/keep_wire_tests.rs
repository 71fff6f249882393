use super::*;

#[test]
fn an_order_to_keep_is_read_as_it_was_written() {
    for log in [None, Some(PathBuf::from("/state/1.log"))] {
        let has_proxy = log.is_some();
        let order = KeepOrder {
            streams: Streams {
                stderr: true,
                stdin: HeldInput::None,
                terminal: false,
            },
            lease: Duration::from_hours(1),
            nonce: [7; 16],
            log_limit: 1 << 40,
            hold_object: true,
            socket: PathBuf::from("/state/held/a.sock"),
            receipt: PathBuf::from("/state/held/a.receipt"),
            log,
            registration: None,
            proxy: has_proxy.then(|| {
                let hosts = ["*.crates.io", "[::1]:4873", "127.0.0.1:80"];
                hosts.map(|host| HostPattern::parse(host).unwrap()).into()
            }),
        };
        assert_eq!(KeepOrder::read(&order.write()), Some(order));
    }
}
