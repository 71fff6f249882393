//! The subject of a permission request: what a call would do, as rules are
//! held against it.

/// Stands in a pattern for text that is not known before the call runs, such
/// as the value of a variable. It is no character that a text can hold.
pub const UNKNOWN: char = '\u{10ffff}';

/// The subject of a permission request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The kind of thing.
    pub permission: String,
    /// Everything that would be done.
    pub patterns: Vec<SubjectPattern>,
    /// The patterns that an "always" would remember.
    pub always: Vec<String>,
}

impl Subject {
    /// A subject of which nothing would be remembered.
    pub fn new<P: Into<SubjectPattern>>(
        permission: impl Into<String>,
        patterns: impl IntoIterator<Item = P>,
    ) -> Self {
        Self {
            permission: permission.into(),
            patterns: patterns.into_iter().map(Into::into).collect(),
            always: Vec::new(),
        }
    }

    /// The subject, of which an "always" remembers these patterns.
    pub fn remembering<P: Into<String>>(mut self, always: impl IntoIterator<Item = P>) -> Self {
        self.always = always.into_iter().map(Into::into).collect();
        self
    }

    /// The patterns as a person reads them.
    pub fn texts(&self) -> Vec<String> {
        let texts = self.patterns.iter().map(|pattern| pattern.text.clone());
        texts.collect()
    }
}

/// One thing that would be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectPattern {
    /// The thing as a person reads it. A rule of exactly this text speaks of
    /// it, whatever else holds.
    pub text: String,
    /// The text that a rule must cover to allow it, with [`UNKNOWN`] for
    /// whatever is not known yet.
    pub known: String,
    /// Other texts for the same thing, or for parts of it. A rule that denies
    /// or asks and covers one of them speaks of it; one that could cover it,
    /// depending on what is not known, has a person asked.
    pub forms: Vec<String>,
    /// It does more than its text can say, so that only a rule of exactly its
    /// text allows it, or one that allows anything.
    pub exact: bool,
}

impl From<String> for SubjectPattern {
    fn from(text: String) -> Self {
        Self {
            known: text.clone(),
            text,
            forms: Vec::new(),
            exact: false,
        }
    }
}

impl From<&str> for SubjectPattern {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl SubjectPattern {
    /// Every text that a rule which denies or asks is held against.
    pub(crate) fn all_forms(&self) -> impl Iterator<Item = &str> {
        let forms = self.forms.iter().map(String::as_str);
        [self.text.as_str(), self.known.as_str()]
            .into_iter()
            .chain(forms)
    }
}
