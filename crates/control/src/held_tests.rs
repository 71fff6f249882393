use axum::http::StatusCode;
use serde_json::json;
use windlass_kept::KeptStore;

use crate::stage::Stage;

#[tokio::test]
async fn without_anything_kept_nothing_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::with(|api| api.holding(KeptStore::new(folder.path())));
    assert_eq!(stage.get("/api/v1/held").await, (StatusCode::OK, json!([])));
    let (status, said) = stage.post("/api/v1/held/x/end", json!({})).await;
    assert_eq!(status, 404, "{said}");
    assert!(
        said["error"].as_str().unwrap().contains("/api/v1/held"),
        "{said}"
    );
    let (status, _) = stage.get("/api/v1/held/..%2Ftoken/output").await;
    assert_eq!(status, 404);
}
