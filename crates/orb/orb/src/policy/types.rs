//! The policy types that an ORB knows, by number. Each ORB has its own table, which is complete when the ORB
//! starts.

use super::manager::KnownProtocols;
use super::{Policy, PolicyLevels, PolicyType, builtin};
use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder};
use std::collections::BTreeMap;

/// A policy type has a number that another type of the ORB has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy type {number:#x} cannot be `{name}`: it is `{taken_by}` already")]
pub struct PolicyTypeTaken {
    /// The number.
    pub number: u32,
    /// The type that was to be added.
    pub name: &'static str,
    /// The type that is there.
    pub taken_by: &'static str,
}

/// What an ORB knows of a policy type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) levels: PolicyLevels,
    pub(super) check: fn(&Policy, &dyn KnownProtocols) -> Result<(), String>,
    /// Of an outer and an inner value of a client's.
    pub(super) merge: fn(&Policy, &Policy) -> Result<Policy, String>,
    /// Of a client's value and one that is published.
    pub(super) reconcile: fn(&Policy, &Policy) -> Result<Policy, String>,
    /// For types that are published.
    pub(super) codec: Option<Codec>,
}

/// To and from the value of a policy as references have it, an encapsulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codec {
    pub(super) write: fn(&Policy) -> Result<Vec<u8>, CdrError>,
    pub(super) read: fn(&[u8]) -> Result<Policy, CdrError>,
}

impl Definition {
    /// That of a type which says all of it itself.
    pub(super) fn of<P: PolicyType>() -> Self {
        Self {
            number: P::NUMBER,
            name: P::NAME,
            levels: P::LEVELS,
            check: |policy, _| value::<P>(policy)?.check(),
            merge: |outer, inner| P::merge(value(outer)?, value(inner)?).map(Policy::of),
            reconcile: |client, published| {
                P::reconcile(value(client)?, value(published)?).map(Policy::of)
            },
            codec: P::CODEC.is_some().then_some(Codec {
                write: write::<P>,
                read: read::<P>,
            }),
        }
    }
}

/// The value of a policy, which is another's if two Rust types have one number.
fn value<P: PolicyType>(policy: &Policy) -> Result<&P, String> {
    let value = policy.value::<P>();
    value.ok_or_else(|| format!("{policy:?} is no `{}`", P::NAME))
}

fn write<P: PolicyType>(policy: &Policy) -> Result<Vec<u8>, CdrError> {
    let (Some(codec), Some(value)) = (P::CODEC, policy.value::<P>()) else {
        return Ok(Vec::new());
    };
    Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        (codec.write)(value, out)
    })
}

fn read<P: PolicyType>(data: &[u8]) -> Result<Policy, CdrError> {
    let codec = P::CODEC.ok_or(CdrError::BadEncapsulation)?;
    let mut input = Decoder::of_encapsulation(data, Coding::default())?;
    (codec.read)(&mut input).map(Policy::of)
}

/// All policy types of an ORB.
#[derive(Clone, Debug)]
pub(crate) struct PolicyTypes {
    known: BTreeMap<u32, Definition>,
    /// Whether references are asked for what they publish: not where nothing that is known is published.
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
    /// Adds a type; the same one may be added again.
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

    pub(super) fn get(&self, number: u32) -> Option<&Definition> {
        self.known.get(&number)
    }

    /// Whether a policy may be set at this level and can be obeyed.
    pub(super) fn allowing(
        &self,
        policy: &Policy,
        level: PolicyLevels,
        protocols: &dyn KnownProtocols,
    ) -> Result<(), String> {
        let number = policy.policy_type();
        let Some(definition) = self.get(number) else {
            return Err(format!(
                "this ORB knows no policy type {number}; its builder adds types"
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

    /// Whether policies of this type may be set there.
    pub(super) fn are_for(&self, level: PolicyLevels, policy: &Policy) -> bool {
        let definition = self.get(policy.policy_type());
        definition.is_some_and(|one| one.levels.contain(level))
    }

    pub(crate) fn reads_references(&self) -> bool {
        self.reads_references
    }
}
