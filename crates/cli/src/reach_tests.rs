use super::*;

#[test]
fn an_id_is_meant_by_its_end() {
    let ids = ["ses_01ABCDEFGH", "ses_01ABCDEFGX", "q_0000000001"];
    let of = |wanted| by_end(wanted, ids.into_iter());
    assert_eq!(of("ses_01ABCDEFGH"), Ok("ses_01ABCDEFGH"));
    assert_eq!(of("DEFGX"), Ok("ses_01ABCDEFGX"));
    assert_eq!(of("defgx"), Ok("ses_01ABCDEFGX"));
    assert_eq!(of("0001"), Ok("q_0000000001"));
    assert_eq!(of("001"), Err(NoSuchId::None), "too short to be meant");
    assert_eq!(of("nope"), Err(NoSuchId::None));
    let ids = ["a_1111AAAA", "b_1111AAAA"];
    assert_eq!(
        by_end("1111AAAA", ids.into_iter()),
        Err(NoSuchId::Several(vec![
            "a_1111AAAA".into(),
            "b_1111AAAA".into()
        ]))
    );
}
