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
