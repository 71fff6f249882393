//! Reports long files and functions. They are allowed.

use std::path::Path;

use anyhow::Context;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::workspace;

/// A longer file, not counting tests, probably contains two ideas.
const FILE_LINES: usize = 500;

/// A longer function cannot be read at a glance.
const FUNCTION_LINES: usize = 80;

/// Every long file and long function of the crate in `folder`, without tests.
pub(super) fn check(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut warnings = Vec::new();
    for path in workspace::rust_files(&folder.join("src"))? {
        let name = super::shown(&path);
        if name.ends_with("_tests.rs") {
            continue;
        }
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read `{name}`"))?;
        warnings.extend(
            long_parts(&text)
                .with_context(|| format!("cannot understand `{name}`"))?
                .into_iter()
                .map(|part| format!("`{name}` {part}")),
        );
    }
    Ok(warnings)
}

fn long_parts(text: &str) -> syn::Result<Vec<String>> {
    let file = syn::parse_file(text)?;
    let mut lengths = Lengths::default();
    lengths.visit_file(&file);
    let lines = text.lines().count() - lengths.test_lines;
    let mut parts = Vec::new();
    if lines > FILE_LINES {
        parts.push(format!(
            "has {lines} lines without its tests; about {FILE_LINES} is the most"
        ));
    }
    for (function, lines) in lengths.long_functions {
        parts.push(format!(
            "has function `{function}` of {lines} lines; about {FUNCTION_LINES} is the most"
        ));
    }
    Ok(parts)
}

/// Collects the findings of one file. Test modules are skipped.
#[derive(Default)]
struct Lengths {
    test_lines: usize,
    long_functions: Vec<(String, usize)>,
}

impl Lengths {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let lines = block.span().end().line - signature.span().start().line + 1;
        if lines > FUNCTION_LINES {
            self.long_functions
                .push((signature.ident.to_string(), lines));
        }
    }
}

impl Visit<'_> for Lengths {
    fn visit_item_mod(&mut self, module: &syn::ItemMod) {
        if module.attrs.iter().any(is_cfg_test) {
            let span = module.span();
            self.test_lines += span.end().line - span.start().line + 1;
        } else {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &syn::ItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// Whether the attribute is `#[cfg(test)]`.
pub(super) fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute
            .parse_args::<syn::Path>()
            .is_ok_and(|path| path.is_ident("test"))
}

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;
