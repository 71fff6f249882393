use axum::body::{Body, to_bytes};
use axum::http::Request;
use tower::ServiceExt;

use super::*;

async fn ask(path: &str, known: Option<&str>) -> (StatusCode, HeaderMap, String) {
    let mut request = Request::builder().uri(path);
    if let Some(known) = known {
        request = request.header(IF_NONE_MATCH, known);
    }
    let request = request.body(Body::empty()).unwrap();
    let response = page().oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    (
        head.status,
        head.headers,
        String::from_utf8_lossy(&body).into_owned(),
    )
}

#[tokio::test]
async fn every_file_is_served_with_its_type_and_the_policy() {
    for PageFile { name, body, .. } in files() {
        let path = if *name == "index.html" {
            "/".to_owned()
        } else {
            format!("/assets/{name}")
        };
        let (status, headers, text) = ask(&path, None).await;
        assert_eq!(status, StatusCode::OK, "{name}");
        assert_eq!(text.as_bytes(), body, "{name}");
        assert_ne!(headers[CONTENT_TYPE], "application/octet-stream", "{name}");
        assert_eq!(headers[CONTENT_SECURITY_POLICY], POLICY, "{name}");
        assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff", "{name}");
        assert_eq!(headers[REFERRER_POLICY], "no-referrer", "{name}");
    }
}

#[tokio::test]
async fn what_is_known_is_not_sent_again() {
    let (_, headers, _) = ask("/", None).await;
    let tag = headers[ETAG].to_str().unwrap();
    let (status, _, body) = ask("/", Some(tag)).await;
    assert_eq!((status, body.as_str()), (StatusCode::NOT_MODIFIED, ""));
    let (status, _, _) = ask("/", Some("\"another\"")).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    for path in ["/assets/nothing.js", "/assets/..%2fsrc%2fpage.rs"] {
        let (status, _, _) = ask(path, None).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
}

/// The build script finds them.
#[test]
fn every_file_of_the_folder_is_in_the_binary() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = std::fs::read(format!("{folder}/{name}")).unwrap();
        let file = files().iter().find(|file| file.name == name);
        assert!(file.is_some_and(|file| file.body == text), "{name}");
    }
}

#[test]
fn the_whole_page_is_small() {
    let all: usize = files().iter().map(|file| file.body.len()).sum();
    assert!(all < 260_000, "{all} bytes");
}

/// The policy forbids them, so that they would silently not work.
#[test]
fn nothing_is_read_as_html_or_written_inline() {
    for PageFile { name, body, .. } in files() {
        let text = std::str::from_utf8(body).unwrap();
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "style=",
            " onclick=\"",
            "http://",
            "https://",
        ] {
            let namespace = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!namespace.contains(word), "{name} has {word}");
        }
    }
}
