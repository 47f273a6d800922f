//! Search for the name that a misspelt one was meant to be.

/// Returns the name that `given` is a misspelling of, if there is one: up to a third of its letters
/// may be wrong.
#[must_use]
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given = beginning(given);
    let most = given.chars().count() / 3 + 1;
    let near = names
        .into_iter()
        .map(|name| (strsim::levenshtein(&given, &beginning(name)), name));
    let near = near.filter(|(distance, _)| *distance <= most);
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns the part of a name that is compared: the first 64 characters, in lower case.
fn beginning(name: &str) -> String {
    name.chars().take(64).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_misspelling_finds_its_name_and_another_word_does_not() {
        let names = ["colour", "size", "weight"];
        assert_eq!(nearest("color", names), Some("colour"));
        assert_eq!(nearest("Wieght", names), Some("weight"));
        assert_eq!(nearest("temperature", names), None);
        assert_eq!(nearest("", ["abc"]), None);
    }
}
