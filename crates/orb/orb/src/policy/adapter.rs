//! Policies of an object adapter, apart from those that the adapter itself interprets.

use super::known_protocols::KnownProtocols;
use super::managed::Managed;
use super::set::Fault;
use super::{Bidirectional, Policy, PolicyLevels, PolicySet, PolicyType};
use punctual_ior::{PolicyValue, ProfileTemplates, TaggedComponent};

/// Checked policies of an object adapter. Made by [`crate::Orb::adapter_policies`], for object
/// adapters.
#[derive(Clone, Debug, Default)]
pub struct AdapterPolicies {
    set: PolicySet,
    /// Policies that are published, in the encoded form in which references carry them.
    published: Vec<PolicyValue>,
    /// Templates of the parts that are the same in the references of all the adapter's objects.
    templates: ProfileTemplates,
    outlives_process: bool,
    /// Index in `set` of the first policy that takes effect before and after each upcall.
    around_upcalls: Option<usize>,
    /// Components that interceptors have added to the references of the adapter's objects.
    components: Components,
}

/// Components of references, each with the tag of the profiles to which it is added; `None` for all
/// profiles.
pub(crate) type Components = Vec<(Option<u32>, TaggedComponent)>;

/// Error for a policy that an adapter cannot have.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("policy {index} cannot be applied: {why}")]
pub struct InvalidPolicy {
    /// Index of the policy in the given list, from 0.
    pub index: usize,
    /// Reason why the object adapter cannot have the policy.
    pub why: String,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for InvalidPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl AdapterPolicies {
    /// Checks the given policies, and adds the ORB's policies of types that are not given.
    pub(crate) fn of(
        given: &[Policy],
        managed: &Managed,
        protocols: &dyn KnownProtocols,
    ) -> Result<Self, InvalidPolicy> {
        let types = managed.types();
        let mut set = PolicySet::checked(given, PolicyLevels::POA, types, protocols)?;
        for default in managed.set().iter() {
            let is_default = types.are_for(PolicyLevels::POA_DEFAULT, default);
            if is_default && !set.iter().any(|one| one.is_about_same(default)) {
                set.add(default.clone());
            }
        }
        let (mut published, mut around_upcalls) = (Vec::new(), None);
        let mut components = Components::new();
        for (index, policy) in set.iter().enumerate() {
            let kind = policy.policy_type();
            let definition = types.get(kind);
            if definition.is_some_and(|one| one.surrounds_upcalls) {
                around_upcalls = around_upcalls.or(Some(index));
            }
            let component = definition.and_then(|one| (one.component)(policy));
            components.extend(component.map(|component| (None, component)));
            if let Some(codec) = definition.and_then(|one| one.codec) {
                let data = (codec.write)(policy, set.as_slice());
                let data = data.map_err(|error| InvalidPolicy {
                    index,
                    why: format!("it cannot be published: {error}"),
                })?;
                published.push(PolicyValue { kind, data });
            }
        }
        Ok(Self {
            set,
            published,
            templates: ProfileTemplates::default(),
            outlives_process: false,
            around_upcalls,
            components,
        })
    }

    /// Marks the adapter's objects as outliving the process (persistent): references to them
    /// contain no local socket whose path was chosen for this process, as that socket ends with it.
    #[must_use]
    pub fn outliving_the_process(mut self) -> Self {
        self.outlives_process = true;
        self
    }

    /// Copies the components that interceptors have added to the references of `adapter`, for the
    /// policies of an object of that adapter.
    #[must_use]
    pub fn of_object_of(mut self, adapter: &Self) -> Self {
        self.components.clone_from(&adapter.components);
        self
    }

    pub(crate) fn with_components(mut self, components: Components) -> Self {
        self.components.extend(components);
        self
    }

    pub(crate) fn components(&self) -> &[(Option<u32>, TaggedComponent)] {
        &self.components
    }

    /// Returns the policy of this type, if the adapter has one.
    #[must_use]
    pub fn value<P: PolicyType>(&self) -> Option<&P> {
        self.set.value()
    }

    /// Returns whether clients' objects may be called over the connections that the clients have
    /// opened.
    #[must_use]
    pub fn is_bidirectional(&self) -> bool {
        let both = Policy::Bidirectional(Bidirectional::Both);
        self.set.iter().any(|policy| *policy == both)
    }

    /// Returns an iterator over all policies of the object adapter.
    pub fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.set.iter()
    }

    /// Refuses policies that take effect around upcalls, for an ORB that has no hook for them.
    pub(crate) fn check_no_upcall_hook(&self) -> Result<(), InvalidPolicy> {
        let Some(index) = self.around_upcalls else {
            return Ok(());
        };
        let why = "this ORB cannot apply the policy: add the extension that implements it to the ORB's builder";
        Err(InvalidPolicy {
            index,
            why: why.to_owned(),
        })
    }

    pub(crate) fn outlives_process(&self) -> bool {
        self.outlives_process
    }

    pub(crate) fn published(&self) -> &[PolicyValue] {
        &self.published
    }

    pub(crate) fn templates(&self) -> &ProfileTemplates {
        &self.templates
    }
}

impl From<Fault> for InvalidPolicy {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Duplicate { index } => Self {
                index,
                why: "a policy of this type was given before".to_owned(),
            },
            Fault::Invalid { index, why } => Self { index, why },
        }
    }
}
