//! References to the objects of the target's server, by object key and by the caller's [`Terms`]:
//! its GIOP version and code sets.

use parking_lot::RwLock;
use punctual_orb::relay::{Terms, on_terms, reference_to};
use punctual_orb::{ObjectRef, SetOverride, SystemException};
use std::collections::HashMap;
use std::time::Duration;

/// Longest key whose reference is cached, in bytes, so that a client cannot use much memory.
const LONGEST_KEY: usize = 1024;

/// Cache of references by object key and terms. A reference is made at the first call, and holds
/// the path to its connection.
///
/// There are two generations. A reference that is used is in the younger one, or moves there. When
/// the younger one is full it replaces the older one, whose references are dropped.
#[derive(Debug)]
pub(crate) struct Targets {
    target: ObjectRef,
    timeout: Option<Duration>,
    generation: usize,
    remembered: RwLock<Remembered>,
}

type Generation = HashMap<Terms, HashMap<Box<[u8]>, ObjectRef>>;

#[derive(Debug, Default)]
struct Remembered {
    young: Generation,
    count: usize,
    old: Generation,
}

impl Targets {
    pub(crate) fn new(target: ObjectRef, timeout: Option<Duration>, remembered: usize) -> Self {
        Self {
            target,
            timeout,
            generation: remembered.div_ceil(2).max(1),
            remembered: RwLock::default(),
        }
    }

    /// Returns the target object of the bridge.
    pub(crate) fn target(&self) -> &ObjectRef {
        &self.target
    }

    /// Returns the reference to the object with this key, for calls with this GIOP version and
    /// these code sets. For a cached reference this takes a shared lock and allocates nothing.
    ///
    /// # Errors
    /// Those of the target reference's policies.
    pub(crate) fn object(&self, key: &[u8], terms: Terms) -> Result<ObjectRef, SystemException> {
        if let Some(found) = find(&self.remembered.read().young, key, terms) {
            return Ok(found);
        }
        let old = find(&self.remembered.read().old, key, terms);
        let object = old.map_or_else(|| self.make(key, terms), Ok)?;
        if key.len() <= LONGEST_KEY {
            self.remembered
                .write()
                .insert(key, terms, object.clone(), self.generation);
        }
        Ok(object)
    }

    fn make(&self, key: &[u8], terms: Terms) -> Result<ObjectRef, SystemException> {
        let orb = self.target.orb();
        let ior = on_terms(orb, self.target.ior(), Some(key), terms);
        let mut object = reference_to(orb, ior);
        let policies = self.target.policy_overrides(&[]);
        if !policies.is_empty() {
            object = object.set_policy_overrides(&policies, SetOverride::Set)?;
        }
        Ok(match self.timeout {
            Some(timeout) => object.with_timeout(timeout),
            None => object,
        })
    }
}

impl Remembered {
    fn insert(&mut self, key: &[u8], terms: Terms, object: ObjectRef, limit: usize) {
        if self.count >= limit {
            self.old = std::mem::take(&mut self.young);
            self.count = 0;
        }
        let of_terms = self.young.entry(terms).or_default();
        if of_terms.insert(key.into(), object).is_none() {
            self.count += 1;
        }
    }
}

fn find(generation: &Generation, key: &[u8], terms: Terms) -> Option<ObjectRef> {
    generation.get(&terms)?.get(key).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_cdr::{CodeSets, GiopVersion};
    use punctual_orb::Orb;

    const TERMS: Terms = Terms {
        version: GiopVersion::V1_2,
        code_sets: CodeSets::NATIVE,
    };

    fn targets(remembered: usize) -> Targets {
        let orb = Orb::builder().build().unwrap();
        let target = orb.string_to_object("corbaloc:iiop:1.2@localhost:1/target");
        Targets::new(target.unwrap(), None, remembered)
    }

    #[test]
    fn whatever_keys_clients_make_up_no_more_than_so_many_objects_are_remembered() {
        let targets = targets(8);
        for key in 0..100_u32 {
            targets.object(&key.to_be_bytes(), TERMS).unwrap();
            // An object that is used now and then stays.
            targets.object(b"kept", TERMS).unwrap();
        }
        let remembered = targets.remembered.read();
        let held = |generation: &Generation| generation.values().map(HashMap::len).sum::<usize>();
        assert!(held(&remembered.young) + held(&remembered.old) <= 8);
        assert!(find(&remembered.young, b"kept", TERMS).is_some());
    }

    #[test]
    fn an_object_has_the_key_and_the_version_that_it_is_asked_for_with() {
        let terms = Terms {
            version: GiopVersion::V1_0,
            code_sets: CodeSets::UNNEGOTIATED,
        };
        let object = targets(8).object(b"key", terms).unwrap();
        let profile = object.ior().iiop_profiles().next().unwrap().unwrap();
        assert_eq!(profile.object_key, b"key");
        assert_eq!(profile.version.giop(), Some(GiopVersion::V1_0));
    }
}
