//! A caller: makes one call after the other.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::connection::LoadConnection;
use super::{LoadError, strange};

pub(super) struct Caller {
    pub(super) connection: LoadConnection,
    pub(super) session: String,
    /// The due time of each call; a late call is made at once.
    pub(super) due: Vec<Duration>,
}

impl Caller {
    /// Gives how long each call took.
    pub(super) async fn call(mut self, start: Instant) -> Result<Vec<Duration>, LoadError> {
        let path = format!("/api/v1/sessions/{}/calls", self.session);
        let mut latencies = Vec::with_capacity(self.due.len());
        for (number, due) in self.due.iter().enumerate() {
            tokio::time::sleep_until(start + *due).await;
            let command = format!("echo {number}");
            let calls = json!([{ "tool": "shell", "arguments": { "command": command } }]);
            let called = Instant::now();
            let answer = self.connection.post(&path, &calls).await?;
            latencies.push(called.elapsed());
            if answer["replies"][0]["content"] != json!(format!("{number}\n")) {
                return Err(strange(&answer));
            }
        }
        Ok(latencies)
    }
}
