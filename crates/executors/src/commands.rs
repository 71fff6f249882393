//! A shell line as the simple commands in it, for permission.
//!
//! This is not a shell's parser. What it does not understand it leaves whole,
//! so that nothing hides in what a person is not shown.

/// The simple commands of a line, each with its words as written; the whole
/// line when it holds anything but simple commands joined by `;`, `&`, `&&`,
/// `|`, `||` and newlines.
pub fn simple_commands(line: &str) -> Vec<String> {
    split(line).unwrap_or_else(|| vec![line.trim().to_owned()])
}

/// What an "always" would remember of a simple command: the program, its
/// subcommand where it has one, and any further words.
pub(crate) fn remembered(command: &str) -> String {
    let mut words = command.split_whitespace();
    let (Some(program), subcommand) = (words.next(), words.next()) else {
        return command.to_owned();
    };
    let is_plain = |word: &&str| {
        word.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            && !word.starts_with('-')
    };
    match subcommand.filter(is_plain) {
        Some(subcommand) => format!("{program} {subcommand} *"),
        None => format!("{program} *"),
    }
}

/// The line is one that was split, not one that was left whole.
pub(crate) fn is_simple(line: &str) -> bool {
    split(line).is_some()
}

fn split(line: &str) -> Option<Vec<String>> {
    let mut commands = vec![String::new()];
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let current = commands.last_mut()?;
        match character {
            '\'' => {
                current.push(character);
                quoted(&mut characters, current, '\'')?;
            }
            '"' => {
                current.push(character);
                quoted(&mut characters, current, '"')?;
            }
            '\\' => {
                current.push(character);
                current.push(characters.next()?);
            }
            ';' | '\n' => commands.push(String::new()),
            '|' | '&' => {
                characters.next_if_eq(&character);
                commands.push(String::new());
            }
            // `2>&1` joins streams that are there already.
            '>' if characters.next_if_eq(&'&').is_some() => {
                let stream = characters.next_if(char::is_ascii_digit)?;
                current.extend(['>', '&', stream]);
            }
            // Substitutions, groups, other redirections, here-documents,
            // comments and functions are left to the person's eye.
            '$' | '`' | '(' | ')' | '{' | '}' | '#' | '<' | '>' => return None,
            _ => current.push(character),
        }
    }
    let commands: Vec<String> = commands
        .iter()
        .map(|command| command.trim().to_owned())
        .filter(|command| !command.is_empty())
        .collect();
    (!commands.is_empty()).then_some(commands)
}

/// Copies up to the closing quote. Double quotes may hold substitutions.
fn quoted(
    characters: &mut impl Iterator<Item = char>,
    current: &mut String,
    quote: char,
) -> Option<()> {
    loop {
        let character = characters.next()?;
        current.push(character);
        match character {
            '\\' if quote == '"' => current.push(characters.next()?),
            '$' | '`' if quote == '"' => return None,
            _ if character == quote => return Some(()),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
