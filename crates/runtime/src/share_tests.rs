use windlass_protocol::{ErrorView, HandleState};

use insta::assert_snapshot;

use super::*;

fn view(id: &str, result: usize) -> HandleView {
    HandleView {
        result: Some("line\n".repeat(result / 5)),
        ..HandleView::new(HandleId::new(id).unwrap(), HandleState::Stopped)
    }
}

#[test]
fn views_that_fit_together_are_left_alone() {
    let mut views = [view("a", 10_000), view("b", 20_000)];
    let before = views.clone();
    assert_eq!(within_limit(&mut views, 30_000), []);
    assert_eq!(views, before);
}

#[test]
fn short_views_are_whole_and_long_ones_share_the_rest() {
    let mut views = [view("a", 30_000), view("b", 1000), view("c", 25_000)];
    let cut = within_limit(&mut views, 30_000);
    let ids: Vec<&str> = cut.iter().map(HandleId::as_str).collect();
    assert_eq!(ids, ["a", "c"]);
    assert_eq!(views[1], view("b", 1000));
    let together: usize = views.iter().map(length).sum();
    assert!((25_000..=30_000).contains(&together), "{together}");
    assert!(views[0].omitted_bytes.unwrap() > 14_000);
    assert_snapshot!(views[0].note.as_ref().unwrap(), @"cut, because this reply covers several handles; fetch it to read it whole");
}

#[test]
fn an_errors_message_is_left_beside_its_output() {
    let mut failed = view("a", 10);
    failed.content = Some("output\n".repeat(5000));
    failed.error = Some(ErrorView {
        transient: false,
        trace: vec!["cause".to_owned(), "c".repeat(9000)],
    });
    let mut views = [failed, view("b", 30_000)];
    within_limit(&mut views, 10_000);
    assert_eq!(views[0].result, view("a", 10).result);
    assert_eq!(views[0].error.as_ref().unwrap().trace, ["cause"]);
    let content = views[0].content.as_ref().unwrap();
    assert!((4000..5000).contains(&content.len()), "{}", content.len());
}

#[test]
fn many_views_keep_a_little_each() {
    let mut views: Vec<HandleView> = (0..100).map(|_| view("a", 30_000)).collect();
    within_limit(&mut views, 1000);
    assert!(
        views
            .iter()
            .all(|view| (200..=LEAST).contains(&length(view)))
    );
}
