use windlass_protocol::HandleId;

use super::*;

#[test]
fn an_inquiry_that_failed_is_an_event() {
    let handles = vec![HandleId::new("server").unwrap()];
    let told = event(&Show::InquiryFailed(handles)).unwrap();
    assert_eq!(told["event"], json!("inquiry_failed"));
    assert_eq!(told["handles"], json!(["server"]));
}

#[test]
fn a_refusal_is_shown_to_the_person_without_the_advice_for_models() {
    assert_eq!(
        refusal("nothing has run; tell the user\n"),
        "nothing has run"
    );
}
