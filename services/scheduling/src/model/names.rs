//! Names of operations, hosts and mutexes.

/// Maximum length of an operation's name, in bytes.
pub const LONGEST_NAME: usize = 256;

/// Returns the known name that is most similar, if it is similar at all.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n String>) -> Option<&'n str> {
    let likely =
        known.filter(|one| one.len().abs_diff(name.len()) <= 8 && name.len() <= LONGEST_NAME);
    let scored = likely.map(|one| (strsim::damerau_levenshtein(name, one), one));
    let (distance, near) = scored.min()?;
    (distance <= (name.len() / 3).max(1)).then_some(near)
}
