//! Consistent sets of policies.

use super::{
    AnswerTimeoutPolicy, IdAssignmentPolicy, IdUniquenessPolicy, ImplicitActivationPolicy,
    LifespanPolicy, PoaPolicy, RequestProcessingPolicy, ServantRetentionPolicy, ThreadPolicy,
};
#[cfg(feature = "comparison")]
use super::{Demultiplexing, OperationDemultiplexing};
use punctual_orb::{AdapterPolicies, InvalidPolicy, Orb, Policy, UpcallHook};
use std::borrow::Cow;
use std::collections::HashSet;
use std::mem::{Discriminant, discriminant};

/// Policies of an adapter: those given, and defaults for the rest (§15.3.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Policies {
    pub(crate) thread: ThreadPolicy,
    pub(crate) lifespan: LifespanPolicy,
    pub(crate) uniqueness: IdUniquenessPolicy,
    pub(crate) assignment: IdAssignmentPolicy,
    pub(crate) implicit: ImplicitActivationPolicy,
    pub(crate) retention: ServantRetentionPolicy,
    pub(crate) processing: RequestProcessingPolicy,
    #[cfg(feature = "comparison")]
    pub(crate) demultiplexing: Demultiplexing,
    #[cfg(feature = "comparison")]
    pub(crate) operations: OperationDemultiplexing,
    pub(crate) answer_timeout: AnswerTimeoutPolicy,
}

/// First wrong policy in a list of policies, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) index: usize,
    pub(crate) why: Cow<'static, str>,
}

/// Rule that forbids a combination of policies, with the policies concerned.
struct Rule {
    broken: fn(&Policies) -> bool,
    about: &'static [fn(&PoaPolicy) -> bool],
    why: &'static str,
}

macro_rules! about {
    ($($variant:ident),*) => { &[$(|policy| matches!(policy, PoaPolicy::$variant(_))),*] };
}

#[cfg(feature = "comparison")]
const OF_COMPARISONS: &[Rule] = &[
    Rule {
        broken: |p| p.demultiplexing != Demultiplexing::Active && !p.retains(),
        about: about!(Demultiplexing, ServantRetention),
        why: "a demultiplexing strategy needs RETAIN: there is no map to search",
    },
    Rule {
        broken: |p| p.knows_ids() && p.assignment == IdAssignmentPolicy::System,
        about: about!(Demultiplexing, IdAssignment),
        why: "perfect hashing needs USER_ID: it is built of ids known before",
    },
    Rule {
        broken: |p| has_twice(&p.demultiplexing),
        about: about!(Demultiplexing),
        why: "perfect hashing was given an id twice",
    },
    Rule {
        broken: |p| {
            p.demultiplexing == Demultiplexing::DeLayered
                && p.operations != OperationDemultiplexing::Compiled
        },
        about: about!(Demultiplexing, OperationDemultiplexing),
        why: "de-layered demultiplexing finds the operation with the object",
    },
];

#[cfg(not(feature = "comparison"))]
const OF_COMPARISONS: &[Rule] = &[];

const RULES: &[Rule] = &[
    Rule {
        broken: |p| !p.retains() && p.processing == RequestProcessingPolicy::ActiveObjectMapOnly,
        about: about!(ServantRetention, RequestProcessing),
        why: "NON_RETAIN needs USE_DEFAULT_SERVANT or USE_SERVANT_MANAGER: without a map no servant would be found",
    },
    Rule {
        broken: |p| {
            p.processing == RequestProcessingPolicy::DefaultServant
                && p.uniqueness == IdUniquenessPolicy::Unique
        },
        about: about!(RequestProcessing, IdUniqueness),
        why: "USE_DEFAULT_SERVANT needs MULTIPLE_ID: the default servant incarnates many objects",
    },
    Rule {
        broken: |p| p.is_implicit() && p.assignment == IdAssignmentPolicy::User,
        about: about!(ImplicitActivation, IdAssignment),
        why: "IMPLICIT_ACTIVATION needs SYSTEM_ID: the POA has to choose the id",
    },
    Rule {
        broken: |p| p.is_implicit() && !p.retains(),
        about: about!(ImplicitActivation, ServantRetention),
        why: "IMPLICIT_ACTIVATION needs RETAIN: there is no map to activate in",
    },
];

impl Policies {
    /// Returns the policies of the root POA (§15.3.9.1).
    pub(crate) fn of_root() -> Self {
        Self {
            implicit: ImplicitActivationPolicy::Implicit,
            ..Self::default()
        }
    }

    /// Returns the given policies, and defaults for the rest.
    pub(crate) fn of(given: &[PoaPolicy]) -> Result<Self, Conflict> {
        let mut policies = Self::default();
        let mut seen: HashSet<Discriminant<PoaPolicy>> = HashSet::new();
        for (index, policy) in given.iter().enumerate() {
            let is_defined = matches!(policy, PoaPolicy::Defined(_));
            if !seen.insert(discriminant(policy)) && !is_defined {
                let why = "a policy of this kind was given before".into();
                return Err(Conflict { index, why });
            }
            policies.set(policy.clone());
        }
        let broken = RULES
            .iter()
            .chain(OF_COMPARISONS)
            .filter(|rule| (rule.broken)(&policies));
        let conflicts = broken.filter_map(|rule| {
            let index = given
                .iter()
                .position(|policy| rule.about.iter().any(|is| is(policy)))?;
            let why = rule.why.into();
            Some(Conflict { index, why })
        });
        match conflicts.min_by_key(|conflict| conflict.index) {
            Some(conflict) => Err(conflict),
            None => Ok(policies),
        }
    }

    fn set(&mut self, policy: PoaPolicy) {
        match policy {
            PoaPolicy::Thread(value) => self.thread = value,
            PoaPolicy::Lifespan(value) => self.lifespan = value,
            PoaPolicy::IdUniqueness(value) => self.uniqueness = value,
            PoaPolicy::IdAssignment(value) => self.assignment = value,
            PoaPolicy::ImplicitActivation(value) => self.implicit = value,
            PoaPolicy::ServantRetention(value) => self.retention = value,
            PoaPolicy::RequestProcessing(value) => self.processing = value,
            #[cfg(feature = "comparison")]
            PoaPolicy::Demultiplexing(value) => self.demultiplexing = value,
            #[cfg(feature = "comparison")]
            PoaPolicy::OperationDemultiplexing(value) => self.operations = value,
            PoaPolicy::AnswerTimeout(value) => self.answer_timeout = value,
            // The ORB checks those: `defined`.
            PoaPolicy::Defined(_) => {}
        }
    }

    pub(crate) fn retains(&self) -> bool {
        self.retention == ServantRetentionPolicy::Retain
    }

    pub(crate) fn is_implicit(&self) -> bool {
        self.implicit == ImplicitActivationPolicy::Implicit
    }

    pub(crate) fn is_persistent(&self) -> bool {
        self.lifespan == LifespanPolicy::Persistent
    }

    pub(crate) fn is_unique(&self) -> bool {
        self.uniqueness == IdUniquenessPolicy::Unique
    }

    pub(crate) fn has_system_ids(&self) -> bool {
        self.assignment == IdAssignmentPolicy::System
    }

    /// Returns whether a strategy for comparison finds objects or operations.
    #[cfg(feature = "comparison")]
    pub(crate) fn are_compared(&self) -> bool {
        self.finds_objects_otherwise() || self.operations != OperationDemultiplexing::Compiled
    }

    /// Returns whether objects are found by a strategy other than the default.
    #[cfg(feature = "comparison")]
    pub(crate) fn finds_objects_otherwise(&self) -> bool {
        self.demultiplexing != Demultiplexing::Active
    }

    /// Returns `false`: there are no strategies for comparison in this build.
    #[cfg(not(feature = "comparison"))]
    pub(crate) fn finds_objects_otherwise(&self) -> bool {
        false
    }

    #[cfg(feature = "comparison")]
    fn knows_ids(&self) -> bool {
        matches!(self.demultiplexing, Demultiplexing::PerfectHash(_))
    }

    /// Returns all policies as a list, for queries of an adapter's policies.
    pub(crate) fn list(&self) -> Vec<PoaPolicy> {
        vec![
            PoaPolicy::Thread(self.thread),
            PoaPolicy::Lifespan(self.lifespan),
            PoaPolicy::IdUniqueness(self.uniqueness),
            PoaPolicy::IdAssignment(self.assignment),
            PoaPolicy::ImplicitActivation(self.implicit),
            PoaPolicy::ServantRetention(self.retention),
            PoaPolicy::RequestProcessing(self.processing),
            #[cfg(feature = "comparison")]
            PoaPolicy::Demultiplexing(self.demultiplexing.clone()),
            #[cfg(feature = "comparison")]
            PoaPolicy::OperationDemultiplexing(self.operations),
            PoaPolicy::AnswerTimeout(self.answer_timeout),
        ]
    }
}

/// Returns the given policies whose types were registered with the ORB, completed by the ORB's own
/// policies for adapters, and the hook around upcalls that they require.
pub(crate) fn defined(given: &[PoaPolicy], orb: &Orb) -> Result<Defined, Conflict> {
    let is_defined = |(index, policy): (usize, &PoaPolicy)| match policy {
        PoaPolicy::Defined(policy) => Some((index, policy.clone())),
        _ => None,
    };
    let (indices, policies): (Vec<usize>, Vec<Policy>) =
        given.iter().enumerate().filter_map(is_defined).unzip();
    let conflict = |invalid: InvalidPolicy| Conflict {
        index: indices.get(invalid.index).copied().unwrap_or_default(),
        why: invalid.why.into(),
    };
    let policies = orb.adapter_policies(&policies).map_err(conflict)?;
    let around = orb.around_upcalls(&policies).map_err(conflict)?;
    Ok((policies, around))
}

/// Policies of registered types, and the hook around an adapter's upcalls that they require.
pub(crate) type Defined = (AdapterPolicies, Option<UpcallHook>);

#[cfg(feature = "comparison")]
fn has_twice(demultiplexing: &Demultiplexing) -> bool {
    let Demultiplexing::PerfectHash(ids) = demultiplexing else {
        return false;
    };
    let mut seen = HashSet::new();
    !ids.iter().all(|id| seen.insert(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETAIN: PoaPolicy = PoaPolicy::ServantRetention(ServantRetentionPolicy::Retain);
    const NON_RETAIN: PoaPolicy = PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain);
    const UNIQUE: PoaPolicy = PoaPolicy::IdUniqueness(IdUniquenessPolicy::Unique);
    const MULTIPLE: PoaPolicy = PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple);
    const USER: PoaPolicy = PoaPolicy::IdAssignment(IdAssignmentPolicy::User);
    const SYSTEM: PoaPolicy = PoaPolicy::IdAssignment(IdAssignmentPolicy::System);
    const NO_IMPLICIT: PoaPolicy =
        PoaPolicy::ImplicitActivation(ImplicitActivationPolicy::NoImplicit);
    const IMPLICIT: PoaPolicy = PoaPolicy::ImplicitActivation(ImplicitActivationPolicy::Implicit);
    const MAP_ONLY: PoaPolicy =
        PoaPolicy::RequestProcessing(RequestProcessingPolicy::ActiveObjectMapOnly);
    const DEFAULT: PoaPolicy =
        PoaPolicy::RequestProcessing(RequestProcessingPolicy::DefaultServant);
    const MANAGER: PoaPolicy =
        PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager);

    fn index(policies: &[PoaPolicy]) -> Option<usize> {
        Policies::of(policies).err().map(|conflict| conflict.index)
    }

    #[test]
    fn without_any_the_defaults_of_the_standard_hold() {
        let policies = Policies::of(&[]).unwrap();
        assert_eq!(policies.thread, ThreadPolicy::OrbControl);
        assert!(!policies.is_persistent());
        assert!(policies.is_unique());
        assert!(policies.has_system_ids());
        assert!(!policies.is_implicit());
        assert!(policies.retains());
        assert_eq!(
            policies.processing,
            RequestProcessingPolicy::ActiveObjectMapOnly
        );
        assert!(Policies::of_root().is_implicit());
    }

    /// Returns the combination with this number, of the 288 of the standard's seven policies.
    fn combination(mut number: usize) -> [PoaPolicy; 7] {
        let mut choice = |many: usize| {
            let chosen = number % many;
            number /= many;
            chosen
        };
        let threads = [
            ThreadPolicy::OrbControl,
            ThreadPolicy::SingleThread,
            ThreadPolicy::MainThread,
        ];
        let lifespans = [LifespanPolicy::Transient, LifespanPolicy::Persistent];
        [
            PoaPolicy::Thread(threads[choice(3)]),
            PoaPolicy::Lifespan(lifespans[choice(2)]),
            [UNIQUE, MULTIPLE][choice(2)].clone(),
            [USER, SYSTEM][choice(2)].clone(),
            [IMPLICIT, NO_IMPLICIT][choice(2)].clone(),
            [RETAIN, NON_RETAIN][choice(2)].clone(),
            [MAP_ONLY, DEFAULT, MANAGER][choice(3)].clone(),
        ]
    }

    #[test]
    fn each_combination_of_the_seven_is_judged_as_the_standard_says() {
        let mut legal = 0;
        for given in (0..288).map(combination) {
            let has = |policy| given.contains(&policy);
            let illegal = (has(NON_RETAIN) && has(MAP_ONLY))
                || (has(DEFAULT) && has(UNIQUE))
                || (has(IMPLICIT) && (has(USER) || has(NON_RETAIN)));
            assert_eq!(Policies::of(&given).is_err(), illegal, "{given:?}");
            legal += usize::from(!illegal);
        }
        assert_eq!(legal, 126);
    }

    #[test]
    fn a_conflict_names_the_first_policy_that_has_part_in_it() {
        assert_eq!(index(&[NON_RETAIN]), Some(0));
        assert_eq!(index(&[MULTIPLE, NON_RETAIN, MAP_ONLY]), Some(1));
        assert_eq!(index(&[USER, RETAIN, DEFAULT]), Some(2));
        assert_eq!(index(&[RETAIN, UNIQUE, DEFAULT]), Some(1));
        assert_eq!(index(&[MULTIPLE, IMPLICIT, USER]), Some(1));
        assert_eq!(index(&[NON_RETAIN, MANAGER, IMPLICIT]), Some(0));
    }

    #[test]
    fn a_kind_of_policy_may_be_given_once() {
        assert_eq!(index(&[RETAIN, UNIQUE, NON_RETAIN]), Some(2));
        assert_eq!(index(&[UNIQUE, UNIQUE]), Some(1));
    }

    #[cfg(feature = "comparison")]
    #[test]
    fn strategies_need_a_map_and_perfect_hashing_distinct_ids_of_the_user() {
        let linear = PoaPolicy::Demultiplexing(Demultiplexing::Linear);
        assert_eq!(index(&[MULTIPLE, MANAGER, linear, NON_RETAIN]), Some(2));
        let perfect = |ids: &[&str]| {
            let ids = ids.iter().map(|id| (*id).into()).collect();
            PoaPolicy::Demultiplexing(Demultiplexing::PerfectHash(ids))
        };
        assert_eq!(index(&[perfect(&["a"])]), Some(0));
        assert_eq!(index(&[USER, perfect(&["a", "b"])]), None);
        assert_eq!(index(&[USER, perfect(&["a", "a"])]), Some(1));
        let de_layered = PoaPolicy::Demultiplexing(Demultiplexing::DeLayered);
        let hashed = PoaPolicy::OperationDemultiplexing(OperationDemultiplexing::DynamicHash);
        assert_eq!(index(&[hashed, USER, de_layered]), Some(0));
    }

    #[test]
    fn a_list_of_policies_makes_the_same_policies_again() {
        let policies = Policies::of(&[MULTIPLE, NON_RETAIN, DEFAULT, USER]).unwrap();
        assert_eq!(Policies::of(&policies.list()).unwrap(), policies);
    }
}
