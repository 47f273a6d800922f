//! Properties that an endpoint or a policy sets for a link in addition to an address, e.g.
//! `no_delay=false`.

use crate::{Cause, LinkError, Phase};
use punctual_sys::dscp::Dscp;
use std::str::FromStr;
use std::sync::Arc;

/// Name of a property and its value.
type Entry = (Box<str>, Box<str>);

/// Properties of one connection or acceptor, by name. Each link reads its own.
///
/// Part of a connection cache's key: connections whose properties differ are not shared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Properties {
    entries: Option<Arc<[Entry]>>,
}

impl Properties {
    /// Empty properties: the link's own settings apply.
    pub const NONE: Self = Self { entries: None };

    /// Returns the value of a property, if it was given.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    }

    /// Returns whether there are no properties.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_none()
    }

    /// Returns names and values, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.entries.as_deref().unwrap_or_default();
        entries.iter().map(|(key, value)| (&**key, &**value))
    }

    /// Returns the property `dscp`: the priority of packets in the network, as a number or a name.
    ///
    /// # Errors
    /// [`Cause::BadProperty`] for invalid text.
    pub fn dscp(&self, phase: Phase) -> Result<Option<Dscp>, LinkError> {
        self.parse(
            "dscp",
            "a DSCP: 0 to 63, EF, CS0 to CS7 or AF11 to AF43",
            phase,
        )
    }

    /// Parses a property as a value of its type; `expected` tells people which values fit.
    ///
    /// # Errors
    /// [`Cause::BadProperty`] when the text does not parse.
    pub fn parse<T: FromStr>(
        &self,
        key: &'static str,
        expected: &'static str,
        phase: Phase,
    ) -> Result<Option<T>, LinkError> {
        let Some(text) = self.get(key) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| LinkError {
            phase,
            cause: Cause::BadProperty {
                property: format!("{key}={text}").into(),
                expected,
            },
        })
    }

    /// Refuses properties that are not in `known`; `expected` lists those for people.
    ///
    /// # Errors
    /// [`Cause::BadProperty`] for the first unknown one.
    pub fn only(
        &self,
        known: &[&str],
        expected: &'static str,
        phase: Phase,
    ) -> Result<(), LinkError> {
        match self.iter().find(|(key, _)| !known.contains(key)) {
            None => Ok(()),
            Some((key, value)) => Err(LinkError {
                phase,
                cause: Cause::BadProperty {
                    property: format!("{key}={value}").into(),
                    expected,
                },
            }),
        }
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for Properties {
    /// Collects properties sorted by name, so that equality does not depend on the order; the later
    /// of two with one name wins.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        // One by one: collecting a map sorts, and each copy of the sort is large.
        let mut sorted = std::collections::BTreeMap::<Box<str>, Box<str>>::new();
        for (key, value) in pairs {
            sorted.insert(key.as_ref().into(), value.as_ref().into());
        }
        Self {
            entries: (!sorted.is_empty()).then(|| sorted.into_iter().collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_and_the_later_of_two_holds() {
        let one = Properties::from_iter([("a", "1"), ("b", "2")]);
        let other = Properties::from_iter([("b", "3"), ("b", "2"), ("a", "1")]);
        assert_eq!(one, other);
        assert_eq!(one.get("b"), Some("2"));
        assert_eq!(
            Properties::from_iter::<[(&str, &str); 0]>([]),
            Properties::NONE
        );
    }

    #[test]
    fn a_bad_value_and_an_unknown_name_are_named() {
        let given = Properties::from_iter([("spin_us", "many")]);
        let bad = given.parse::<u32>("spin_us", "microseconds", Phase::Connect);
        assert_eq!(
            bad.unwrap_err().to_string(),
            "connecting: invalid property `spin_us=many`: expected microseconds"
        );
        let unknown = given.only(&["no_delay"], "no_delay", Phase::Listen);
        assert!(unknown.unwrap_err().to_string().contains("spin_us=many"));
        assert!(given.only(&["spin_us"], "spin_us", Phase::Listen).is_ok());
    }
}
