//! Properties that the configuration has for all connections and acceptors of a link (tables `[link.…]`).
//!
//! A table holds for the link by itself and below adapters, and for both sides: each property is applied where there is one of
//! that name. At the start, one that is of no use anywhere is refused.

use super::registry::Registry;
use punctual_link::{Link, LinkError, Phase, Properties};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Properties by name, by the name of their link.
pub(crate) type LinkTables = BTreeMap<String, BTreeMap<String, String>>;

impl Registry {
    /// Checks that connections or acceptors of a link, or of an adapter over it, could have a property.
    ///
    /// # Errors
    /// As the link refuses it.
    pub(crate) fn check(
        &self,
        link: &Arc<dyn Link>,
        property: &Properties,
    ) -> Result<(), LinkError> {
        let Err(error) = link.check(property) else {
            return Ok(());
        };
        let mut adapted = self.adapted_over(link).into_iter();
        match adapted.any(|link| link.check(property).is_ok()) {
            true => Ok(()),
            false => Err(error),
        }
    }

    /// Returns the properties of connections that tables have: of each link by itself, and of that with each adapter over it.
    pub(crate) fn of_connections(&self, tables: &LinkTables) -> LinkTables {
        let mut all = LinkTables::new();
        for (name, table) in tables {
            let Ok(link) = self.link(name, name) else {
                continue;
            };
            for link in std::iter::once(link.clone()).chain(self.adapted_over(link)) {
                let own = of_side(&*link, table, Phase::Connect);
                all.insert(link.name().to_owned(), own);
            }
        }
        all
    }
}

/// Returns the properties of acceptors of a link that tables have.
pub(crate) fn of_acceptors(link: &dyn Link, tables: &LinkTables) -> BTreeMap<String, String> {
    let bare = link.name().rsplit('+').next().unwrap_or_default();
    let table = tables.get(bare);
    table.map_or_else(BTreeMap::new, |table| of_side(link, table, Phase::Listen))
}

fn of_side(
    link: &dyn Link,
    table: &BTreeMap<String, String>,
    side: Phase,
) -> BTreeMap<String, String> {
    let known = table
        .iter()
        .filter(|(name, _)| link.has_property(name, side));
    let known = known.map(|(name, value)| (name.clone(), value.clone()));
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::OrbConfig;
    use crate::protocol::{Protocols, builtin};

    fn table(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn each_side_has_the_properties_that_are_its_own() {
        let protocols = Protocols::default();
        protocols.add(&builtin(&OrbConfig::default())).unwrap();
        let registry = protocols.now();
        let (launch, steered) = (("launch_period_us", "1000"), ("incoming_cpu", "0"));
        let (marked, window) = (("dscp", "EF"), ("window", "4096"));
        let tables = LinkTables::from([
            ("iiop".to_owned(), table(&[marked, steered])),
            ("diop".to_owned(), table(&[launch, marked, steered, window])),
        ]);
        let connections = registry.of_connections(&tables);
        assert_eq!(connections["iiop"], table(&[marked]));
        assert_eq!(connections["diop"], table(&[launch, marked]));
        assert_eq!(
            connections["reliable+diop"],
            table(&[launch, marked, window])
        );
        let acceptors = |protocol: &str| {
            let pair = registry.pair(protocol).unwrap();
            of_acceptors(&*pair.link, &tables)
        };
        assert_eq!(acceptors("iiop"), table(&[marked, steered]));
        assert_eq!(acceptors("giop_oneway+diop"), table(&[marked, steered]));
        assert_eq!(
            acceptors("reliable+diop"),
            table(&[marked, steered, window])
        );
        assert_eq!(acceptors("uiop"), table(&[]));
    }
}
