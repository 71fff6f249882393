use super::*;
use crate::line_log::LineLog;

fn logged(folder: &Path) -> HubLog {
    let (log, lines) = LineLog::open(folder).unwrap().unwrap();
    HubLog::new(log, &lines)
}

#[tokio::test]
async fn a_reader_goes_on_at_the_hub_of_the_next_server() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Hub::resume(logged(folder.path()));
    hub.push("update", "one");
    let read = hub.id(1);
    hub.push("update", "two");
    drop(hub);

    let hub = Hub::resume(logged(folder.path()));
    let (place, missed) = hub.place(Some(&read));
    assert!(!missed);
    hub.push("update", "three");
    let item = hub.next(place).await;
    assert_eq!((item.missed, item.number, &*item.value.data), (0, 2, "two"));
    let item = hub.next(ReadPosition(item.number)).await;
    assert_eq!(
        (item.missed, item.number, &*item.value.data),
        (0, 3, "three")
    );
    let (_, missed) = hub.place(Some("another-1"));
    assert!(missed, "that is another hub's");
}

#[tokio::test]
async fn what_another_server_has_told_meanwhile_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let hub = Hub::resume(logged(folder.path()));
    hub.push("update", "one");
    hub.let_go();
    let other = Hub::resume(logged(folder.path()));
    other.push("update", "two");
    other.push("update", "three");
    drop(other);
    hub.take_back(logged(folder.path()));
    hub.push("update", "four");
    let item = hub.next(ReadPosition(1)).await;
    assert_eq!(
        (item.missed, item.number, &*item.value.data),
        (2, 4, "four")
    );
}
