//! Finds tests that can end without having tested.
//!
//! A test ends early only by `needs!` or `skip!` of `windlass_skip`, which record it, and so do functions that do a
//! test's work: in test code, a function that returns nothing and asserts something has a `return` only in a loop. An
//! ignored test is a part that another one plays in a process of its own, so some source has its name in quotes.

use std::path::Path;

use anyhow::Context;
use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::workspace;

use super::size::is_cfg_test;

/// Contains the macros, and so the only `return` of a macro.
const EXCEPTED: &str = "crates/skip/src/lib.rs";

/// A source file: its path, relative to the workspace's root, and its text.
pub(super) type SourceText = (String, String);

/// The sources and tests of the crates in these folders.
pub(super) fn sources<'a>(
    folders: impl Iterator<Item = &'a Path>,
) -> anyhow::Result<Vec<SourceText>> {
    let mut sources = Vec::new();
    for folder in folders {
        for part in ["src", "tests"] {
            for path in workspace::rust_files(&folder.join(part))? {
                let shown = super::shown(&path);
                let text = std::fs::read_to_string(&path)
                    .with_context(|| format!("cannot read `{shown}`"))?;
                sources.push((shown, text));
            }
        }
    }
    Ok(sources)
}

/// Every such place in these sources.
pub(super) fn check(sources: &[SourceText]) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut ignored = Vec::new();
    for (path, text) in sources {
        let found = leavings(path, text).with_context(|| format!("cannot understand `{path}`"))?;
        faults.extend(found.faults);
        ignored.extend(found.ignored.into_iter().map(|name| (path, name)));
    }
    for (path, name) in ignored {
        if !sources.iter().any(|(_, text)| runs(text, &name)) {
            faults.push(format!(
                "`{path}`: the test `{name}` is ignored, and nothing runs it by its name"
            ));
        }
    }
    Ok(faults)
}

/// Whether a text has the path of this test as a word of a command or as a literal.
fn runs(text: &str, name: &str) -> bool {
    let begins = [format!("::{name}"), format!("\"{name}")];
    begins.iter().any(|begin| {
        let mut rests = text.split(begin.as_str()).skip(1);
        rests.any(|rest| rest.starts_with(['"', ' ']))
    })
}

/// The findings in one file.
#[derive(Default)]
struct Leavings {
    faults: Vec<String>,
    /// The names of ignored tests.
    ignored: Vec<String>,
}

/// The findings in the file of this path, relative to the workspace's root.
fn leavings(path: &str, text: &str) -> syn::Result<Leavings> {
    if path == EXCEPTED {
        return Ok(Leavings::default());
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut walk = Walk {
        path,
        is_test_code: path.split('/').any(|part| part == "tests")
            || name.ends_with("_tests.rs")
            || name == "tests.rs",
        within: Vec::new(),
        found: Leavings::default(),
    };
    walk.visit_file(&syn::parse_file(text)?);
    Ok(walk.found)
}

/// The innermost thing that a `return` leaves.
#[derive(Debug, Clone)]
enum Within {
    Test(String),
    /// A function of test code that returns nothing and asserts something, and the loops around the current place.
    Part(String, usize),
    /// A closure, an async block, or a function that is neither.
    Other,
}

struct Walk<'a> {
    path: &'a str,
    is_test_code: bool,
    within: Vec<Within>,
    found: Leavings,
}

impl Walk<'_> {
    fn function(
        &mut self,
        attributes: &[syn::Attribute],
        signature: &syn::Signature,
        block: &syn::Block,
    ) -> Within {
        let name = signature.ident.to_string();
        let has = |name: &str| {
            let mut paths = attributes.iter().map(syn::Attribute::path);
            paths.any(|path| path.segments.last().is_some_and(|last| last.ident == name))
        };
        if has("ignore") {
            self.found.ignored.push(name.clone());
        }
        if has("test") {
            Within::Test(name)
        } else if self.is_test_code
            && matches!(signature.output, syn::ReturnType::Default)
            && asserts(block)
        {
            Within::Part(name, 0)
        } else {
            Within::Other
        }
    }

    fn in_function(
        &mut self,
        attributes: &[syn::Attribute],
        signature: &syn::Signature,
        block: &syn::Block,
    ) {
        let within = self.function(attributes, signature, block);
        self.inside(within, |walk| walk.visit_block(block));
    }

    fn inside(&mut self, within: Within, visit: impl FnOnce(&mut Self)) {
        self.within.push(within);
        visit(self);
        self.within.pop();
    }

    fn in_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        let within = match self.within.last() {
            Some(Within::Part(name, loops)) => Within::Part(name.clone(), loops + 1),
            Some(other) => other.clone(),
            None => Within::Other,
        };
        self.inside(within, visit);
    }

    /// Reports a `return` here, if the function around it must not have one.
    fn leaves(&mut self, line: usize) {
        let Some(Within::Test(name) | Within::Part(name, 0)) = self.within.last() else {
            return;
        };
        self.found.faults.push(format!(
            "`{}`:{line} `{name}` returns early; a test ends early only by `needs!` or `skip!`",
            self.path
        ));
    }
}

impl Visit<'_> for Walk<'_> {
    fn visit_item_mod(&mut self, module: &syn::ItemMod) {
        let before = self.is_test_code;
        self.is_test_code |= module.attrs.iter().any(is_cfg_test);
        visit::visit_item_mod(self, module);
        self.is_test_code = before;
    }

    fn visit_item_fn(&mut self, function: &syn::ItemFn) {
        self.in_function(&function.attrs, &function.sig, &function.block);
    }

    fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
        self.in_function(&function.attrs, &function.sig, &function.block);
    }

    fn visit_trait_item_fn(&mut self, function: &syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.in_function(&function.attrs, &function.sig, block);
        }
    }

    fn visit_expr_closure(&mut self, closure: &syn::ExprClosure) {
        self.inside(Within::Other, |walk| {
            visit::visit_expr_closure(walk, closure);
        });
    }

    fn visit_expr_async(&mut self, block: &syn::ExprAsync) {
        self.inside(Within::Other, |walk| visit::visit_expr_async(walk, block));
    }

    fn visit_expr_loop(&mut self, block: &syn::ExprLoop) {
        self.in_loop(|walk| visit::visit_expr_loop(walk, block));
    }

    fn visit_expr_while(&mut self, block: &syn::ExprWhile) {
        self.in_loop(|walk| visit::visit_expr_while(walk, block));
    }

    fn visit_expr_for_loop(&mut self, block: &syn::ExprForLoop) {
        self.in_loop(|walk| visit::visit_expr_for_loop(walk, block));
    }

    fn visit_expr_return(&mut self, expression: &syn::ExprReturn) {
        self.leaves(expression.span().start().line);
        visit::visit_expr_return(self, expression);
    }

    /// Properties and macros that make tests, whose tokens are not parsed.
    fn visit_item_macro(&mut self, item: &syn::ItemMacro) {
        if self.is_test_code {
            let name = item.ident.as_ref().or(item.mac.path.get_ident());
            let name = name.map_or_else(String::new, |name| format!("{name}!"));
            let within = Within::Part(name, 0);
            self.inside(within, |walk| walk.visit_macro(&item.mac));
        }
    }

    fn visit_macro(&mut self, called: &syn::Macro) {
        if let Some(line) = return_in(called.tokens.clone()) {
            self.leaves(line);
        }
    }
}

/// Whether an assertion is in a block.
fn asserts(block: &syn::Block) -> bool {
    struct Assertions(bool);
    impl Visit<'_> for Assertions {
        fn visit_macro(&mut self, called: &syn::Macro) {
            let name = called
                .path
                .segments
                .last()
                .map(|last| last.ident.to_string());
            self.0 |= name.is_some_and(|name| name.contains("assert") || name == "panic");
        }
    }
    let mut assertions = Assertions(false);
    assertions.visit_block(block);
    assertions.0
}

/// The line of the first `return` among these tokens.
fn return_in(tokens: TokenStream) -> Option<usize> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if word == "return" => Some(word.span().start().line),
        TokenTree::Group(group) => return_in(group.stream()),
        _ => None,
    })
}

#[cfg(test)]
#[path = "leaving_tests.rs"]
mod tests;
