//! Index of subscribers by the types that they subscribe to: an event finds its own without looking at all others.

use std::collections::{BTreeMap, HashMap};

use crate::types::{Types, is_wild};

/// Subscribers of type `T`, each with a number.
#[derive(Debug)]
pub(crate) struct Index<T> {
    /// Subscribers to single types, by domain and type name.
    exact: HashMap<String, HashMap<String, BTreeMap<u64, T>>>,
    /// Subscribers to patterns, or to all.
    wild: BTreeMap<u64, (Types, T)>,
    /// Types by which a subscriber is in `exact`.
    places: HashMap<u64, Types>,
}

impl<T> Default for Index<T> {
    fn default() -> Self {
        Self {
            exact: HashMap::new(),
            wild: BTreeMap::new(),
            places: HashMap::new(),
        }
    }
}

impl<T: Clone> Index<T> {
    /// Adds a subscriber, or replaces its types.
    pub(crate) fn insert(&mut self, number: u64, types: Types, subscriber: &T) {
        self.remove(number);
        match &types {
            Types::Only(patterns) if !patterns.iter().any(is_wild) => {
                for (domain, name) in patterns {
                    let of_domain = self.exact.entry(domain.clone()).or_default();
                    let of_type = of_domain.entry(name.clone()).or_default();
                    of_type.insert(number, subscriber.clone());
                }
                self.places.insert(number, types);
            }
            _ => drop(self.wild.insert(number, (types, subscriber.clone()))),
        }
    }

    /// Removes a subscriber.
    pub(crate) fn remove(&mut self, number: u64) {
        self.wild.remove(&number);
        let Some(Types::Only(patterns)) = self.places.remove(&number) else {
            return;
        };
        for (domain, name) in &patterns {
            self.remove_exact(number, domain, name);
        }
    }

    fn remove_exact(&mut self, number: u64, domain: &str, name: &str) {
        let Some(of_domain) = self.exact.get_mut(domain) else {
            return;
        };
        if let Some(of_type) = of_domain.get_mut(name) {
            of_type.remove(&number);
            if of_type.is_empty() {
                of_domain.remove(name);
            }
        }
        if of_domain.is_empty() {
            self.exact.remove(domain);
        }
    }

    /// Returns the subscribers to patterns, or to all.
    pub(crate) fn wild(&self) -> &BTreeMap<u64, (Types, T)> {
        &self.wild
    }

    /// Returns the subscribers to single types of which this is one, each once.
    pub(crate) fn exact(&self, domain: &str, name: &str) -> impl Iterator<Item = &T> {
        let exact = self.exact.get(domain);
        let exact = exact.and_then(|of_domain| of_domain.get(name));
        exact.into_iter().flat_map(BTreeMap::values)
    }

    /// Returns the subscribers to a type, each once.
    pub(crate) fn of(&self, domain: &str, name: &str) -> Vec<T> {
        let exact = self.exact(domain, name);
        let wild = self.wild.values();
        let wild = wild.filter(|(types, _)| types.include(domain, name));
        exact
            .chain(wild.map(|(_, subscriber)| subscriber))
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cos_notification::EventType;
    use proptest::prelude::*;

    fn types(patterns: &[(&str, &str)]) -> Types {
        let types = patterns.iter().map(|(domain, name)| EventType {
            domain_name: (*domain).to_owned(),
            type_name: (*name).to_owned(),
        });
        let types: Vec<_> = types.collect();
        Types::Only(std::collections::BTreeSet::new())
            .changed(&types, &[], 99)
            .unwrap()
    }

    proptest! {
        #[test]
        fn the_index_finds_what_a_search_finds(
            steps in prop::collection::vec(
                (0..6_u64, prop::option::of(prop::collection::vec((0..4_usize, 0..4_usize), 0..4))),
                0..30,
            ),
        ) {
            let names = ["A", "B", "*", "A*"];
            let mut index = Index::default();
            let mut all: BTreeMap<u64, Types> = BTreeMap::new();
            for (number, patterns) in steps {
                match patterns {
                    Some(patterns) => {
                        let patterns: Vec<_> =
                            patterns.iter().map(|(domain, name)| (names[*domain], names[*name])).collect();
                        let types = types(&patterns);
                        index.insert(number, types.clone(), &number);
                        all.insert(number, types);
                    }
                    None => {
                        index.remove(number);
                        all.remove(&number);
                    }
                }
            }
            for (domain, name) in [("A", "A"), ("A", "B"), ("AA", "B"), ("C", "C")] {
                let mut found = index.of(domain, name);
                found.sort_unstable();
                let wanted = all.iter().filter(|(_, types)| types.include(domain, name));
                prop_assert_eq!(found, wanted.map(|(number, _)| *number).collect::<Vec<_>>());
            }
            for number in 0..6 {
                index.remove(number);
            }
            prop_assert!(index.exact.is_empty() && index.wild.is_empty() && index.places.is_empty());
        }
    }
}
