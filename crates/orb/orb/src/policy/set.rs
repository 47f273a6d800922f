//! Policies of one level, at most one of each type, and for link properties one for each property.

use super::known_protocols::KnownProtocols;
use super::types::PolicyTypes;
use super::{Policy, PolicyLevels, PolicyType, invalid};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};

/// Treatment of the policies that were set before (CORBA 3.3 part 1, §8.9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOverride {
    /// The new policies replace all policies set before.
    Set,
    /// The new policies replace those of their types or properties; the others remain.
    Add,
}

/// Subject of a policy: its type or, for a link property, the link and the property's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PolicySubject<'p> {
    Type(u32),
    Property(&'p str, &'p str),
}

/// Policies that are set at one level, such as a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PolicySet {
    policies: Vec<Policy>,
}

/// Error for an invalid policy in a list, with the index and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Duplicate { index: usize },
    Invalid { index: usize, why: String },
}

/// Policies of one type or property that contradict each other.
#[derive(Debug)]
pub(super) struct Contradiction {
    pub(super) policies: Vec<Policy>,
    pub(super) why: String,
}

impl PolicySet {
    /// Creates a set of policies, and checks that they may be set at this level and are all of
    /// different types or properties.
    pub(super) fn checked(
        policies: &[Policy],
        level: PolicyLevels,
        types: &PolicyTypes,
        protocols: &dyn KnownProtocols,
    ) -> Result<Self, Fault> {
        for (index, policy) in policies.iter().enumerate() {
            let earlier = policies.get(..index).unwrap_or_default();
            if earlier.iter().any(|one| one.is_about_same(policy)) {
                return Err(Fault::Duplicate { index });
            }
            let allowed = types.allowing(policy, level, protocols);
            allowed.map_err(|why| Fault::Invalid { index, why })?;
        }
        Ok(Self {
            policies: policies.to_vec(),
        })
    }

    /// Returns this set with the given policies added or in its place, after checking that they may
    /// be set at this level.
    pub(crate) fn overridden(
        &self,
        policies: &[Policy],
        how: SetOverride,
        (level, types): (PolicyLevels, &PolicyTypes),
        protocols: &dyn KnownProtocols,
    ) -> Result<Self, SystemException> {
        let checked = Self::checked(policies, level, types, protocols);
        let added = checked.map_err(|fault| refused(policies, fault))?;
        let kept = self.policies.iter().filter(|old| {
            how == SetOverride::Add && !added.iter().any(|new| new.is_about_same(old))
        });
        Ok(Self {
            policies: kept.chain(added.iter()).cloned().collect(),
        })
    }

    /// Merges a client's policy with the policies of outer levels.
    pub(super) fn merge(
        &mut self,
        inner: &Policy,
        types: &PolicyTypes,
    ) -> Result<(), Contradiction> {
        let outer = self
            .policies
            .iter()
            .position(|one| one.is_about_same(inner));
        let merged = match outer.map(|index| self.policies.remove(index)) {
            Some(outer) => {
                let definition = types.get(inner.policy_type());
                let merged =
                    definition.map_or_else(|| Ok(inner.clone()), |one| (one.merge)(&outer, inner));
                merged.map_err(|why| Contradiction {
                    policies: vec![outer, inner.clone()],
                    why,
                })?
            }
            None => inner.clone(),
        };
        self.policies.push(merged);
        Ok(())
    }

    /// Reconciles a published policy with those that the client has set.
    pub(super) fn reconcile(
        &mut self,
        published: Policy,
        types: &PolicyTypes,
    ) -> Result<(), Contradiction> {
        let number = published.policy_type();
        let client = self
            .policies
            .iter()
            .position(|one| one.is_about_same(&published));
        let reconciled = match (
            client.map(|index| self.policies.remove(index)),
            types.get(number),
        ) {
            (Some(client), Some(definition)) => {
                let reconciled = (definition.reconcile)(&client, &published);
                reconciled.map_err(|why| Contradiction {
                    policies: vec![client, published],
                    why,
                })?
            }
            _ => published,
        };
        self.policies.push(reconciled);
        Ok(())
    }

    pub(super) fn as_slice(&self) -> &[Policy] {
        &self.policies
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.policies.iter()
    }

    pub(super) fn add(&mut self, policy: Policy) {
        self.policies.push(policy);
    }

    /// Returns the policies of the given types; all, if none is given.
    pub(crate) fn of_types(&self, types: &[u32]) -> Vec<Policy> {
        let asked = |policy: &&Policy| types.is_empty() || types.contains(&policy.policy_type());
        self.iter().filter(asked).cloned().collect()
    }

    /// Returns the value of a policy type that was added to the ORB.
    pub(crate) fn value<P: PolicyType>(&self) -> Option<&P> {
        self.iter().find_map(Policy::value)
    }
}

impl Policy {
    pub(super) fn is_about_same(&self, other: &Self) -> bool {
        self.subject() == other.subject()
    }

    fn subject(&self) -> PolicySubject<'_> {
        match self {
            Self::LinkProperty(property) => PolicySubject::Property(&property.link, &property.name),
            other => PolicySubject::Type(other.policy_type()),
        }
    }
}

fn refused(policies: &[Policy], fault: Fault) -> SystemException {
    match fault {
        Fault::Duplicate { index } => {
            let (kind, minor) = (Kind::BadParam, minor::DUPLICATE_POLICY);
            SystemException::new(kind, minor, CompletionStatus::No).with_detail(format!(
                "policy {index} sets the same property as an earlier one"
            ))
        }
        Fault::Invalid { index, why } => {
            let number = policies.get(index).map_or(0, Policy::policy_type);
            invalid(format!(
                "policy {index} (type {number}) cannot be applied: {why}"
            ))
        }
    }
}
