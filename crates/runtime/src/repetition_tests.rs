use windlass_protocol::AnswerType;

use super::*;

fn question(text: &str) -> Question {
    Question {
        id: "q".to_owned(),
        text: text.to_owned(),
        pre_amble: None,
        answer_type: AnswerType::Boolean,
        default: None,
        secret: false,
    }
}

#[test]
fn one_and_the_same_question_is_admitted_so_often() {
    let mut repetition = Repetition::default();
    for _ in 0..MOST {
        assert!(repetition.admits(&question("a?"), None, true));
    }
    assert!(!repetition.admits(&question("a?"), None, true));
    assert!(repetition.admits(&question("b?"), None, true));
}

#[test]
fn a_tool_that_gets_on_may_ask_as_often_as_it_likes() {
    let mut repetition = Repetition::default();
    for hunk in 0..100 {
        let content = Some(format!("hunk {hunk}"));
        assert!(repetition.admits(&question("stage?"), content, true));
    }
    for _ in 0..100 {
        assert!(repetition.admits(&question("go on?"), None, false));
    }
}
