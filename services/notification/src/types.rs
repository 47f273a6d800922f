//! Types of events: patterns with wildcards, and the sets of them that clients offer and subscribe to
//! (formal/04-10-13, 2.6.5).
//!
//! `*` stands for any characters, in either name. `%ALL` is any type name.

use std::collections::BTreeSet;

use crate::cos_notification::EventType;

/// Type name that stands for all.
const ALL: &str = "%ALL";

/// Longest name of a domain or type in bytes.
const LONGEST: usize = 1024;

/// Types that a client offers or subscribes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Types {
    /// All; so it is until the client states types.
    #[default]
    All,
    /// Those that match one of the patterns.
    Only(BTreeSet<Pattern>),
}

/// Pattern of types: domain and type name.
pub(crate) type Pattern = (String, String);

/// Reason for which types are not taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BadTypes {
    /// The type's names are too long.
    Invalid(EventType),
    /// There would be more than this many.
    TooMany(usize),
}

/// Returns the type that stands for all.
pub(crate) fn all() -> EventType {
    EventType {
        domain_name: "*".to_owned(),
        type_name: ALL.to_owned(),
    }
}

/// Returns whether a pattern is that of all types.
pub(crate) fn is_all(domain: &str, name: &str) -> bool {
    matches!(domain, "" | "*") && matches!(name, "" | "*" | ALL)
}

/// Returns whether a pattern matches more than one type.
pub(crate) fn is_wild((domain, name): &Pattern) -> bool {
    domain.contains('*') || name.contains('*') || name == ALL
}

/// Returns whether a pattern matches a type. Takes time in proportion to their lengths.
pub(crate) fn matches(pattern: (&str, &str), domain: &str, name: &str) -> bool {
    is_all(pattern.0, pattern.1)
        || (fits(pattern.0, domain) && (pattern.1 == ALL || fits(pattern.1, name)))
}

/// Returns whether a text fits a pattern in which `*` stands for any characters.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut left) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        match left.find(part) {
            Some(at) => left = left.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

impl Types {
    /// Returns whether a type is among these.
    pub(crate) fn include(&self, domain: &str, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(patterns) => patterns
                .iter()
                .any(|(its_domain, its_name)| matches((its_domain, its_name), domain, name)),
        }
    }

    /// Returns the types with others added and removed. The first ones that are added take the place of all.
    ///
    /// # Errors
    /// A name is too long, or there would be more than `most`.
    pub(crate) fn changed(
        &self,
        added: &[EventType],
        removed: &[EventType],
        most: usize,
    ) -> Result<Self, BadTypes> {
        let too_long = |one: &&EventType| one.domain_name.len().max(one.type_name.len()) > LONGEST;
        if let Some(long) = added.iter().chain(removed).find(too_long) {
            return Err(BadTypes::Invalid(long.clone()));
        }
        let stands_for_all = |one: &EventType| is_all(&one.domain_name, &one.type_name);
        let mut patterns = match self {
            Self::All if added.is_empty() && !removed.iter().any(stands_for_all) => {
                return Ok(Self::All);
            }
            Self::All => BTreeSet::new(),
            Self::Only(patterns) => patterns.clone(),
        };
        for one in removed {
            match stands_for_all(one) {
                true => patterns.clear(),
                false => drop(patterns.remove(&pattern_of(one))),
            }
        }
        if added.iter().any(stands_for_all) {
            return Ok(Self::All);
        }
        patterns.extend(added.iter().map(pattern_of));
        match patterns.len() > most {
            true => Err(BadTypes::TooMany(most)),
            false => Ok(Self::Only(patterns)),
        }
    }

    /// Returns the patterns, where all types are one.
    pub(crate) fn patterns(&self) -> Vec<Pattern> {
        match self {
            Self::All => vec![pattern_of(&all())],
            Self::Only(patterns) => patterns.iter().cloned().collect(),
        }
    }
}

fn pattern_of(one: &EventType) -> Pattern {
    (one.domain_name.clone(), one.type_name.clone())
}

/// Returns a pattern as it is sent.
pub(crate) fn event_type((domain, name): &Pattern) -> EventType {
    EventType {
        domain_name: domain.clone(),
        type_name: name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(domain: &str, name: &str) -> EventType {
        event_type(&(domain.to_owned(), name.to_owned()))
    }

    #[test]
    fn wildcards_stand_for_any_characters() {
        for (pattern, text, is_match) in [
            ("Telecom", "Telecom", true),
            ("Telecom", "Telecoms", false),
            ("Tele*", "Telecom", true),
            ("*com", "Telecom", true),
            ("*com", "Telecommunication", false),
            ("T*l*m", "Telecom", true),
            ("T*x*m", "Telecom", false),
            ("a*a", "a", false),
            ("**", "", true),
            ("*aa*aa*", "aaaa", true),
            ("*aa*aa*", "aaa", false),
        ] {
            assert_eq!(fits(pattern, text), is_match, "{pattern} of {text}");
        }
        assert!(matches(("Tele*", "%ALL"), "Telecom", "Alarm"));
        assert!(matches(("", ""), "Telecom", "Alarm"));
        assert!(!matches(("", "Alarm"), "Telecom", "Alarm"));
        assert!(matches(("", "%ANY"), "", "%ANY"));
    }

    #[test]
    fn the_first_types_take_the_place_of_all_which_come_back_by_a_wildcard() {
        let all = Types::default();
        assert_eq!(all.changed(&[], &[of("A", "1")], 9), Ok(Types::All));
        let some = all.changed(&[of("A", "1"), of("B", "*")], &[], 9).unwrap();
        assert!(some.include("A", "1") && some.include("B", "2"));
        assert!(!some.include("A", "2"));
        let none = some.changed(&[], &[of("*", "*")], 9).unwrap();
        assert!(!none.include("A", "1"));
        assert_eq!(none.changed(&[of("*", "%ALL")], &[], 9), Ok(Types::All));
        let other = some.changed(&[of("C", "3")], &[of("A", "1")], 9).unwrap();
        assert_eq!(other.patterns().len(), 2);
    }

    #[test]
    fn types_have_limits() {
        let added = [of("A", "1"), of("A", "2")];
        let all = Types::default();
        assert_eq!(all.changed(&added, &[], 1), Err(BadTypes::TooMany(1)));
        let long = of(&"x".repeat(LONGEST + 1), "1");
        let bad = all.changed(&[], std::slice::from_ref(&long), 1);
        assert_eq!(bad, Err(BadTypes::Invalid(long)));
    }
}
