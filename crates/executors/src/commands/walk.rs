//! Finds every simple command of a line.

use brush_parser::ast::{
    AndOr, AndOrList, Assignment, AssignmentName, AssignmentValue, Command,
    CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, IoFileRedirectKind as Kind,
    IoFileRedirectTarget as Target, IoRedirect, Pipeline, RedirectList, SimpleCommand, Word,
};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};
use windlass_runtime::{SubjectPattern, UNKNOWN};

use super::words::{ReadWord, is_harmless_variable, may_run, quoted};
use super::wrappers::forms;
use super::{ShellLanguage, unknown};

/// The maximum nesting of lines in lines.
const DEEPEST: usize = 8;

/// The simple commands of the line; `None` if it cannot be parsed.
pub(super) fn walk(line: &str, dialect: ShellLanguage) -> Option<Vec<SubjectPattern>> {
    walk_within(line, dialect, DEEPEST)
}

/// [`walk`] with a limit on nested lines.
pub(super) fn walk_within(
    line: &str,
    dialect: ShellLanguage,
    depth: usize,
) -> Option<Vec<SubjectPattern>> {
    let options = dialect.options();
    let tokens = uncached_tokenize_str(line, &options.tokenizer_options()).ok()?;
    let program = parse_tokens(&tokens, &options).ok()?;
    let mut walker = Walker {
        options,
        dialect,
        depth: depth.checked_sub(1)?,
        nests_parentheses: nests_parentheses(line),
        found: Vec::new(),
        lost: false,
    };
    for list in &program.complete_commands {
        walker.list(list);
    }
    (!walker.lost).then_some(walker.found)
}

struct Walker {
    options: ParserOptions,
    dialect: ShellLanguage,
    /// The remaining nesting depth.
    depth: usize,
    /// The line has `( (`, which the parser takes for arithmetic, although a
    /// shell runs its content.
    nests_parentheses: bool,
    found: Vec<SubjectPattern>,
    /// Part of the line was not understood.
    lost: bool,
}

/// Whether the text is no arithmetic: a shell may read `((` as two subshells.
fn may_be_command(text: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut words = text.split_ascii_whitespace().peekable();
    let mut adjoins = false;
    while let Some(word) = words.next() {
        let next = words.peek().and_then(|next| next.chars().next());
        adjoins |= word.ends_with(is_word) && next.is_some_and(is_word);
    }
    adjoins || text.contains([';', '\'', '"', '`', '#', '\\', '\n'])
}

/// Whether two parentheses open with blanks between them.
fn nests_parentheses(line: &str) -> bool {
    let mut after = line.split('(').skip(1);
    after.any(|between| !between.is_empty() && between.trim().is_empty())
}

/// A simple command under construction.
#[derive(Default)]
struct Parts {
    words: Vec<String>,
    variables: Vec<(String, String)>,
    /// It redirects to or from a file that its words do not name.
    redirects: bool,
    hides: bool,
}

impl Walker {
    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            self.and_or(&item.0);
        }
    }

    fn and_or(&mut self, list: &AndOrList) {
        self.pipeline(&list.first);
        for AndOr::And(pipeline) | AndOr::Or(pipeline) in &list.additional {
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        for command in &pipeline.seq {
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirect_list(redirects.as_ref(), command);
            }
            Command::Function(function) => {
                // From here on its name means something else.
                self.found.push(SubjectPattern {
                    forms: vec![UNKNOWN.to_string()],
                    exact: true,
                    ..SubjectPattern::from(command.to_string())
                });
                self.compound(&function.body.0);
            }
            Command::ExtendedTest(test, redirects) => {
                if may_run(&test.to_string()) {
                    self.found.push(unknown(&command.to_string()));
                }
                self.redirect_list(redirects.as_ref(), command);
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                self.words_of(clause.values.iter().flatten());
                self.list(&clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => {
                self.words_of([&clause.value]);
                for case in &clause.cases {
                    self.words_of(&case.patterns);
                    if let Some(list) = &case.cmd {
                        self.list(list);
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.list(condition);
                    }
                    self.list(&other.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Arithmetic(_) => self.arithmetic(compound),
            CompoundCommand::ArithmeticForClause(clause) => {
                self.arithmetic(compound);
                self.list(&clause.body.list);
            }
            CompoundCommand::Coprocess(_) => self.lost = true,
        }
    }

    /// Searches arithmetic for substitutions, also in indices.
    fn arithmetic(&mut self, compound: &CompoundCommand) {
        let text = compound.to_string();
        let is_command =
            matches!(compound, CompoundCommand::Arithmetic(_)) && may_be_command(&text);
        if self.nests_parentheses || is_command || may_run(&text) || text.contains('[') {
            self.found.push(unknown(&text));
        }
    }

    fn redirect_list(&mut self, redirects: Option<&RedirectList>, command: &Command) {
        let mut parts = Parts::default();
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, &mut parts);
        }
        if parts.redirects || parts.hides {
            self.found.push(SubjectPattern {
                exact: true,
                ..SubjectPattern::from(command.to_string())
            });
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let mut parts = Parts::default();
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        for item in prefix {
            self.item(item, &mut parts, true);
        }
        if let Some(name) = &simple.word_or_name {
            let name = self.word(name, &mut parts);
            parts.words.push(name);
        }
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        for item in suffix {
            self.item(item, &mut parts, false);
        }
        let pattern = self.pattern(simple.to_string(), &parts);
        self.found.push(pattern);
    }

    fn pattern(&self, text: String, parts: &Parts) -> SubjectPattern {
        let command = quoted(parts.words.iter().map(String::as_str));
        let mut forms = forms(&parts.words, self.dialect, self.depth);
        forms.push(command.clone());
        let mut known = command;
        for (name, value) in parts.variables.iter().rev() {
            if is_harmless_variable(name) {
                continue;
            }
            // A variable may make anything of what follows.
            forms.push(UNKNOWN.to_string());
            known = format!("{} {known}", quoted([format!("{name}={value}").as_str()]));
        }
        if parts.hides {
            forms.push(UNKNOWN.to_string());
        }
        SubjectPattern {
            text,
            known: known.trim_end().to_owned(),
            forms,
            exact: parts.redirects || parts.hides,
        }
    }

    fn item(&mut self, item: &Item, parts: &mut Parts, is_prefix: bool) {
        match item {
            Item::IoRedirect(redirect) => self.redirect(redirect, parts),
            Item::Word(word) => {
                let text = self.word(word, parts);
                parts.words.push(text);
            }
            Item::AssignmentWord(assignment, _) if is_prefix => self.assignment(assignment, parts),
            Item::AssignmentWord(assignment, word) => {
                // An argument, unless the command is `export` or the like: it
                // may set a variable.
                self.assignment(assignment, parts);
                parts.variables.pop();
                let text = self.word(word, parts);
                parts.words.push(text);
            }
            Item::ProcessSubstitution(_, subshell) => {
                self.list(&subshell.list);
                parts.words.push(UNKNOWN.to_string());
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment, parts: &mut Parts) {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => {
                parts.hides |= may_run(index);
                name.clone()
            }
        };
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => self.word(word, parts),
            AssignmentValue::Array(words) => {
                for (_, word) in words {
                    self.word(word, parts);
                }
                UNKNOWN.to_string()
            }
        };
        parts.variables.push((name, value));
    }

    fn redirect(&mut self, redirect: &IoRedirect, parts: &mut Parts) {
        match redirect {
            // Joins a stream to one that is there. `>&1out` is a file, though.
            IoRedirect::File(_, Kind::DuplicateInput | Kind::DuplicateOutput, target) => {
                let stream = match target {
                    Target::Fd(_) => true,
                    Target::Duplicate(word) => {
                        let word = self.word(word, parts);
                        word == "-" || word.bytes().all(|byte| byte.is_ascii_digit())
                    }
                    _ => false,
                };
                parts.redirects |= !stream;
            }
            IoRedirect::File(_, _, Target::Filename(word))
            | IoRedirect::OutputAndError(word, _) => {
                parts.redirects |= self.word(word, parts) != "/dev/null";
            }
            IoRedirect::File(_, _, Target::ProcessSubstitution(_, subshell)) => {
                self.list(&subshell.list);
                parts.redirects = true;
            }
            IoRedirect::File(..) => parts.redirects = true,
            IoRedirect::HereDocument(_, document) => {
                parts.hides |= document.requires_expansion && may_run(&document.doc.value);
            }
            IoRedirect::HereString(_, word) => {
                self.word(word, parts);
            }
        }
    }

    /// Searches words outside of commands for substitutions.
    fn words_of<'a>(&mut self, words: impl IntoIterator<Item = &'a Word>) {
        for word in words {
            let mut parts = Parts::default();
            self.word(word, &mut parts);
            if parts.hides {
                self.found.push(unknown(&word.value));
            }
        }
    }

    /// Reads a word, and the commands that its expansion runs.
    fn word(&mut self, word: &Word, parts: &mut Parts) -> String {
        let read = ReadWord::read(&word.value, &self.options);
        parts.hides |= read.hides;
        for line in &read.lines {
            match walk_within(line, self.dialect, self.depth) {
                Some(found) => self.found.extend(found),
                None => parts.hides = true,
            }
        }
        read.text
    }
}
