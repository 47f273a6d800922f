//! Suggestions for misspelt names.

/// Returns the name most similar to `given`, if any is similar enough: at most a quarter of its
/// letters differ, where two that changed places count as one, or it begins with `given`.
pub(super) fn nearest<N: AsRef<str> + Ord>(
    given: &str,
    names: impl Iterator<Item = N>,
) -> Option<N> {
    let given = given.to_ascii_lowercase();
    names
        .map(|name| {
            let name_of = name.as_ref().to_ascii_lowercase();
            let distance = strsim::damerau_levenshtein(&given, &name_of);
            (distance, name)
        })
        .min()
        .filter(|(distance, name)| {
            let name = name.as_ref();
            *distance <= name.len() / 4 || name.starts_with(&given)
        })
        .map(|(_, name)| name)
}
