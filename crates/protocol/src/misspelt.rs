//! Names of arguments that are misspelt.

use crate::answer_fault::meant;
use crate::{Arguments, Parameters, ParseError};

/// Finds an argument that is not known and is spelt like one that was not given: a parameter of the tool, or one of `own`.
/// For a tool that takes any argument, only one that it cannot do without counts.
pub(crate) fn find_misspelt(
    parameters: &Parameters,
    own: &[&str],
    arguments: &Arguments,
) -> Result<(), ParseError> {
    let names = parameters.properties.keys().map(String::as_str);
    let known: Vec<&str> = names.chain(own.iter().copied()).collect();
    if !parameters.additional {
        return find(&known, &known, arguments);
    }
    let has_default = |name: &&str| {
        let schema = parameters.properties.get(*name);
        schema.is_some_and(|schema| !schema["default"].is_null())
    };
    let needed = parameters.required.iter().map(String::as_str);
    let needed: Vec<&str> = needed.filter(|name| !has_default(name)).collect();
    find(&known, &needed, arguments)
}

/// Finds an argument that is spelt like `id`, where none was given.
pub(crate) fn find_misspelt_id(
    parameters: &Parameters,
    arguments: &Arguments,
) -> Result<(), ParseError> {
    let known: Vec<&str> = parameters.properties.keys().map(String::as_str).collect();
    find(&known, &["id"], arguments)
}

fn find(known: &[&str], candidates: &[&str], arguments: &Arguments) -> Result<(), ParseError> {
    let is_given = |name: &str| arguments.get(name).is_some_and(|value| !value.is_null());
    let stray = arguments
        .keys()
        .filter(|name| is_given(name) && !known.contains(&name.as_str()));
    for name in stray {
        let missing = candidates.iter().copied().filter(|name| !is_given(name));
        if let Some(meant) = meant(name, missing) {
            return Err(ParseError::Misspelt {
                name: name.clone(),
                meant: meant.to_owned(),
            });
        }
    }
    Ok(())
}
