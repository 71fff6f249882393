//! A malicious page in the user's browser, and clients that mean no good.

use insta::assert_snapshot;
use serde_json::json;

use crate::http_support::{Answer, Serve};
use crate::support::Project;

fn ask(serve: &Serve, headers: &str) -> Answer {
    serve.ask("GET", "/api/v1/sessions", headers, "")
}

fn own(serve: &Serve) -> String {
    format!(
        "host: {}\r\nauthorization: Bearer {}\r\n",
        serve.address, serve.token
    )
}

#[test]
fn without_the_token_nothing_is_reported_and_nothing_done() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let host = format!("host: {}\r\n", serve.address);
    for headers in [
        host.clone(),
        format!("{host}authorization: Bearer wrong\r\n"),
    ] {
        let answer = ask(&serve, &headers);
        assert_eq!(answer.status, 401);
        assert!(
            answer.head.contains("www-authenticate: bearer"),
            "{answer:?}"
        );
        let posted = serve.ask("POST", "/api/v1/sessions", &headers, "{}");
        assert_eq!(posted.status, 401);
    }
    let in_the_address = format!("/api/v1/sessions?token={}", serve.token);
    assert_eq!(serve.ask("GET", &in_the_address, &host, "").status, 401);
    assert_eq!(ask(&serve, &own(&serve)).json(), json!([]));
}

#[test]
fn a_page_of_another_origin_is_refused_even_with_the_token() {
    let project = Project::new();
    let serve = Serve::start(&project);
    for header in [
        "origin: http://evil.test\r\n",
        "origin: null\r\n",
        "sec-fetch-site: cross-site\r\n",
    ] {
        let answer = ask(&serve, &format!("{}{header}", own(&serve)));
        assert_eq!(answer.status, 403, "{header}");
        assert!(!answer.head.contains("access-control"), "{answer:?}");
        // What a browser asks before it asks.
        let headers = format!(
            "host: {}\r\n{header}access-control-request-method: POST\r\n",
            serve.address
        );
        let before = serve.ask("OPTIONS", "/api/v1/sessions", &headers, "");
        assert_eq!(before.status, 403);
    }
    let same = format!("{}origin: http://{}\r\n", own(&serve), serve.address);
    assert_eq!(ask(&serve, &same).status, 200);
}

#[test]
fn a_name_that_was_bent_to_this_machine_is_refused() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let port = serve.address.rsplit(':').next().unwrap();
    let bearer = format!("authorization: Bearer {}\r\n", serve.token);
    for host in ["evil.test", "127.0.0.1.evil.test", "localhost.evil.test"] {
        let headers = format!("host: {host}:{port}\r\n{bearer}");
        assert_eq!(ask(&serve, &headers).status, 421, "{host}");
    }
    let local = format!("host: localhost:{port}\r\n{bearer}");
    assert_eq!(ask(&serve, &local).status, 200);
}

#[test]
fn paths_in_ids_and_ranges_lead_nowhere() {
    let project = Project::new();
    let serve = Serve::start(&project);
    let session = serve.session(json!({"trusted": true}));
    serve.call(
        &session,
        "shell",
        json!({"action": "spawn", "id": "s", "command": "echo hello; sleep 1000"}),
    );
    for path in [
        "/sessions/..%2f..%2f..%2fetc%2fpasswd".to_owned(),
        "/sessions/ses_..%2f..%2f/handles".to_owned(),
        format!("{session}/handles/..%2f..%2fetc%2fpasswd/log"),
        format!("{session}/handles/%00/log"),
        format!("{session}/../../../etc/passwd"),
        format!("{session}/handles/%ff%fe"),
    ] {
        let answer = serve.get(&path);
        assert!(matches!(answer.status, 400 | 404), "{path}: {answer:?}");
        assert!(!answer.body.contains("root:"), "{answer:?}");
    }
    let log = format!("{session}/handles/s/log");
    for (range, status, body) in [
        ("from=0&to=18446744073709551615", 200, "hello\n"),
        ("from=-3", 200, "lo\n"),
        ("from=-99999999", 200, "hello\n"),
        ("from=9223372036854775807", 200, ""),
        ("from=4&to=2", 400, ""),
        ("from=..%2f", 400, ""),
        ("from=99999999999999999999", 400, ""),
        ("to=-1", 400, ""),
    ] {
        let answer = serve.get(&format!("{log}?{range}"));
        assert_eq!(answer.status, status, "{range}: {answer:?}");
        if status == 200 {
            assert_eq!(answer.body, body, "{range}");
        }
    }
}

#[test]
fn headers_that_are_too_large_are_refused_and_others_served() {
    let project = Project::new();
    let serve = Serve::start(&project);
    for size in [40 << 10, 200 << 10, 4 << 20] {
        let large = format!("{}x-large: {}\r\n", own(&serve), "x".repeat(size));
        let answer = ask(&serve, &large);
        // A server that has heard enough may close before it is understood.
        assert!(
            matches!(answer.status, 431 | 0),
            "{size}: {}",
            answer.status
        );
    }
    let many = "x-many: x\r\n".repeat(2000);
    let answer = ask(&serve, &format!("{}{many}", own(&serve)));
    assert!(matches!(answer.status, 431 | 0), "{answer:?}");
    assert_eq!(ask(&serve, &own(&serve)).status, 200);
}

#[test]
fn bytes_that_are_not_http_do_no_harm() {
    let project = Project::new();
    let serve = Serve::start(&project);
    for bytes in ["GET\r\n\r\n", "\u{0}\u{1}\u{2}", "GET / HTTP/9.9\r\n\r\n"] {
        let answer = serve.raw(&format!("{bytes}\r\n\r\n"));
        assert!(matches!(answer.status, 0 | 400 | 421 | 505), "{answer:?}");
    }
    assert_eq!(ask(&serve, &own(&serve)).status, 200);
}

#[test]
fn an_address_that_others_can_reach_needs_encryption_or_a_word() {
    let project = Project::new();
    let refused = project.run(&["serve", "--listen", "0.0.0.0:0"], "");
    assert_eq!(refused.code(), Some(2));
    assert_snapshot!(refused.stderr(), @"windlass: `0.0.0.0:0` can be reached from other machines, and without TLS they could read the token; give --tls-cert and --tls-key, or --insecure if the network is safe");
}
