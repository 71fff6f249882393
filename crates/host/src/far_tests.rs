use super::*;

#[tokio::test]
async fn the_hello_has_the_labels_of_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (near, far) = tokio::io::duplex(64 << 10);
    let options = ServeOptions {
        folder: folder.path().join("hosts"),
        limits: Ok(ResourceLimits::default()),
        labels: vec![String::from("linux"), String::from("gpu")],
        places: |_| ProjectPlaces::default(),
    };
    let (input, output) = tokio::io::split(far);
    windlass_task::spawn(serve(input, output, options, std::future::pending()));
    let (input, output) = tokio::io::split(near);
    let (sender, writing) = FrameSender::new(output);
    windlass_task::spawn(writing);
    let hello = NearHello {
        version: LINK_VERSION,
        program: String::from("test"),
        session: [7; 16],
        lease: Duration::from_secs(2),
        heartbeat: Duration::from_mins(1),
        asks: Vec::new(),
    };
    sender.send(&NearFrame::Hello(hello).write());
    let frame = FrameReader::new(input).next(FarFrame::read).await;
    let Ok(FarFrame::Hello(machine)) = frame else {
        panic!("the first frame is a hello");
    };
    assert_eq!(machine.labels, ["linux", "gpu"]);
}
