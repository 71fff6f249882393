use windlass_protocol::HandleId;

use super::*;

#[test]
fn the_model_reads_what_a_question_is_about() {
    let ask = Ask {
        ask: "q_1".to_owned(),
        call: None,
        handle: Some(HandleId::new("h").unwrap()),
        tool: "git".to_owned(),
        question: Question {
            id: "stage".to_owned(),
            text: "Stage this hunk?".to_owned(),
            pre_amble: Some("2 of 3".to_owned()),
            answer_type: AnswerType::Boolean,
            default: None,
            secret: false,
        },
        content: Some("-old\n+new".to_owned()),
        rendering: None,
    };
    assert_eq!(
        question_text(&ask),
        "The tool `git` (handle `h`) asks, having said:\n-old\n+new\n2 of 3\n\nIt asks: Stage this hunk?"
    );
}
