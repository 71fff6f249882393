use super::*;

#[test]
fn commands_are_read_with_their_arguments() {
    assert_eq!(Slash::read("/ps"), Ok(Slash::Ps));
    assert_eq!(
        Slash::read("/attach  web "),
        Ok(Slash::Attach("web".into()))
    );
    assert_eq!(Slash::read("/model"), Ok(Slash::Model(None)));
    assert_eq!(
        Slash::read("/resume X1"),
        Ok(Slash::Resume(Some("X1".into())))
    );
    let error = |text| Slash::read(text).unwrap_err().to_string();
    assert_eq!(
        error("/atach web"),
        "there is no command `/atach`; did you mean `/attach`?"
    );
    assert_eq!(
        error("/frobnicate"),
        "there is no command `/frobnicate`; /help lists them"
    );
    assert_eq!(
        error("/kill"),
        "give a handle, such as `/kill web`; /ps lists them"
    );
}
