//! The endpoints that a lane listens at, and what references say of them.

use super::publish::{Named, none_to_publish, published};
use crate::broker::Broker;
use crate::config::ListenEndpoint;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::lane::reactors::{Reactors, ServingThreads, not_listening};
use crate::policy::AdapterPolicies;
use crate::profile::{self, ProfileEndpoint, Publication, PublishedEndpoints, SecurityRequirement};
use crate::protocol::{self, Pair};
use punctual_cdr::CdrError;
use punctual_giop::code_sets;
use punctual_ior::{PolicyValue, TaggedComponent, TaggedProfile};
use punctual_link::{Acceptor, Address};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Those of one lane.
#[derive(Debug, Default)]
pub(crate) struct Endpoints {
    state: Mutex<State>,
    /// How often one has come or gone.
    changes: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    open: Vec<OpenEndpoint>,
    /// Whether the endpoints of the configuration have been opened.
    opened: bool,
    next: u64,
    closed: bool,
}

/// One that is listened at.
#[derive(Clone, Debug)]
pub(crate) struct OpenEndpoint {
    /// Its number among those of its lane, for the connections that it accepts.
    pub(crate) number: u64,
    pub(crate) endpoint: ListenEndpoint,
    pub(crate) pair: Arc<Pair>,
    published: ProfileEndpoint,
    pub(crate) acceptor: Arc<dyn Acceptor>,
    /// Who serves the connections. `None` once it listens no more.
    pub(crate) threads: Option<ServingThreads>,
}

/// Starts accepting at an endpoint.
pub(crate) type Accept<'a> = dyn Fn(&OpenEndpoint) -> Result<(), SystemException> + 'a;

impl Endpoints {
    /// Listens at every configured endpoint; `false` where it does already.
    pub(super) fn open(
        &self,
        (broker, reactors): (&Broker, &Reactors),
        accept: &Accept<'_>,
    ) -> Result<bool, SystemException> {
        let mut state = self.lock();
        if state.opened {
            return Ok(false);
        }
        if state.closed {
            return broker.check_running().map(|()| false);
        }
        let begin = state.next;
        let opened: Result<Vec<OpenEndpoint>, SystemException> = (begin..)
            .zip(broker.config().endpoints())
            .map(|(number, endpoint)| open_one((broker, reactors), number, endpoint))
            .collect();
        let opened = opened?;
        state.next += u64::try_from(opened.len()).unwrap_or_default();
        opened.iter().try_for_each(accept)?;
        state.open.extend(opened);
        state.opened = true;
        self.have_changed();
        Ok(true)
    }

    /// Listens at one more endpoint, from now on; says where that is.
    pub(super) fn add(
        &self,
        (broker, reactors): (&Broker, &Reactors),
        endpoint: ListenEndpoint,
        accept: &Accept<'_>,
    ) -> Result<ListenEndpoint, SystemException> {
        let mut state = self.lock();
        if state.closed {
            broker.check_running()?;
        }
        let one = open_one((broker, reactors), state.next, endpoint)?;
        state.next += 1;
        accept(&one)?;
        let real = one.real();
        state.open.push(one);
        self.have_changed();
        Ok(real)
    }

    /// Stops listening at those that are meant; their numbers.
    pub(super) fn retire(&self, is_meant: impl Fn(&OpenEndpoint) -> bool) -> Vec<u64> {
        let gone: Vec<OpenEndpoint> = {
            let mut state = self.lock();
            let (gone, kept) = state.open.drain(..).partition(is_meant);
            state.open = kept;
            self.have_changed();
            gone
        };
        gone.iter().for_each(|one| one.acceptor.close());
        gone.iter().map(|one| one.number).collect()
    }

    /// Stops listening at all.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for open in &mut state.open {
            open.acceptor.close();
            // A pool ends with the last that it serves.
            open.threads = None;
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Whether the endpoint of that number is listened at still.
    pub(crate) fn is_open(&self, number: u64) -> bool {
        self.lock().open.iter().any(|one| one.number == number)
    }

    /// One of that protocol.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn find(&self, protocol: &str) -> Option<OpenEndpoint> {
        let state = self.lock();
        let mut open = state.open.iter();
        open.find(|one| one.endpoint.protocol == protocol).cloned()
    }

    /// With the places that were chosen.
    pub(crate) fn all(&self) -> Vec<ListenEndpoint> {
        self.lock().open.iter().map(OpenEndpoint::real).collect()
    }

    /// Whether references that name this place mean one of these.
    pub(crate) fn is_at(&self, protocol: &str, address: &Address) -> bool {
        let is_meant = |open: &OpenEndpoint| {
            &*open.published.protocol == protocol && open.published.address == *address
        };
        self.lock().open.iter().any(is_meant)
    }

    /// The profiles of a reference to `object_key`, in the order of the endpoints: codec by codec,
    /// those that share one in as few profiles as it needs.
    pub(crate) fn profiles(
        &self,
        broker: &Broker,
        object_key: &[u8],
        policies: &[PolicyValue],
        which: Which<'_>,
    ) -> Result<Vec<TaggedProfile>, SystemException> {
        let endpoints = self.published(which);
        if let Some(which) = which.named.filter(|_| endpoints.is_empty()) {
            return Err(none_to_publish(which));
        }
        build_profiles(broker, &endpoints, object_key, policies).map_err(|error| {
            SystemException::new(Kind::Marshal, minor::ENCODING, CompletionStatus::No)
                .with_detail(format!("making a reference: {error}"))
        })
    }

    /// The same of an object whose adapter has these policies.
    pub(crate) fn profiles_under(
        &self,
        broker: &Broker,
        object_key: &[u8],
        policies: &AdapterPolicies,
    ) -> Result<Vec<TaggedProfile>, SystemException> {
        // The lane is not among them, as one alone listens. Read before the endpoints are: what is made of later ones
        // counts as made of earlier ones, and is made again.
        let origin = [
            broker.number(),
            self.changes.load(Ordering::Acquire),
            broker.protocols.now().number,
        ];
        let which = Which {
            named: policies.value::<PublishedEndpoints>(),
            are_lasting: policies.outlives_process(),
        };
        policies.templates().profiles(object_key, origin, |key| {
            self.profiles(broker, key, policies.published(), which)
        })
    }

    /// Under the lock, after a change.
    fn have_changed(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// What references say of these endpoints. Where no place lasts, those that there are.
    fn published(&self, which: Which<'_>) -> Vec<ProfileEndpoint> {
        let state = self.lock();
        let is_meant =
            |open: &&OpenEndpoint| which.named.is_none_or(|which| which.name(&open.named()));
        let meant = || state.open.iter().filter(is_meant);
        let published = |open: &OpenEndpoint| open.published.clone();
        let lasting = meant().filter(|open| !which.are_lasting || open.is_lasting());
        let lasting: Vec<ProfileEndpoint> = lasting.map(published).collect();
        match lasting.is_empty() {
            true => meant().map(published).collect(),
            false => lasting,
        }
    }

    /// Whether each choice names an endpoint that is listened at; the one that does not.
    pub(crate) fn check_published(&self, which: &PublishedEndpoints) -> Result<(), String> {
        let state = self.lock();
        let open: Vec<Named<'_>> = state.open.iter().map(OpenEndpoint::named).collect();
        which.check_among(&open)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which endpoints references name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Which<'w> {
    /// Those that are named by a policy.
    named: Option<&'w PublishedEndpoints>,
    /// Those whose place is the same when the process is started again.
    are_lasting: bool,
}

impl Which<'_> {
    pub(crate) const ALL: Self = Which {
        named: None,
        are_lasting: false,
    };
}

impl OpenEndpoint {
    /// Whether its place was not chosen for this process: a socket's ends with it.
    fn is_lasting(&self) -> bool {
        !(self.pair.link.is_local() && self.endpoint.place.is_empty())
    }

    fn named(&self) -> Named<'_> {
        Named {
            configured: &self.endpoint,
            real: self.real(),
            published: &self.published,
        }
    }

    /// The endpoint with the place that was chosen.
    pub(super) fn real(&self) -> ListenEndpoint {
        let address = self.acceptor.address();
        let named = self.endpoint.host_and_port();
        let place = match (named, address.host_and_port()) {
            (Some((Some(host), 0)), Some((_, port))) => {
                Address::iiop(host, port).place().to_owned()
            }
            (Some((None, 0)), Some((_, port))) => format!(":{port}"),
            _ if self.endpoint.place.is_empty() => address.place().to_owned(),
            _ => self.endpoint.place.clone(),
        };
        ListenEndpoint {
            place,
            ..self.endpoint.clone()
        }
    }
}

fn open_one(
    (broker, reactors): (&Broker, &Reactors),
    number: u64,
    endpoint: ListenEndpoint,
) -> Result<OpenEndpoint, SystemException> {
    let pair = broker
        .protocols
        .now()
        .pair(&endpoint.protocol)
        .map_err(|error| not_listening(&endpoint, &error))?;
    let link = pair.link.name();
    let bare = link.rsplit('+').next().unwrap_or(link);
    let properties = endpoint.properties(broker.config().link_properties.get(bare));
    let threads = reactors.serving_threads(broker, &endpoint, &pair, &properties)?;
    let mut listened = Err(None);
    for address in endpoint.addresses(pair.link.name()) {
        match pair.link.listen(&address, &properties) {
            Ok(acceptor) => {
                listened = Ok(acceptor);
                break;
            }
            Err(error) => listened = Err(Some(error)),
        }
    }
    let acceptor: Arc<dyn Acceptor> = match listened {
        Ok(acceptor) => acceptor.into(),
        Err(Some(error)) => return Err(not_listening(&endpoint, &error)),
        Err(None) => return Err(not_listening(&endpoint, &"there is no address to try")),
    };
    let mut published = published(&endpoint, &pair, acceptor.address());
    if acceptor.demands_trust_in_client() {
        published = published.with_security(SecurityRequirement::OF_TLS.with_trust_in_client());
    }
    Ok(OpenEndpoint {
        number,
        published,
        endpoint,
        pair: Arc::new(pair),
        acceptor,
        threads: Some(threads),
    })
}

fn build_profiles(
    broker: &Broker,
    endpoints: &[ProfileEndpoint],
    object_key: &[u8],
    policies: &[PolicyValue],
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
    let object = Publication {
        version: broker.config().giop_version,
        object_key,
        components: &components,
    };
    protocol::profiles_for(&registry, endpoints, &object)
}
