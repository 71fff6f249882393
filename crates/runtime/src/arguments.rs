//! Conversions of arguments between a call, a person and a tool.

use serde_json::Value;
use windlass_protocol::{Arguments, Typing};

use crate::refusal::ArgumentMisfit;

/// Text to be typed, as arguments for a permission request.
pub(crate) fn typed(typing: &Typing) -> Arguments {
    let mut shown = Arguments::new();
    if let Some(input) = &typing.input {
        shown.insert("input".into(), input.clone());
    }
    if !typing.keys.is_empty() {
        shown.insert("keys".into(), typing.keys.clone().into());
    }
    shown
}

/// Text to be typed, from arguments that a person may have edited.
pub(crate) fn retyped(enter: bool, mut args: Arguments) -> Typing {
    let keys = args.remove("keys").map(serde_json::from_value);
    Typing {
        input: args.remove("input"),
        keys: keys.and_then(Result::ok).unwrap_or_default(),
        enter,
    }
}

/// Checks text that a person has edited.
pub(crate) fn check_typed(args: &Arguments) -> Result<(), ArgumentMisfit> {
    let misfit = |argument: &str, problem: &str| ArgumentMisfit {
        argument: argument.to_owned(),
        problem: problem.to_owned(),
    };
    let keys = args.get("keys").filter(|keys| !keys.is_null());
    let is_list = |keys: &Value| {
        let keys = keys.as_array();
        keys.is_some_and(|keys| keys.iter().all(Value::is_string))
    };
    if keys.is_some_and(|keys| !is_list(keys)) {
        let problem = "must be a list of key names, such as [\"ctrl-c\"]";
        return Err(misfit("keys", problem));
    }
    if let Some(name) = args
        .keys()
        .find(|name| !matches!(name.as_str(), "input" | "keys"))
    {
        return Err(misfit(name, "is not typed; give `input`, `keys` or both"));
    }
    if keys.is_none() && args.get("input").is_none_or(Value::is_null) {
        return Err(misfit(
            "",
            "there is nothing to type; give `input`, `keys` or both",
        ));
    }
    Ok(())
}

/// The placeholder for a secret.
const CONCEALED: &str = "(secret)";

/// Hides text to be typed if it is a secret, which is not recorded.
pub(crate) fn conceal(arguments: &mut Arguments) {
    if let Some(input) = arguments.get_mut("input") {
        *input = Value::String(CONCEALED.to_owned());
    }
    // Single characters could spell it.
    if let Some(keys) = arguments.get_mut("keys") {
        *keys = Value::Array(vec![Value::String(CONCEALED.to_owned())]);
    }
}

/// Restores a concealed secret that the person who edited the arguments has
/// left unchanged.
pub(crate) fn reveal(edited: &mut Arguments, original: &Arguments) {
    let mut shown = original.clone();
    conceal(&mut shown);
    for name in ["input", "keys"] {
        if let Some(value) = original.get(name)
            && edited.get(name) == shown.get(name)
        {
            edited.insert(name.to_owned(), value.clone());
        }
    }
}

/// Removes and returns the text to be typed.
pub(crate) fn take_typing(arguments: &mut Arguments) -> Arguments {
    let names = ["input", "keys"].into_iter();
    names
        .filter_map(|name| Some((name.to_owned(), arguments.remove(name)?)))
        .collect()
}

/// Removes nulls, which strict schemas send for omitted arguments.
pub(crate) fn without_nulls(arguments: Arguments) -> Arguments {
    fn strip(value: Value) -> Value {
        match value {
            Value::Object(object) => Value::Object(without_nulls(object)),
            Value::Array(items) => items.into_iter().map(strip).collect(),
            other => other,
        }
    }
    arguments
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key, strip(value)))
        .collect()
}
