//! The names that a template uses, and the kinds of use.

use std::collections::HashMap;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, IfExpr, Stmt};
use minijinja::machinery::parse;
use minijinja::syntax::SyntaxConfig;

use crate::error::TemplateFault;

/// A template as it was parsed.
pub(crate) struct ParsedTemplate<'s> {
    pub(crate) source: &'s str,
    pub(crate) root: Stmt<'s>,
}

/// One step from a value into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// A field by its name.
    Key(String),
    /// Some item of a list.
    Item,
}

/// A name as a template uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameUse {
    /// From the outermost name inwards.
    pub(crate) path: Vec<PathStep>,
    pub(crate) kind: UseKind,
    /// A surrounding condition tests for the same name.
    pub(crate) guarded: bool,
    /// Whether the use depends on other values.
    pub(crate) conditional: bool,
}

/// The consequence of a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UseKind {
    /// It cannot be rendered.
    Needed,
    /// The template has a default for it.
    Defaulted,
    /// The template tests for it.
    Tested,
}

/// Everything that a template uses.
#[derive(Debug, Default)]
pub(crate) struct TemplateUses {
    pub(crate) names: Vec<NameUse>,
    pub(crate) filters: Vec<String>,
    pub(crate) tests: Vec<String>,
    pub(crate) functions: Vec<String>,
    /// Methods of values, with the names of the values.
    pub(crate) methods: Vec<(Vec<PathStep>, String)>,
}

impl NameUse {
    /// The name with dots between its steps.
    pub(crate) fn name(&self) -> String {
        dotted(&self.path)
    }

    /// Whether a call without the value cannot be rendered.
    pub(crate) fn is_needed(&self) -> bool {
        self.kind == UseKind::Needed && !self.guarded
    }
}

/// The steps with dots between them.
pub(crate) fn dotted(path: &[PathStep]) -> String {
    let mut name = String::new();
    for step in path {
        match step {
            PathStep::Key(key) if name.is_empty() => name.push_str(key),
            PathStep::Key(key) => {
                name.push('.');
                name.push_str(key);
            }
            PathStep::Item => name.push_str("[]"),
        }
    }
    name
}

/// The text may hold a template.
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

impl<'s> ParsedTemplate<'s> {
    pub(crate) fn parse(source: &'s str) -> Result<Self, TemplateFault> {
        match parse(source, "command", SyntaxConfig::default()) {
            Ok(root) => Ok(Self { source, root }),
            Err(error) => Err(TemplateFault::Syntax {
                template: shown(source),
                message: error.detail().unwrap_or("syntax error").to_owned(),
            }),
        }
    }

    pub(crate) fn uses(&self) -> TemplateUses {
        let mut walk = Walk::default();
        walk.scopes.push(HashMap::new());
        walk.statement(&self.root);
        walk.uses
    }

    /// The tag around an expression, verbatim.
    pub(crate) fn tag(&self, expression: &Expr<'_>) -> String {
        let span = expression.span();
        let (start, end) = (span.start_offset as usize, span.end_offset as usize);
        let before = self.source.get(..start).unwrap_or_default();
        let after = self.source.get(end..).unwrap_or_default();
        let from = before.rfind("{{").max(before.rfind("{%")).unwrap_or(0);
        let close = after.find("}}").into_iter().chain(after.find("%}")).min();
        let to = close.map_or(self.source.len(), |place| end + place + 2);
        shown(self.source.get(from..to).unwrap_or(self.source))
    }
}

/// A word of a command as its author wrote it.
pub(crate) fn shown(word: &str) -> String {
    word.replace(crate::split::WORD_BREAK, " ")
}

/// Local names, with the path of each if known.
type Scope<'s> = HashMap<&'s str, Option<Vec<PathStep>>>;

#[derive(Default)]
struct Walk<'s> {
    uses: TemplateUses,
    scopes: Vec<Scope<'s>>,
    /// The names that conditions around this place ask for.
    guards: Vec<Vec<PathStep>>,
    /// The number of open branches.
    branches: usize,
}

impl<'s> Walk<'s> {
    fn statements(&mut self, statements: &[Stmt<'s>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt<'s>) {
        match statement {
            Stmt::Template(template) => self.statements(&template.children),
            Stmt::EmitExpr(emit) => self.expression(&emit.expr, UseKind::Needed),
            Stmt::EmitRaw(_) => {}
            Stmt::ForLoop(each) => {
                self.expression(&each.iter, UseKind::Needed);
                let item = self.path_of(&each.iter).map(|mut path| {
                    path.push(PathStep::Item);
                    path
                });
                self.scopes.push(HashMap::from([("loop", None)]));
                self.declare(&each.target, item);
                self.branches += 1;
                if let Some(filter) = &each.filter_expr {
                    self.expression(filter, UseKind::Tested);
                }
                self.statements(&each.body);
                self.scopes.pop();
                self.statements(&each.else_body);
                self.branches -= 1;
            }
            Stmt::IfCond(condition) => {
                self.guarded(&condition.expr, |checked| {
                    checked.statements(&condition.true_body);
                    checked.statements(&condition.false_body);
                });
            }
            Stmt::WithBlock(with) => {
                self.scopes.push(HashMap::new());
                for (target, value) in &with.assignments {
                    self.assigned(value);
                    let path = self.path_of(value);
                    self.declare(target, path);
                }
                self.statements(&with.body);
                self.scopes.pop();
            }
            Stmt::Set(set) => {
                self.assigned(&set.expr);
                let path = self.path_of(&set.expr);
                self.declare(&set.target, path);
            }
            Stmt::SetBlock(set) => {
                self.statements(&set.body);
                self.optional(set.filter.as_ref());
                self.declare(&set.target, None);
            }
            Stmt::AutoEscape(block) => {
                self.expression(&block.enabled, UseKind::Needed);
                self.statements(&block.body);
            }
            Stmt::FilterBlock(block) => {
                self.expression(&block.filter, UseKind::Needed);
                self.statements(&block.body);
            }
            Stmt::Do(call) => {
                self.expression(&call.call.expr, UseKind::Needed);
                self.arguments(&call.call.args);
            }
        }
    }

    /// An alias of another name needs its value where the alias is used.
    fn assigned(&mut self, value: &Expr<'s>) {
        let kind = match self.path_of(value) {
            Some(_) => UseKind::Tested,
            None => UseKind::Needed,
        };
        self.expression(value, kind);
    }

    fn optional(&mut self, expression: Option<&Expr<'s>>) {
        if let Some(expression) = expression {
            self.expression(expression, UseKind::Needed);
        }
    }

    fn expression(&mut self, expression: &Expr<'s>, kind: UseKind) {
        if let Some(path) = self.path_of(expression) {
            self.record(path, kind);
            return;
        }
        match expression {
            // A local name.
            Expr::Var(_) | Expr::Const(_) => {}
            Expr::Slice(slice) => {
                self.expression(&slice.expr, UseKind::Needed);
                let bounds = [&slice.start, &slice.stop, &slice.step];
                for bound in bounds {
                    self.optional(bound.as_ref());
                }
            }
            Expr::UnaryOp(operation) => self.expression(&operation.expr, kind),
            Expr::BinOp(operation) => {
                let left = match operation.op {
                    BinOpKind::ScAnd | BinOpKind::ScOr => UseKind::Tested,
                    _ => kind,
                };
                let is_branch = left == UseKind::Tested && kind != UseKind::Tested;
                self.expression(&operation.left, left);
                self.branches += usize::from(is_branch);
                self.expression(&operation.right, kind);
                self.branches -= usize::from(is_branch);
            }
            Expr::Compare(comparison) => {
                self.expression(&comparison.expr, kind);
                for operation in &comparison.ops {
                    self.expression(&operation.expr, kind);
                }
            }
            Expr::IfExpr(choice) => self.choice(choice, kind),
            Expr::Filter(filter) => {
                let inner = match filter.name {
                    "default" | "d" => UseKind::Defaulted,
                    _ => UseKind::Needed,
                };
                if let Some(expression) = &filter.expr {
                    self.expression(expression, inner);
                }
                self.uses.filters.push(filter.name.to_owned());
                let is_branch = inner == UseKind::Defaulted;
                self.branches += usize::from(is_branch);
                self.arguments(&filter.args);
                self.branches -= usize::from(is_branch);
            }
            Expr::Test(test) => {
                // `x is defined` must see that a missing value is missing.
                self.expression(&test.expr, UseKind::Defaulted);
                self.uses.tests.push(test.name.to_owned());
                self.arguments(&test.args);
            }
            Expr::GetAttr(field) => self.expression(&field.expr, UseKind::Needed),
            Expr::GetItem(item) => {
                self.expression(&item.expr, UseKind::Needed);
                self.expression(&item.subscript_expr, UseKind::Needed);
            }
            Expr::Call(call) => {
                match &call.expr {
                    Expr::Var(name) if !self.is_local(name.id) => {
                        self.uses.functions.push(name.id.to_owned());
                    }
                    Expr::GetAttr(method) => match self.path_of(&method.expr) {
                        Some(path) => self.uses.methods.push((path, method.name.to_owned())),
                        None => self.expression(&method.expr, UseKind::Needed),
                    },
                    other => self.expression(other, UseKind::Needed),
                }
                self.arguments(&call.args);
            }
            Expr::List(list) => self.all(&list.items),
            Expr::Tuple(tuple) => self.all(&tuple.items),
            Expr::Map(map) => {
                self.all(&map.keys);
                self.all(&map.values);
            }
        }
    }

    fn choice(&mut self, choice: &IfExpr<'s>, kind: UseKind) {
        self.guarded(&choice.test_expr, |checked| {
            checked.expression(&choice.true_expr, kind);
            if let Some(other) = &choice.false_expr {
                checked.expression(other, kind);
            }
        });
    }

    /// Visits branches whose condition has tested the names.
    fn guarded(&mut self, condition: &Expr<'s>, branches: impl FnOnce(&mut Self)) {
        let before = self.uses.names.len();
        self.expression(condition, UseKind::Tested);
        let asked: Vec<_> = self.uses.names[before..]
            .iter()
            .map(|used| used.path.clone())
            .collect();
        let guards = self.guards.len();
        self.guards.extend(asked);
        self.branches += 1;
        branches(self);
        self.branches -= 1;
        self.guards.truncate(guards);
    }

    fn all(&mut self, expressions: &[Expr<'s>]) {
        for expression in expressions {
            self.expression(expression, UseKind::Needed);
        }
    }

    fn arguments(&mut self, arguments: &[CallArg<'s>]) {
        for argument in arguments {
            match argument {
                CallArg::Pos(value)
                | CallArg::Kwarg(_, value)
                | CallArg::PosSplat(value)
                | CallArg::KwargSplat(value) => self.expression(value, UseKind::Needed),
            }
        }
    }

    fn record(&mut self, path: Vec<PathStep>, kind: UseKind) {
        let guarded = self.guards.iter().any(|guard| path.starts_with(guard));
        self.uses.names.push(NameUse {
            path,
            kind,
            guarded,
            conditional: self.branches > 0,
        });
    }

    /// The path of an expression that only accesses fields and items of an
    /// outer name.
    fn path_of(&self, expression: &Expr<'s>) -> Option<Vec<PathStep>> {
        match expression {
            Expr::Var(name) => match self.local(name.id) {
                Some(path) => path.clone(),
                None => Some(vec![PathStep::Key(name.id.to_owned())]),
            },
            Expr::GetAttr(field) => {
                let mut path = self.path_of(&field.expr)?;
                path.push(PathStep::Key(field.name.to_owned()));
                Some(path)
            }
            Expr::GetItem(item) => {
                let mut path = self.path_of(&item.expr)?;
                let subscript = item.subscript_expr.as_const()?;
                path.push(match subscript.as_str() {
                    Some(key) => PathStep::Key(key.to_owned()),
                    None => PathStep::Item,
                });
                Some(path)
            }
            Expr::Filter(filter) if filter.name == "attr" => {
                let mut path = self.path_of(filter.expr.as_ref()?)?;
                let [CallArg::Pos(name)] = filter.args.as_slice() else {
                    return None;
                };
                path.push(PathStep::Key(name.as_const()?.as_str()?.to_owned()));
                Some(path)
            }
            _ => None,
        }
    }

    fn is_local(&self, name: &str) -> bool {
        self.local(name).is_some()
    }

    fn local(&self, name: &str) -> Option<&Option<Vec<PathStep>>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Declares the names of a target. A name that is assigned twice has no
    /// known path.
    fn declare(&mut self, target: &Expr<'s>, path: Option<Vec<PathStep>>) {
        match target {
            Expr::Var(name) => {
                let again = self.is_local(name.id);
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(name.id, path.filter(|_| !again));
                }
            }
            Expr::List(list) => {
                for item in &list.items {
                    self.declare(item, None);
                }
            }
            Expr::Tuple(tuple) => {
                for item in &tuple.items {
                    self.declare(item, None);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "syntax_tests.rs"]
mod tests;
