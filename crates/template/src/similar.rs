//! Finds the name that was probably meant.

/// The candidate most similar to `word`, if any is similar.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LIKE: f64 = 0.5;
    candidates
        .into_iter()
        .map(|candidate| {
            let likeness = strsim::normalized_damerau_levenshtein(
                &word.to_ascii_lowercase(),
                &candidate.to_ascii_lowercase(),
            );
            (likeness, candidate)
        })
        .filter(|(likeness, _)| *likeness >= LIKE)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// Names in backticks, separated by commas.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
