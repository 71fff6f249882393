//! A command as its author wrote it: checked once, rendered for every call.

use minijinja::machinery::ast::{Expr, Stmt};
use serde::Serialize;
use windlass_protocol::Context;

use crate::error::{RenderError, TemplateFault};
use crate::names::KnownNames;
use crate::render::{Quoting, WordRenderer, knows_filter, knows_function, knows_test};
use crate::shell::ShellScan;
use crate::similar::{listed, nearest};
use crate::syntax::{ParsedTemplate, TemplateUses, dotted, is_template};

/// The words of a command, which may contain templates.
#[derive(Debug, Clone, Copy)]
pub struct CommandTemplate<'a> {
    /// The program, or under a shell the beginning of its line.
    pub program: &'a str,
    /// The remaining words.
    pub args: &'a [String],
    /// Whether the words are one line for a shell.
    pub shell: bool,
}

/// A weakness of a command that does not prevent it from running; a warning for
/// the tool's author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateAdvice {
    /// A flag remains without its value if the value is not given.
    #[error(
        "`{flag}` has no value in calls without `{name}`; write \
         `{flag}={{{{{name}}}}}`, or `{{% if {name} %}}{flag} {{{{{name}}}}}{{% endif %}}`"
    )]
    LonelyFlag {
        flag: String,
        /// The dotted name of its value.
        name: String,
    },
    /// The next value moves into the position of a value that is not given.
    #[error(
        "`{next}` takes the position of `{name}` in calls without `{name}`; make `{name}` \
         `required`, give it a `default`, or write `{{{{ {name} | default('') }}}}`"
    )]
    MovesUp {
        /// The dotted name of the value.
        name: String,
        /// That of the value after it.
        next: String,
    },
    /// Calls that leave a parameter out are refused.
    #[error(
        "calls without `{name}` are refused, because the shell line needs it; make it \
         `required`, give it a `default`, or write `{{% if {name} %}}…{{% endif %}}` around it"
    )]
    NeededByShell {
        /// The dotted name.
        name: String,
    },
}

impl CommandTemplate<'_> {
    /// Whether any word contains a template.
    pub fn has_template(&self) -> bool {
        self.words().any(is_template)
    }

    /// Some template of it uses the context.
    pub fn uses_context(&self) -> bool {
        self.words().any(|word| {
            let parsed = ParsedTemplate::parse(word).ok();
            parsed.is_some_and(|parsed| {
                let names = parsed.uses().names;
                names.iter().any(|used| {
                    let name = used.name();
                    name == "context" || name.starts_with("context.")
                })
            })
        })
    }

    /// Every fault that makes it unfit to run.
    pub fn check(&self, known: &KnownNames<'_>) -> Vec<TemplateFault> {
        let mut faults = Vec::new();
        let mut scan = ShellScan::new();
        for (place, word) in self.words().enumerate() {
            if place > 0 {
                scan.text(" ");
            }
            let parsed = match ParsedTemplate::parse(word) {
                Ok(parsed) => parsed,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            check_uses(&parsed.uses(), known, &mut faults);
            if self.shell
                && let Err(fault) = scan_statement(&mut scan, &parsed, &parsed.root)
            {
                faults.push(fault);
                // Nothing after this can be told.
                break;
            }
        }
        faults.dedup();
        faults
    }

    /// Checks that further words can follow a shell line.
    pub fn check_room(&self) -> Result<(), TemplateFault> {
        if !self.shell {
            return Ok(());
        }
        let mut scan = ShellScan::new();
        for word in self.words() {
            scan.text(word);
            scan.text(" ");
        }
        match scan.end() {
            None => Ok(()),
            Some(place) => Err(TemplateFault::NoRoomForCall(place)),
        }
    }

    /// Warnings for its author.
    pub fn advice(&self, known: &KnownNames<'_>) -> Vec<TemplateAdvice> {
        let mut advice = Vec::new();
        let mut before: Option<&str> = None;
        // The last value that may be missing and stands where a program counts
        // its arguments.
        let mut movable: Option<String> = None;
        for word in self.words() {
            let parsed = ParsedTemplate::parse(word).ok();
            let names = parsed.map(|parsed| parsed.uses().names).unwrap_or_default();
            let flag = before.filter(|flag| flag.starts_with('-') && !flag.contains('='));
            let counts =
                !self.shell && word.starts_with("{{") && flag.is_none_or(|flag| flag == "--");
            if let Some(used) = names.first().filter(|_| counts) {
                let next = dotted(&used.path);
                if let Some(name) = movable.take() {
                    let next = next.clone();
                    advice.push(TemplateAdvice::MovesUp { name, next });
                }
                movable = (used.is_needed() && known.is_optional(used)).then_some(next);
            }
            for used in names {
                if !used.is_needed() || !known.is_optional(&used) {
                    continue;
                }
                let name = dotted(&used.path);
                if self.shell {
                    advice.push(TemplateAdvice::NeededByShell { name });
                } else if let Some(flag) = flag
                    && *flag != *"--"
                {
                    let flag = flag.to_owned();
                    advice.push(TemplateAdvice::LonelyFlag { flag, name });
                }
            }
            before = Some(word).filter(|word| !is_template(word));
        }
        advice.dedup();
        advice
    }

    /// The words to run: the program and its arguments. An argument without a
    /// value is omitted; a shell line and a program are refused instead.
    pub fn render(
        &self,
        tool: &impl Serialize,
        context: &Context,
    ) -> Result<Vec<String>, RenderError> {
        let quoting = if self.shell {
            Quoting::Shell
        } else {
            Quoting::Bare
        };
        let renderer = WordRenderer::new(tool, context, quoting);
        let mut words = Vec::new();
        for (place, word) in self.words().enumerate() {
            match renderer.words(word) {
                Ok(more) => words.extend(more),
                Err(RenderError::NotGiven { .. }) if place > 0 && !self.shell => {}
                Err(error) => return Err(error),
            }
        }
        Ok(words)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.program).chain(self.args.iter().map(String::as_str))
    }
}

fn check_uses(uses: &TemplateUses, known: &KnownNames<'_>, faults: &mut Vec<TemplateFault>) {
    for used in &uses.names {
        if let Err(fault) = known.check(used) {
            faults.push(fault);
        }
    }
    let mut operation = |kind, name: &str, hint| {
        faults.push(TemplateFault::UnknownOperation {
            kind,
            name: name.to_owned(),
            hint,
        });
    };
    for name in uses.filters.iter().filter(|name| !knows_filter(name)) {
        let usual = [
            "default", "raw", "join", "upper", "lower", "replace", "trim", "first", "last",
            "length",
        ];
        operation("filter", name, suggestion(name, &usual));
    }
    for name in uses.tests.iter().filter(|name| !knows_test(name)) {
        let usual = [
            "defined", "none", "string", "number", "sequence", "mapping", "true", "false",
        ];
        operation("test", name, suggestion(name, &usual));
    }
    for name in uses.functions.iter().filter(|name| !knows_function(name)) {
        operation(
            "function",
            name,
            "use a filter, such as `{{ x | join(',') }}`".to_owned(),
        );
    }
    for (path, method) in &uses.methods {
        let name = format!("{}.{method}()", dotted(path));
        operation(
            "method",
            &name,
            format!("write it as a filter, `| {method}`, if there is one"),
        );
    }
}

fn suggestion(name: &str, usual: &[&str]) -> String {
    match nearest(name, usual.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "available are {} and others of Jinja",
            listed(usual.iter().copied())
        ),
    }
}

/// Tracks the quotes of a shell line through a template.
fn scan_statement(
    scan: &mut ShellScan,
    parsed: &ParsedTemplate<'_>,
    statement: &Stmt<'_>,
) -> Result<(), TemplateFault> {
    let body = |scan: &mut ShellScan, statements: &[Stmt<'_>]| {
        statements
            .iter()
            .try_for_each(|statement| scan_statement(scan, parsed, statement))
    };
    match statement {
        Stmt::Template(template) => body(scan, &template.children),
        Stmt::EmitRaw(raw) => {
            scan.text(raw.raw);
            Ok(())
        }
        Stmt::EmitExpr(emit) if is_raw(&emit.expr) => {
            scan.unquoted_value();
            Ok(())
        }
        Stmt::EmitExpr(emit) => scan.value().map_err(|place| TemplateFault::Unquotable {
            template: parsed.tag(&emit.expr),
            place,
        }),
        Stmt::IfCond(condition) => {
            let mut other = scan.clone();
            body(scan, &condition.true_body)?;
            body(&mut other, &condition.false_body)?;
            join(scan, &other)
        }
        Stmt::ForLoop(each) => {
            let before = scan.clone();
            // Twice, since the second round begins where the first ended.
            body(scan, &each.body)?;
            join(scan, &before)?;
            body(scan, &each.body)?;
            join(scan, &before)?;
            let mut other = before;
            body(&mut other, &each.else_body)?;
            join(scan, &other)
        }
        Stmt::WithBlock(with) => body(scan, &with.body),
        Stmt::AutoEscape(block) => body(scan, &block.body),
        // What a block captures is text of its own, quoted when it is used.
        Stmt::SetBlock(block) => body(&mut ShellScan::new(), &block.body),
        Stmt::FilterBlock(block) => {
            body(&mut ShellScan::new(), &block.body)?;
            scan.value().map_err(|place| TemplateFault::Unquotable {
                template: parsed.tag(&block.filter),
                place,
            })
        }
        Stmt::Set(_) | Stmt::Do(_) => Ok(()),
    }
}

fn join(scan: &mut ShellScan, other: &ShellScan) -> Result<(), TemplateFault> {
    scan.join(other).map_err(|_| TemplateFault::UnevenBlock)
}

fn is_raw(expression: &Expr<'_>) -> bool {
    matches!(expression, Expr::Filter(filter) if filter.name == "raw")
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
