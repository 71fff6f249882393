use super::*;

#[test]
fn an_announcement_lists_as_many_programs_as_the_broker_accepts() {
    let program = PoolProgram {
        runtime: "r".repeat(60),
        program: "p".repeat(60),
        since: 1,
    };
    let presence = WorkerPresence {
        name: String::from("w1"),
        instance: String::new(),
        machine: String::new(),
        os: String::new(),
        arch: String::new(),
        cpus: 1,
        load: 0,
        version: String::new(),
        labels: Vec::new(),
        slots: 300,
        running: 300,
        is_draining: false,
        heartbeat_ms: 1000,
        programs: vec![program; 256],
    };
    let read = |bytes: &[u8]| serde_json::from_slice::<WorkerPresence>(bytes).unwrap();
    let whole = presence.clone().fitting(1024 * 1024);
    assert_eq!(read(&whole), presence);
    let short = presence.fitting(16 * 1024);
    assert!(short.len() + HEADERS <= 16 * 1024, "{}", short.len());
    assert_eq!(read(&short).running, 300);
    assert_eq!(read(&short).programs.len(), 64);
}
