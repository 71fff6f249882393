//! Questions as tools write them, and the validation of answers.

use insta::assert_snapshot;
use serde_json::json;

use super::*;

fn question(answer_type: AnswerType) -> Question {
    Question {
        id: "q".to_owned(),
        text: "Well?".to_owned(),
        pre_amble: None,
        answer_type,
        default: None,
        secret: false,
    }
}

/// What becomes of an answer.
fn check(answer_type: &AnswerType, answer: &Value) -> String {
    match question(answer_type.clone()).check(answer.clone()) {
        Ok(answer) => answer.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Reads a question and writes it again.
fn rewritten(text: &str) -> String {
    let question: Question = serde_json::from_str(text).unwrap();
    serde_json::to_string(&question).unwrap()
}

fn fruit() -> AnswerType {
    AnswerType::Select {
        options: vec!["apple".to_owned(), "pear".to_owned()],
    }
}

#[test]
fn every_form_of_a_question_is_read_and_written_alike() {
    for text in [
        r#"{"id":"go","text":"Go on?","answer_type":"Boolean"}"#,
        r#"{"id":"name","text":"Name?","answer_type":"Text"}"#,
        r#"{"id":"fruit","text":"Which?","answer_type":{"Select":{"options":["apple","pear"]}}}"#,
        r#"{"id":"go","text":"Go on?","pre_amble":"3 files","answer_type":"Boolean","default":true}"#,
        r#"{"id":"pin","text":"PIN?","answer_type":"Text","secret":true}"#,
    ] {
        assert_eq!(rewritten(text), text);
    }
}

#[test]
fn nulls_mean_absent() {
    assert_snapshot!(
        rewritten(
            r#"{"id":"go","text":"Go on?","pre_amble":null,"answer_type":"Boolean","default":null}"#
        ),
        @r#"{"id":"go","text":"Go on?","answer_type":"Boolean"}"#
    );
}

#[test]
fn an_unknown_answer_type_is_an_error() {
    for text in [
        r#"{"id":"q","text":"?","answer_type":"Number"}"#,
        r#"{"id":"q","text":"?","answer_type":"boolean"}"#,
        r#"{"id":"q","text":"?","answer_type":{"Select":{}}}"#,
        r#"{"id":"q","text":"?"}"#,
    ] {
        assert!(serde_json::from_str::<Question>(text).is_err(), "{text}");
    }
}

#[test]
fn a_boolean_is_answered_in_the_words_that_models_use() {
    let boolean = AnswerType::Boolean;
    for yes in [
        json!(true),
        json!("true"),
        json!("yes"),
        json!("y\n"),
        json!("Yes"),
    ] {
        assert_eq!(check(&boolean, &yes), "true");
    }
    for no in [json!(false), json!("false"), json!("no"), json!(" N ")] {
        assert_eq!(check(&boolean, &no), "false");
    }
}

#[test]
fn a_boolean_is_not_answered_by_anything_else() {
    let boolean = AnswerType::Boolean;
    assert_eq!(
        check(&boolean, &json!("maybe")),
        r#"question `q` needs true or false, not "maybe""#
    );
    assert_eq!(
        check(&boolean, &json!(1)),
        "question `q` needs true or false, not 1"
    );
    assert_eq!(
        check(&boolean, &json!(null)),
        "question `q` needs true or false, not null"
    );
}

#[test]
fn a_select_is_answered_by_exactly_one_of_its_options() {
    assert_eq!(check(&fruit(), &json!("pear")), r#""pear""#);
    assert_eq!(check(&fruit(), &json!("pear\n")), r#""pear""#);
    assert_eq!(
        check(&fruit(), &json!("Pear")),
        r#"question `q` needs one of "apple", "pear", not "Pear""#
    );
    assert_eq!(
        check(&fruit(), &json!(["pear"])),
        r#"question `q` needs one of "apple", "pear", not ["pear"]"#
    );
}

#[test]
fn text_is_kept_unchanged() {
    assert_eq!(check(&AnswerType::Text, &json!(" a\n")), r#"" a\n""#);
    assert_eq!(check(&AnswerType::Text, &json!(42)), r#""42""#);
    assert_eq!(
        check(&AnswerType::Text, &json!({"a": 1})),
        r#"question `q` needs a string, not {"a":1}"#
    );
}

#[test]
fn a_long_wrong_answer_is_cut_at_a_character() {
    let told = check(&AnswerType::Boolean, &json!("ö".repeat(1000)));
    let cut = format!("not \"{}…", "ö".repeat(59));
    assert!(told.ends_with(&cut), "{told}");
}
