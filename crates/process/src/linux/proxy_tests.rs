use super::*;

#[test]
fn a_tunnel_and_a_plain_request_are_understood() {
    let tunnel = ProxyRequest::parse("CONNECT a.com:443 HTTP/1.1\r\nHost: a.com\r\n\r\n");
    let tunnel = tunnel.expect("a request");
    assert_eq!(
        (&*tunnel.host, tunnel.port, tunnel.forward),
        ("a.com", 443, None)
    );
    let plain = "GET http://u:p@a.com:8080/x?y HTTP/1.1\r\nHost: a.com\r\nProxy-Connection: keep-alive\r\n\r\n";
    let plain = ProxyRequest::parse(plain).expect("a request");
    assert_eq!((&*plain.host, plain.port), ("a.com", 8080));
    let forward = plain.forward.expect("a head");
    assert_eq!(
        forward,
        "GET /x?y HTTP/1.1\r\nHost: a.com\r\nconnection: close\r\n\r\n"
    );
    for text in [
        "GET /x HTTP/1.1\r\n\r\n",
        "CONNECT a.com HTTP/1.1\r\n\r\n",
        "x\r\n\r\n",
    ] {
        assert_eq!(ProxyRequest::parse(text), None, "{text}");
    }
}

#[test]
fn addresses_of_the_machine_are_known() {
    for text in [
        "127.0.0.1",
        "127.8.8.8",
        "::1",
        "::ffff:127.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "fe80::1",
    ] {
        assert!(is_of_machine(text.parse().expect("an address")), "{text}");
    }
    assert!(!is_of_machine("93.184.216.34".parse().expect("an address")));
}

#[tokio::test]
async fn patterns_for_many_hosts_do_not_lead_to_this_machine() {
    let server = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = server.local_addr().expect("an address").port();
    let connects = |patterns: &[&str], host: &'static str| {
        let hosts = patterns
            .iter()
            .map(|it| HostPattern::parse(it).expect("a pattern"));
        let rules = ProxyRules {
            hosts: hosts.collect(),
            refused: Mutex::default(),
        };
        async move { rules.connect(host, port).await.is_ok() }
    };
    for host in [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "127.1",
        "2130706433",
        "::1",
        "::ffff:127.0.0.1",
        "0.0.0.0",
    ] {
        assert!(!connects(&["*"], host).await, "{host}");
    }
    assert!(!connects(&["*.0.0.1"], "127.0.0.1").await);
    assert!(connects(&["127.0.0.1"], "127.0.0.1").await);
    assert!(connects(&["localhost"], "localhost").await);
}

#[test]
fn refused_names_are_plain_text() {
    let rules = ProxyRules {
        hosts: Vec::new(),
        refused: Mutex::default(),
    };
    rules.refuse("evil\u{1b}[2J; allowed: all\n", 1);
    assert_eq!(rules.refused.lock()[0].1, "evil??2J??allowed:?all?:1");
}
