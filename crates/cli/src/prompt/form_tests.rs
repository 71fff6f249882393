use super::*;

/// The form in 20 columns and 8 rows, the cursor as `|`.
fn drawn(form: &impl PromptForm) -> String {
    let Drawing { mut lines, cursor } = form.draw(20, 8);
    if let (Some(cursor), Some(last)) = (cursor, lines.last_mut()) {
        let place = fitting(last, cursor).len();
        last.insert(place, '|');
    }
    lines.join("\n")
}

fn text(secret: bool) -> TextInput {
    TextInput {
        secret,
        ..TextInput::new("Name")
    }
}

#[test]
fn a_choice_is_moved_to_and_taken() {
    let mut select = Select {
        text: "Which?".into(),
        items: ["one", "two", "three"].map(str::to_owned).into(),
        chosen: 0,
    };
    assert_eq!(drawn(&select), "Which?\n> one\n  two\n  three");
    assert_eq!(select.take(KeyPress::Up), FormStep::Stay);
    assert_eq!(drawn(&select), "Which?\n  one\n  two\n> three");
    assert_eq!(select.take(KeyPress::Char('j')), FormStep::Stay);
    assert_eq!(select.take(KeyPress::Down), FormStep::Stay);
    assert_eq!(select.take(KeyPress::Enter), FormStep::Done);
    assert_eq!(select.report(), "Which? two");
    assert_eq!(select.take(KeyPress::Escape), FormStep::Declined);
}

#[test]
fn of_many_choices_those_around_the_chosen_one_are_seen() {
    let select = Select {
        text: "Which?".into(),
        items: (0..30).map(|place| place.to_string()).collect(),
        chosen: 20,
    };
    assert_eq!(drawn(&select), "Which?\n  15\n  16\n  17\n  18\n  19\n> 20");
}

#[test]
fn yes_and_no_are_keys_and_enter_takes_the_default() {
    let confirm = |preset| Confirm {
        text: "Go?".into(),
        preset,
        answer: false,
    };
    assert_eq!(drawn(&confirm(Some(true))), "Go? [Y/n] |");
    let mut sure = confirm(Some(true));
    assert_eq!(sure.take(KeyPress::Enter), FormStep::Done);
    assert_eq!(sure.report(), "Go? yes");
    let mut unsure = confirm(None);
    assert_eq!(unsure.take(KeyPress::Enter), FormStep::Stay);
    assert_eq!(unsure.take(KeyPress::Char('N')), FormStep::Done);
    assert_eq!(unsure.report(), "Go? no");
}

#[test]
fn text_is_typed_behind_its_question() {
    let mut form = text(false);
    for letter in "Zoë".chars() {
        form.take(KeyPress::Char(letter));
    }
    form.take(KeyPress::Left);
    assert_eq!(drawn(&form), "Name: Zo|ë");
    assert_eq!(form.take(KeyPress::Enter), FormStep::Done);
    assert_eq!(form.report(), "Name: Zoë");
    form.preset = Some("Ann".into());
    form.take(KeyPress::EraseAfter);
    form.take(KeyPress::EraseBefore);
    assert_eq!(
        (form.answer(), form.report()),
        ("Ann".into(), "Name [Ann]: Ann".into())
    );
    assert_eq!(form.take(KeyPress::EndOfInput), FormStep::Declined);
}

#[test]
fn a_secret_is_nowhere_to_be_seen() {
    let mut form = text(true);
    form.take(KeyPress::Paste("hunter2".into()));
    assert_eq!(drawn(&form), "Name: |");
    assert_eq!(form.report(), "Name: [hidden]");
    assert_eq!(form.answer(), "hunter2");
}

#[test]
fn a_long_question_leaves_a_line_for_its_answer() {
    let form = TextInput::new("What is the name of it");
    assert_eq!(drawn(&form), "What is the name of \nit: \n|");
}

#[test]
fn nothing_in_a_text_steers_the_terminal() {
    assert_eq!(clean("a\x1b[2J\tb\r\nc\x07"), "a[2J b\nc");
}
