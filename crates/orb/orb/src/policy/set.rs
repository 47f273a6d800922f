//! Policies of one level, at most one for each matter.

use super::{Policy, invalid};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::protocol::Registry;

/// What becomes of the policies that were set before (CORBA 3.3 part 1, §8.9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOverride {
    /// The new ones take the place of all.
    Set,
    /// The new ones take the place of those on the same matter; the others stay.
    Add,
}

/// What a policy is about: its type, and for a property which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matter<'p> {
    Type(u32),
    Property(&'p str, &'p str),
}

/// The policies of one level.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicySet {
    policies: Vec<Policy>,
}

impl PolicySet {
    /// Of policies that are on matters of their own.
    pub(crate) fn of(policies: Vec<Policy>) -> Self {
        Self { policies }
    }

    /// These policies with others over them.
    pub(crate) fn overridden(
        &self,
        policies: &[Policy],
        how: SetOverride,
        registry: &Registry,
    ) -> Result<Self, SystemException> {
        for (index, policy) in policies.iter().enumerate() {
            let earlier = policies.get(..index).unwrap_or_default();
            if earlier.iter().any(|one| one.matter() == policy.matter()) {
                return Err(SystemException::new(
                    Kind::BadParam,
                    minor::DUPLICATE_POLICY,
                    CompletionStatus::No,
                )
                .with_detail(format!(
                    "policy {index} is on the same matter as one before it"
                )));
            }
            check(policy, registry).map_err(|problem| {
                invalid(format!(
                    "policy {index} (type {}) cannot be obeyed: {problem}",
                    policy.policy_type()
                ))
            })?;
        }
        let kept = self.policies.iter().filter(|old| {
            how == SetOverride::Add && !policies.iter().any(|new| new.matter() == old.matter())
        });
        Ok(Self {
            policies: kept.chain(policies).cloned().collect(),
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.policies.iter()
    }

    /// Those of the given types; all, if none is given.
    pub(crate) fn of_types(&self, types: &[u32]) -> Vec<Policy> {
        let asked = |policy: &&Policy| types.is_empty() || types.contains(&policy.policy_type());
        self.iter().filter(asked).cloned().collect()
    }
}

impl Policy {
    pub(super) fn matter(&self) -> Matter<'_> {
        match self {
            Self::LinkProperty(property) => Matter::Property(&property.link, &property.name),
            other => Matter::Type(other.policy_type()),
        }
    }
}

fn check(policy: &Policy, registry: &Registry) -> Result<(), String> {
    match policy {
        Policy::ClientProtocols(protocols) if protocols.preferred.is_empty() => {
            Err("no protocol is named".to_owned())
        }
        Policy::ClientProtocols(protocols) => protocols
            .preferred
            .iter()
            .try_for_each(|name| registry.pair(name).map(drop))
            .map_err(|error| error.to_string()),
        Policy::LinkProperty(property) if property.name.is_empty() => {
            Err("the property has no name".to_owned())
        }
        Policy::RelativeRoundtripTimeout(timeout) if timeout.is_zero() => {
            Err("a time-out of nothing".to_owned())
        }
        _ => Ok(()),
    }
}
