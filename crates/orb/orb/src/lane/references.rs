//! Selection of the endpoints that an ORB's references contain.

use super::all::Lanes;
use super::incoming::{Named, OpenEndpoint, none_to_publish};
use crate::broker::Broker;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::policy::{AdapterPolicies, invalid};
use crate::priorities::ServedAt;
use crate::profile::{self, ProfileEndpoint, Publication, PublishedEndpoints};
use crate::protocol;
use punctual_cdr::CdrError;
use punctual_giop::code_sets;
use punctual_ior::{PolicyValue, TaggedComponent, TaggedProfile, tags};

/// Selection of the endpoints that the references to an adapter's objects contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndpointSelection<'w> {
    /// Endpoints named by the policy for published endpoints.
    named: Option<&'w PublishedEndpoints>,
    /// Id of the thread pool whose lanes' endpoints are put in the references; `None` for the
    /// adapter without a pool. Not used if `named` is set.
    pool: Option<u32>,
    /// Priorities at which objects are served; `named` takes precedence.
    served_at: ServedAt,
    /// True if only endpoints are selected whose address stays valid after a restart of the
    /// process.
    are_lasting: bool,
}

impl<'w> EndpointSelection<'w> {
    /// Selection of all endpoints, for objects without further requirements.
    pub(crate) const ALL: Self = EndpointSelection {
        named: None,
        pool: None,
        served_at: ServedAt::Any,
        are_lasting: false,
    };

    /// Returns `true` if the selection of endpoints depends on their lanes.
    fn is_by_lane(&self) -> bool {
        self.pool.is_some() || matches!(self.served_at, ServedAt::One(_))
    }

    fn of(policies: &'w AdapterPolicies, broker: &Broker) -> Self {
        let priorities = broker.priorities.as_ref();
        Self {
            named: policies.value::<PublishedEndpoints>(),
            pool: priorities.and_then(|it| it.pool(policies)),
            served_at: priorities.map_or(ServedAt::Any, |it| it.served_at(policies)),
            are_lasting: policies.outlives_process(),
        }
    }
}

impl ServedAt {
    /// Returns `true` if an endpoint of this priority is selected. `has` describes the existing
    /// endpoints: those without a priority are used if none has the requested priority.
    fn is_at(self, priority: Option<crate::priority::Priority>, has: Available) -> bool {
        match self {
            Self::Clients => true,
            Self::Any => priority.is_none() || !has.without,
            Self::One(_) if !has.this_one => priority.is_none(),
            Self::One(wanted) => priority == Some(wanted),
        }
    }
}

/// Kinds of endpoints that exist, with regard to a requested priority.
#[derive(Clone, Copy)]
struct Available {
    /// True if there are endpoints that have no priority.
    without: bool,
    /// True if there are endpoints of the requested priority.
    this_one: bool,
}

impl Lanes {
    /// Returns the profiles of a reference to `object_key`, in the order of the endpoints.
    /// Endpoints that have a profile codec in common share profiles, in as few profiles as the
    /// codec needs.
    pub(crate) fn profiles(
        &self,
        object_key: &[u8],
        policies: &[PolicyValue],
        added: &[(Option<u32>, TaggedComponent)],
        which: EndpointSelection<'_>,
    ) -> Result<Vec<TaggedProfile>, SystemException> {
        let endpoints = self.published(which);
        if let Some(which) = which.named.filter(|_| endpoints.is_empty()) {
            return Err(none_to_publish(which));
        }
        if endpoints.is_empty() && which.is_by_lane() {
            return Err(invalid(
                "making a reference: the endpoints that serve the POA's objects are closed"
                    .to_owned(),
            ));
        }
        let broker = self.broker();
        build_profiles(broker, &endpoints, object_key, (policies, added)).map_err(|error| {
            SystemException::new(Kind::Marshal, minor::ENCODING, CompletionStatus::No)
                .with_detail(format!("making a reference: {error}"))
        })
    }

    /// Returns the profiles of a reference to an object whose adapter has these policies.
    pub(crate) fn profiles_under(
        &self,
        object_key: &[u8],
        policies: &AdapterPolicies,
    ) -> Result<Vec<TaggedProfile>, SystemException> {
        // Read before the endpoints: profiles made of later endpoints then count as outdated, and
        // are made again.
        let origin = [
            self.broker().number(),
            self.changes(),
            self.broker().protocols.now().number,
        ];
        let which = EndpointSelection::of(policies, self.broker());
        policies.templates().profiles(object_key, origin, |key| {
            self.profiles(key, policies.published(), policies.components(), which)
        })
    }

    /// Checks that each choice names an open endpoint; the error names the first choice that does
    /// not.
    pub(crate) fn check_published(&self, which: &PublishedEndpoints) -> Result<(), String> {
        let open = self.open();
        let named: Vec<Named<'_>> = open.iter().map(|one| one.named()).collect();
        which.check_among(&named)
    }

    /// Returns `true` if it depends on the lanes where objects of an adapter with these policies
    /// are served.
    pub(crate) fn decide_for(&self, policies: &AdapterPolicies) -> bool {
        let which = EndpointSelection::of(policies, self.broker());
        which.pool.is_some() || which.is_by_lane() && self.have_prioritised_endpoints()
    }

    /// Checks that objects of an adapter with these policies are served at some endpoint.
    ///
    /// # Errors
    /// The type of the policy that prevents it, and the reason.
    pub(crate) fn check_served(&self, policies: &AdapterPolicies) -> Result<(), (u32, String)> {
        let which = EndpointSelection::of(policies, self.broker());
        if which.named.is_some() || !self.published(which).is_empty() {
            return Ok(());
        }
        let at_any = EndpointSelection {
            served_at: ServedAt::Any,
            ..which
        };
        let there = self.published(at_any);
        let there = there.iter().filter_map(|one| one.qualities.priority);
        let there: Vec<String> = there.map(|one| one.to_string()).collect();
        match (which.served_at, which.pool) {
            (ServedAt::One(priority), _) if !there.is_empty() => Err((
                tags::policy::PRIORITY_MODEL,
                format!(
                    "no endpoint serves priority {priority}; the endpoints have other priorities ({})",
                    there.join(", ")
                ),
            )),
            (_, Some(pool)) => Err((
                tags::policy::THREADPOOL,
                format!("the ORB has no thread pool {pool}"),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the selected endpoints as references publish them. A selection of lasting addresses
    /// has no effect if there are none.
    fn published(&self, which: EndpointSelection<'_>) -> Vec<ProfileEndpoint> {
        let mut open = self.open();
        match which.named {
            Some(named) => open.retain(|one| named.name(&one.named())),
            None => {
                open.retain(|one| one.published.qualities.lane.map(|lane| lane.pool) == which.pool);
                let priority_of = |one: &OpenEndpoint| one.published.qualities.priority;
                let has = Available {
                    without: open.iter().any(|one| priority_of(one).is_none()),
                    this_one: open.iter().any(|one| {
                        priority_of(one).is_some_and(|it| which.served_at == ServedAt::One(it))
                    }),
                };
                open.retain(|one| which.served_at.is_at(priority_of(one), has));
            }
        }
        if which.are_lasting && open.iter().any(OpenEndpoint::is_lasting) {
            open.retain(OpenEndpoint::is_lasting);
        }
        let others: Vec<ProfileEndpoint> = open.iter().flat_map(OpenEndpoint::alternates).collect();
        let own = open.into_iter().map(|one| one.published);
        own.chain(others).collect()
    }

    /// Returns the open endpoints of all lanes of the ORB.
    fn open(&self) -> Vec<OpenEndpoint> {
        let lanes = self.all();
        lanes
            .flat_map(|lane| lane.incoming.endpoints.open_now())
            .collect()
    }
}

fn build_profiles(
    broker: &Broker,
    endpoints: &[ProfileEndpoint],
    object_key: &[u8],
    (policies, added): (&[PolicyValue], &[(Option<u32>, TaggedComponent)]),
) -> Result<Vec<TaggedProfile>, CdrError> {
    let registry = broker.protocols.now();
    let native = broker.config().char_code_set.narrow();
    let mut components = vec![TaggedComponent::orb_type(profile::ORB_TYPE)];
    components.push(TaggedComponent::code_sets(&code_sets::our_component(
        native,
    ))?);
    if !policies.is_empty() {
        components.push(TaggedComponent::policies(policies)?);
    }
    let for_all = added.iter().filter(|(tag, _)| tag.is_none());
    components.extend(for_all.map(|(_, component)| component.clone()));
    let object = Publication {
        version: broker.config().giop_version,
        object_key,
        components: &components,
    };
    protocol::profiles_for(&registry, endpoints, &object, added)
}
