//! The policy types that an ORB knows, by number. Each ORB has its own table, which is complete when the ORB
//! starts.

use super::any_policy::Policy;
use super::builtin;
use super::definition::{Codec, Definition};
use super::known_protocols::KnownProtocols;
use super::numbers::{CLIENT_PROTOCOLS, LINK_PROPERTY};
use super::policy_type::{PolicyLevels, PolicyType};
use super::{published_properties, published_protocols};
use std::collections::BTreeMap;

/// Error for a policy type whose number another type of the ORB has.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the number {number:#x} of policy type `{name}` is taken by `{taken_by}`")]
pub struct PolicyTypeTaken {
    /// Number that both policy types have.
    pub number: u32,
    /// Name of the type that was to be added.
    pub name: &'static str,
    /// Name of the policy type that already has the number.
    pub taken_by: &'static str,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for PolicyTypeTaken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Set of the policy types that an ORB knows.
#[derive(Clone, Debug)]
pub(crate) struct PolicyTypes {
    known: BTreeMap<u32, Definition>,
    /// True if published policies must be read from references, because at least one known type is
    /// published.
    reads_references: bool,
}

impl Default for PolicyTypes {
    fn default() -> Self {
        let known = builtin::definitions();
        let known = known.map(|one| (one.number, one));
        Self {
            known: known.collect(),
            reads_references: false,
        }
    }
}

impl PolicyTypes {
    /// Adds a type. Adding it again has no effect.
    pub(crate) fn add<P: PolicyType>(&mut self) -> Result<(), PolicyTypeTaken> {
        let one = Definition::of::<P>();
        if let Some(there) = self.known.get(&one.number)
            && there.name != one.name
        {
            return Err(PolicyTypeTaken {
                number: one.number,
                name: one.name,
                taken_by: there.name,
            });
        }
        self.reads_references |= one.codec.is_some();
        self.known.insert(one.number, one);
        Ok(())
    }

    /// Allows ClientProtocolPolicy and properties of links for POAs, which then publish them; clients that have no such
    /// policy themselves apply them.
    pub(crate) fn publish_protocols(&mut self) {
        self.publish(
            CLIENT_PROTOCOLS,
            Codec {
                write: published_protocols::write,
                read: published_protocols::read,
            },
        );
        self.publish(
            LINK_PROPERTY,
            Codec {
                write: published_properties::write,
                read: published_properties::read,
            },
        );
    }

    fn publish(&mut self, number: u32, codec: Codec) {
        if let Some(one) = self.known.get_mut(&number) {
            one.levels = one.levels | PolicyLevels::POA;
            one.codec = Some(codec);
            self.reads_references = true;
        }
    }

    pub(super) fn get(&self, number: u32) -> Option<&Definition> {
        self.known.get(&number)
    }

    /// Checks that a policy may be set at this level and is valid.
    pub(super) fn allowing(
        &self,
        policy: &Policy,
        level: PolicyLevels,
        protocols: &dyn KnownProtocols,
    ) -> Result<(), String> {
        let number = policy.policy_type();
        let Some(definition) = self.get(number) else {
            return Err(format!(
                "unknown policy type {number}; types are registered at the ORB's builder"
            ));
        };
        let (name, levels) = (definition.name, definition.levels);
        let for_poas = level == PolicyLevels::ORB && levels.contain(PolicyLevels::POA_DEFAULT);
        if !levels.contain(level) && !for_poas {
            return Err(format!(
                "`{name}` cannot be set at {level}, but at {levels}"
            ));
        }
        (definition.check)(policy, protocols)
    }

    /// Returns whether policies of this type may be set at this level.
    pub(super) fn are_for(&self, level: PolicyLevels, policy: &Policy) -> bool {
        let definition = self.get(policy.policy_type());
        definition.is_some_and(|one| one.levels.contain(level))
    }

    pub(crate) fn reads_references(&self) -> bool {
        self.reads_references
    }
}
