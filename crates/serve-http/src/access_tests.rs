use axum::body::Body;
use axum::routing::get;
use tower::ServiceExt;
use windlass_runtime::{Catalogue, Runtime};

use super::*;

/// Asks behind a guard; gives the status.
async fn ask(headers: &[(&str, &str)]) -> StatusCode {
    let folder = tempfile::tempdir().unwrap();
    let token = Token::load(&folder.path().join("token")).unwrap();
    let bearer = format!("Bearer {}", token.as_str());
    let api = Api::new(&Runtime::new(Catalogue::new()), "serve");
    let router = Router::new().route("/x", get(|| async { "yes" }));
    let access = Access::new(&api, token).host("windlass.test");
    let mut request = Request::builder().uri("/x");
    for (name, value) in headers {
        request = request.header(*name, value.replace("BEARER", &bearer));
    }
    let request = request.body(Body::empty()).unwrap();
    access
        .guard(router)
        .oneshot(request)
        .await
        .unwrap()
        .status()
}

#[tokio::test]
async fn the_token_lets_in_from_this_machine() {
    for host in ["localhost:1", "127.0.0.1:4096", "[::1]:9", "windlass.test"] {
        let status = ask(&[("host", host), ("authorization", "BEARER")]).await;
        assert_eq!(status, StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn without_the_token_nothing_is_said() {
    for given in ["", "Bearer", "Bearer x", "Basic BEARER"] {
        let status = ask(&[("host", "localhost"), ("authorization", given)]).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{given}");
    }
    assert_eq!(
        ask(&[("host", "localhost")]).await,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn a_name_that_is_not_ours_is_refused_even_with_the_token() {
    for host in [
        "evil.test",
        "evil.test:4096",
        "localhost.evil.test",
        "127.0.0.1.evil.test",
        "localhost@evil.test",
        "evil@localhost",
        "10.0.0.1",
        "",
    ] {
        let status = ask(&[("host", host), ("authorization", "BEARER")]).await;
        assert_eq!(status, StatusCode::MISDIRECTED_REQUEST, "{host}");
    }
    let status = ask(&[("authorization", "BEARER")]).await;
    assert_eq!(status, StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn pages_of_other_origins_are_refused_even_with_the_token() {
    for (name, value) in [
        ("origin", "http://evil.test"),
        ("origin", "null"),
        ("origin", "http://localhost:2"),
        ("origin", "file://localhost:1"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let host = ("host", "localhost:1");
        let status = ask(&[host, ("authorization", "BEARER"), (name, value)]).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{name}: {value}");
    }
    let own = ("origin", "http://localhost:1");
    let status = ask(&[("host", "localhost:1"), own, ("authorization", "BEARER")]).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn headers_that_are_too_large_are_refused() {
    let large = "x".repeat(HEADERS);
    let status = ask(&[("host", "localhost"), ("x", &large)]).await;
    assert_eq!(status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
}

fn access(requests: f64, failures: f64) -> (Access, String) {
    let folder = tempfile::tempdir().unwrap();
    let token = Token::load(&folder.path().join("token")).unwrap();
    let bearer = token.as_str().to_owned();
    let api = Api::new(&Runtime::new(Catalogue::new()), "serve");
    let access = Access {
        requests: Rate::per_second(requests),
        failures: Rate::per_second(failures),
        ..Access::new(&api, token)
    };
    (access, bearer)
}

#[tokio::test]
async fn who_asks_too_often_is_told_to_come_later() {
    let (access, bearer) = access(1.0, 1.0);
    let router = access.guard(Router::new().route("/x", get(|| async { "yes" })));
    let mut let_in = 0;
    let later = loop {
        let request = Request::builder()
            .uri("/x")
            .header("host", "localhost")
            .header("authorization", format!("Bearer {bearer}"))
            .body(Body::empty())
            .unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        if response.status() != StatusCode::OK {
            break response;
        }
        let_in += 1;
    };
    assert!(let_in >= 2);
    assert_eq!(later.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(later.headers()["retry-after"], "1");
}

#[test]
fn guessing_the_token_is_slow_and_does_not_slow_its_owner() {
    let (access, bearer) = access(1.0, 1.0);
    let show = |given: &str| {
        let mut headers = HeaderMap::new();
        let value = format!("Bearer {given}").parse().unwrap();
        headers.insert("authorization", value);
        let refused = access.check_token(&headers).err();
        refused.map(|error| error.status)
    };
    while show("guess") == Some(StatusCode::UNAUTHORIZED) {}
    assert_eq!(show("guess"), Some(StatusCode::TOO_MANY_REQUESTS));
    assert_eq!(show(&bearer), None);
}

#[tokio::test]
async fn two_hosts_are_refused() {
    let hosts = [("host", "localhost"), ("host", "localhost")];
    let headers = [&hosts[..], &[("authorization", "BEARER")]].concat();
    assert_eq!(ask(&headers).await, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn those_without_a_token_take_nothing_from_those_with_one() {
    let folder = tempfile::tempdir().unwrap();
    let token = Token::load(&folder.path().join("token")).unwrap();
    let bearer = format!("Bearer {}", token.as_str());
    let api = Api::new(&Runtime::new(Catalogue::new()), "serve");
    let router = Router::new()
        .route("/x", get(|| async { "yes" }))
        .route("/health", get(|| async { "well" }));
    let guarded = Access::new(&api, token).guard(router);
    let ask = |path: &str, bearer: Option<&str>| {
        let mut request = Request::builder().uri(path).header("host", "localhost");
        if let Some(bearer) = bearer {
            request = request.header("authorization", bearer);
        }
        let request = request.body(Body::empty()).unwrap();
        let guarded = guarded.clone();
        async move { guarded.oneshot(request).await.unwrap().status() }
    };
    // More than any rate allows.
    let mut refused = false;
    for _ in 0..20_000 {
        let status = ask("/health", None).await;
        refused |= status == StatusCode::TOO_MANY_REQUESTS;
        if refused {
            break;
        }
    }
    assert!(refused);
    assert_eq!(ask("/x", Some(&bearer)).await, StatusCode::OK);
}
