use windlass_protocol::SessionId;

use super::*;

fn check(list: &str) -> Option<String> {
    let wanted = wanted(list).ok()?;
    let lines = wanted
        .iter()
        .map(|(id, handles)| format!("{id}: {handles}"));
    Some(lines.collect::<Vec<_>>().join("; "))
}

#[test]
fn screens_are_wanted_by_session() {
    assert_eq!(check("").as_deref(), Some(""));
    assert_eq!(
        check("ses_a/x, ses_b/y,ses_a/z").as_deref(),
        Some("ses_a: x,z; ses_b: y")
    );
    assert_eq!(
        check("ses_a/x,ses_a/*,ses_a/y").as_deref(),
        Some("ses_a: *")
    );
}

#[test]
fn what_is_no_name_is_refused() {
    for list in [
        "x",
        "ses_a/",
        "/x",
        "ses_a/x y",
        "ses_a/..%2f",
        "ses_a/x/y",
        "*/x",
    ] {
        assert_eq!(check(list), None, "{list}");
    }
}

#[test]
fn one_reader_draws_a_bounded_number_of_sessions() {
    let list = |count: usize| {
        let names = (0..count).map(|number| format!("ses_{number}/*"));
        names.collect::<Vec<_>>().join(",")
    };
    assert!(check(&list(SESSIONS)).is_some());
    assert!(check(&list(SESSIONS + 1)).is_none());
}

#[tokio::test(start_paused = true)]
async fn what_tools_wrote_is_told_at_once_and_then_gathered() {
    let wrote = |handle: &str| Wrote {
        session: SessionId::new("ses_a").unwrap(),
        handle: Some(HandleId::new(handle).unwrap()),
    };
    let mut written = Some(Gathered::every(1000));
    let began = Instant::now();
    for handle in ["x", "x", "y"] {
        written.as_mut().unwrap().take(wrote(handle));
    }
    let _first = due(&mut written).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    written.as_mut().unwrap().take(wrote("x"));
    let _first = due(&mut written).await;
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    assert!(written.unwrap().handles.is_empty());
}
