//! A broker for the tests of this crate. Each test that starts one has `needs!("nats-server")`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use windlass_host::{ProjectPlaces, ResourceLimits, ServeOptions};

use crate::broker::Broker;
use crate::{BrokerOptions, WorkerOptions};

/// A running `nats-server`. Dropped, it is killed.
pub(crate) struct TestBroker {
    folder: TempDir,
    server: Child,
    pub(crate) options: BrokerOptions,
}

impl TestBroker {
    #[expect(clippy::disallowed_methods, reason = "a real broker is used")]
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Command::new("nats-server")
            .args(["-js", "-a", "127.0.0.1", "-p", "-1"])
            .arg("-sd")
            .arg(folder.path().join("store"))
            .arg("--ports_file_dir")
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let file = folder
            .path()
            .join(format!("nats-server_{}.ports", server.id()));
        let url = loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let ports = serde_json::from_str::<Value>(&text).unwrap_or_default();
            if let Some(url) = ports["nats"][0].as_str() {
                break url.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        Self {
            folder,
            server,
            options: BrokerOptions::new(&url),
        }
    }

    /// Connects to the pool `ci`.
    pub(crate) async fn connect(&self) -> Broker {
        let connecting = Broker::connect(&self.options, "ci", "a test");
        connecting.await.unwrap()
    }

    /// The options of a worker of the pool `ci`.
    pub(crate) fn worker(&self, name: &str) -> WorkerOptions {
        WorkerOptions {
            broker: self.options.clone(),
            pool: String::from("ci"),
            name: name.to_owned(),
            labels: Vec::new(),
            slots: 1,
            heartbeat: Duration::from_millis(100),
            broker_wait: Duration::from_hours(1),
            stored_total: 1024 * 1024,
            serve: ServeOptions {
                folder: self.folder.path().join(name),
                limits: Ok(ResourceLimits::default()),
                labels: Vec::new(),
                places: |_: &Path| ProjectPlaces::default(),
            },
        }
    }
}

impl Drop for TestBroker {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
