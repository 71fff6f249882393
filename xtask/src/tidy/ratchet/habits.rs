//! The counted habits, and how they are found in a source file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::Context;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::tidy::size::is_cfg_test;

use super::texts;

/// A pattern that new code should avoid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Habit {
    /// A struct, enum or trait whose name is also declared elsewhere.
    SharedName,
    /// A `Result` whose error is a `String`.
    StringError,
    /// A doc comment that begins with "What".
    DocWithWhat,
    /// A doc comment that begins with "The same,".
    DocWithTheSame,
    /// A test that compares with a long literal by `assert_eq!` or `assert_ne!`.
    LongExpectedText,
    /// A test that only asserts that a text contains a literal.
    ContainedText,
}

impl Habit {
    /// Every habit, in the order of the report.
    pub(super) const ALL: [Self; 6] = [
        Self::SharedName,
        Self::StringError,
        Self::DocWithWhat,
        Self::DocWithTheSame,
        Self::LongExpectedText,
        Self::ContainedText,
    ];

    /// The habit's key in the file of counts.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::SharedName => "shared_type_names",
            Self::StringError => "string_errors",
            Self::DocWithWhat => "docs_with_what",
            Self::DocWithTheSame => "docs_with_the_same",
            Self::LongExpectedText => "long_expected_texts",
            Self::ContainedText => "contained_texts",
        }
    }

    /// How to avoid it.
    pub(super) fn remedy(self) -> &'static str {
        match self {
            Self::SharedName => "give the new type a name that no other type has",
            Self::StringError => "make the error an enum with `thiserror`",
            Self::DocWithWhat | Self::DocWithTheSame => {
                "begin the comment with the thing's usual technical noun"
            }
            Self::LongExpectedText | Self::ContainedText => {
                "compare the whole text with `insta::assert_snapshot!(text, @\"\")`, which `cargo xtask accept` fills in"
            }
        }
    }
}

impl fmt::Display for Habit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SharedName => "shared type names",
            Self::StringError => "`Result<_, String>`",
            Self::DocWithWhat => "doc comments that begin with \"What\"",
            Self::DocWithTheSame => "doc comments that begin with \"The same,\"",
            Self::LongExpectedText => "tests with a long literal in `assert_eq!`",
            Self::ContainedText => "tests that a text contains a literal",
        })
    }
}

/// One source file.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// Relative to the workspace's root.
    pub(super) path: String,
    /// The whole text.
    pub(super) text: String,
}

/// One place where a habit was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sighting {
    path: String,
    line: usize,
    /// The name, the signature's function or the comment's first line. It stays
    /// the same if the place is not edited.
    text: String,
}

impl fmt::Display for Sighting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, text } = self;
        write!(formatter, "{path}:{line} {text}")
    }
}

/// All findings.
#[derive(Debug, Default)]
pub(super) struct Census(BTreeMap<Habit, Vec<Sighting>>);

impl Census {
    /// The number of findings of a habit.
    pub(super) fn count(&self, habit: Habit) -> usize {
        self.sightings(habit).len()
    }

    /// The findings of a habit.
    pub(super) fn sightings(&self, habit: Habit) -> &[Sighting] {
        self.0.get(&habit).map_or(&[], Vec::as_slice)
    }
}

/// The habits that are counted in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// All but those of tests.
    Source,
    /// Those of tests.
    Test,
}

/// What is counted in the file of this path, relative to the workspace's root:
/// sources and tests of crates, without generated code.
pub(super) fn kind(path: &str) -> Option<Kind> {
    let is_rust = Path::new(path)
        .extension()
        .is_some_and(|ending| ending == "rs");
    if !is_rust || path.contains("/generated/") {
        return None;
    }
    let folders: Vec<&str> = path.split('/').collect();
    match folders[..] {
        ["crates", _, "src", ..] if path.ends_with("_tests.rs") => Some(Kind::Test),
        ["crates", _, "src", ..] => Some(Kind::Source),
        ["crates", _, "tests", ..] | ["tests", ..] => Some(Kind::Test),
        _ => None,
    }
}

/// Counts every habit in the sources.
pub(super) fn census(sources: &[Source]) -> anyhow::Result<Census> {
    let mut census = Census::default();
    let mut declared: BTreeMap<String, Vec<Sighting>> = BTreeMap::new();
    for source in sources {
        let found = match kind(&source.path) {
            Some(Kind::Test) => texts::found(&source.text),
            _ => habits_of_source(&source.text),
        };
        let found = found.with_context(|| format!("cannot understand `{}`", source.path))?;
        for (habit, line, text) in found {
            let sighting = Sighting {
                path: source.path.clone(),
                line,
                text: text.clone(),
            };
            match habit {
                Habit::SharedName => declared.entry(text).or_default().push(sighting),
                _ => census.0.entry(habit).or_default().push(sighting),
            }
        }
    }
    let shared = declared
        .into_values()
        .filter(|declarations| declarations.len() > 1)
        .flatten()
        .collect();
    census.0.insert(Habit::SharedName, shared);
    Ok(census)
}

fn habits_of_source(text: &str) -> anyhow::Result<Vec<(Habit, usize, String)>> {
    let mut walk = Walk::default();
    walk.visit_file(&syn::parse_file(text)?);
    Ok(walk.found)
}

/// New findings of a habit, by file and text. A declaration that was moved or
/// has become shared is new.
pub(super) fn news(earlier: &Census, now: &Census, habit: Habit) -> Vec<String> {
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for Sighting { path, text, .. } in earlier.sightings(habit) {
        *known.entry((path, text)).or_default() += 1;
    }
    now.sightings(habit)
        .iter()
        .filter(|Sighting { path, text, .. }| {
            match known.get_mut(&(path.as_str(), text.as_str())) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    false
                }
                _ => true,
            }
        })
        .map(ToString::to_string)
        .collect()
}

/// Visits one file. Test modules are skipped.
#[derive(Default)]
struct Walk {
    found: Vec<(Habit, usize, String)>,
    function: String,
    /// The last line of the doc comment that is being read.
    doc_line: Option<usize>,
}

impl Walk {
    fn declaration(&mut self, name: &syn::Ident) {
        let line = name.span().start().line;
        self.found.push((Habit::SharedName, line, name.to_string()));
    }

    fn in_function(&mut self, signature: &syn::Signature, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.function, signature.ident.to_string());
        visit(self);
        self.function = outer;
    }
}

impl Visit<'_> for Walk {
    fn visit_item_mod(&mut self, module: &syn::ItemMod) {
        if !module.attrs.iter().any(is_cfg_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_struct(&mut self, item: &syn::ItemStruct) {
        self.declaration(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &syn::ItemEnum) {
        self.declaration(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &syn::ItemTrait) {
        self.declaration(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_fn(&mut self, function: &syn::ItemFn) {
        self.in_function(&function.sig, |walk| visit::visit_item_fn(walk, function));
    }

    fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
        self.in_function(&function.sig, |walk| {
            visit::visit_impl_item_fn(walk, function);
        });
    }

    fn visit_trait_item_fn(&mut self, function: &syn::TraitItemFn) {
        self.in_function(&function.sig, |walk| {
            visit::visit_trait_item_fn(walk, function);
        });
    }

    fn visit_type_path(&mut self, path: &syn::TypePath) {
        if is_string_result(path) {
            let line = path.span().start().line;
            let place = match self.function.as_str() {
                "" => "Result<_, String>".to_owned(),
                function => format!("fn {function}"),
            };
            self.found.push((Habit::StringError, line, place));
        }
        visit::visit_type_path(self, path);
    }

    fn visit_attribute(&mut self, attribute: &syn::Attribute) {
        let Some(text) = doc_text(attribute) else {
            return;
        };
        let line = attribute.span().start().line;
        let begins = self.doc_line.is_none_or(|last| line != last + 1);
        self.doc_line = Some(attribute.span().end().line);
        let text = text.trim();
        if begins && first_word(text) == "What" {
            self.found
                .push((Habit::DocWithWhat, line, format!("\"{text}\"")));
        } else if begins && text.starts_with("The same,") {
            self.found
                .push((Habit::DocWithTheSame, line, format!("\"{text}\"")));
        }
    }
}

fn is_string_result(path: &syn::TypePath) -> bool {
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return false;
    };
    last.ident == "Result"
        && matches!(
            arguments.args.iter().nth(1),
            Some(syn::GenericArgument::Type(syn::Type::Path(error)))
                if error.path.segments.last().is_some_and(|last| last.ident == "String")
        )
}

/// The text of a doc comment attribute.
fn doc_text(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) if pair.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

fn first_word(text: &str) -> &str {
    let end = text.find(|character: char| !character.is_alphanumeric());
    &text[..end.unwrap_or(text.len())]
}
