//! Names that are nearly right.

/// The name that `given` is a misspelling of, if it is that of any: as many letters may be wrong as a third of
/// its length.
#[must_use]
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given: Vec<char> = given
        .chars()
        .take(64)
        .flat_map(char::to_lowercase)
        .collect();
    let most = given.len() / 3 + 1;
    let near = names.into_iter().map(|name| (distance(&given, name), name));
    let near = near.filter(|(distance, _)| *distance <= most);
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// How many letters have to be put in, taken out or changed.
fn distance(given: &[char], name: &str) -> usize {
    let mut row: Vec<usize> = (0..=given.len()).collect();
    for (line, letter) in (1..).zip(name.chars().take(64).flat_map(char::to_lowercase)) {
        let mut diagonal = row.first().copied().unwrap_or(0);
        if let Some(first) = row.first_mut() {
            *first = line;
        }
        for (column, other) in (1..).zip(given) {
            let left = row.get(column - 1).copied().unwrap_or(0);
            let Some(here) = row.get_mut(column) else {
                break;
            };
            let change = diagonal + usize::from(letter != *other);
            diagonal = *here;
            *here = change.min(left + 1).min(*here + 1);
        }
    }
    row.last().copied().unwrap_or(0)
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
