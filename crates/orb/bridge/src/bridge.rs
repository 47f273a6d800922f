//! Bridge: an object adapter that passes requests on to another server.

use crate::counters::{Counters, Counts, Event};
use crate::options::BridgeOptions;
use crate::rewrite::{Rewriter, Route};
use crate::targets::Targets;
use punctual_orb::relay::{
    RawBody, RelayedReply, RelayedRequest, Terms, endpoints_of, first_profile, offered_code_sets,
};
use punctual_orb::{
    CompletionStatus, DecodedProfile, DispatchError, Dispatched, Location, ObjectAdapter,
    ObjectRef, Orb, Policy, Quoted, ServerCall, SystemException, SystemExceptionKind as Kind,
    minor,
};
use std::any::Any;
use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Time limit for the target to say whether an object exists.
const QUESTION: Duration = Duration::from_secs(5);
/// Upper bound of simultaneous locate queries to the target. Beyond it, further queries are
/// answered 'the object exists': the request that follows reports an object that does not.
const QUESTIONS: u32 = 16;

/// Number of locate queries to the target that are waiting for their answers.
#[derive(Debug, Default)]
struct PendingQueries(AtomicU32);

/// Guard that counts one locate query to the target until it is dropped.
struct QueryGuard<'a>(&'a PendingQueries);

impl PendingQueries {
    fn enter(&self) -> Option<QueryGuard<'_>> {
        // Relaxed: the bound orders nothing else.
        let question = QueryGuard(self);
        (self.0.fetch_add(1, Ordering::Relaxed) < QUESTIONS).then_some(question)
    }
}

impl Drop for QueryGuard<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Number of refusals and failures that are logged as warnings; later ones are logged for
/// debugging, since a faulty client must not fill a disk.
const LOGGED: u64 = 10;

/// Bridge that passes the requests that an ORB receives on to another server, and passes the
/// replies back.
#[derive(Clone)]
pub struct Bridge {
    orb: Orb,
    relay: Arc<Relay>,
}

/// Object adapter of a bridge, which relays the requests to target objects.
struct Relay {
    targets: Targets,
    /// Profile in the object reference of the bridge's target.
    profile: DecodedProfile,
    /// GIOP version and code sets for locate queries to the target: the target's version, and the
    /// native code sets, as a locate request contains no text.
    own_terms: Terms,
    rewriter: OnceLock<Rewriter>,
    /// Keys of the objects that can be reached; `None` for all.
    objects: Option<HashSet<Vec<u8>>>,
    counters: Counters,
    asking: PendingQueries,
}

impl Bridge {
    /// Makes `orb` a bridge to the server of `target`. The bridge listens on the ORB's endpoints.
    /// The target may be a reference of this ORB or of another one; calls to it use the protocols
    /// and policies of the reference's ORB.
    ///
    /// # Errors
    /// BAD_INV_ORDER if the ORB has an object adapter already, INV_OBJREF if the target names no
    /// usable address, BAD_PARAM if it is the bridge itself, and those of listening.
    pub fn new(
        orb: &Orb,
        target: &ObjectRef,
        options: &BridgeOptions,
    ) -> Result<Self, SystemException> {
        let profile = first_profile(target.orb(), target.ior(), &preferred(target))?;
        let terms = Terms {
            version: profile.version,
            code_sets: punctual_cdr::CodeSets::NATIVE,
        };
        let (timeout, remembered) = (options.timeout, options.remembered_objects);
        let objects = options.objects.as_ref().map(|keys| {
            let own = std::iter::once(&profile.object_key);
            own.chain(keys).cloned().collect()
        });
        let relay = Arc::new(Relay {
            objects,
            targets: Targets::new(target.clone(), timeout, remembered),
            profile,
            own_terms: terms,
            rewriter: OnceLock::new(),
            counters: Counters::default(),
            asking: PendingQueries::default(),
        });
        let this = Self {
            orb: orb.clone(),
            relay,
        };
        // Requests may arrive as soon as the ORB listens.
        let adapter = orb.adapter_or_set(|| this.relay.clone());
        let installed = adapter.clone().as_any().downcast::<Relay>();
        if !installed.is_ok_and(|one| Arc::ptr_eq(&one, &this.relay)) {
            return Err(adapter_exists_error());
        }
        let route = this.route()?;
        if let Some(place) = route.loops() {
            return Err(leads_here(place));
        }
        if options.rewrite_references {
            this.relay.rewriter.get_or_init(|| Rewriter::new(route));
        }
        Ok(this)
    }

    /// Returns a reference to the target object by way of the bridge: with the object's type and
    /// key, the bridge's endpoints, and the target's GIOP version and code sets.
    ///
    /// # Errors
    /// Those of listening; MARSHAL if the reference cannot be encoded.
    pub fn reference(&self) -> Result<ObjectRef, SystemException> {
        let key = &self.relay.profile.object_key;
        self.reference_to(self.relay.targets.target().type_id(), key)
    }

    /// Returns a reference by way of the bridge to any object of the target's server, given its
    /// object key at that server.
    ///
    /// # Errors
    /// Those of [`Bridge::reference`].
    pub fn reference_to(
        &self,
        type_id: &str,
        object_key: &[u8],
    ) -> Result<ObjectRef, SystemException> {
        self.route()?.through_bridge(type_id, object_key)
    }

    /// Returns a request's body after the rewriting of the references in it; `None` if it has none
    /// to rewrite. For fuzzing.
    #[cfg(feature = "fuzzing")]
    #[doc(hidden)]
    #[must_use]
    pub fn rewritten(&self, body: &[u8], order: punctual_cdr::ByteOrder) -> Option<Vec<u8>> {
        let rewriter = self.relay.rewriter.get()?;
        rewriter.octets_to_target(body, order, &self.relay.counters)
    }

    /// Returns the bridge's current counts of requests and of rewritten references.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.relay.counters.counts()
    }

    /// Returns the ORB whose endpoints receive the clients' requests.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        &self.orb
    }

    /// Returns the endpoints of the bridge and of the target.
    fn route(&self) -> Result<Route, SystemException> {
        let (relay, target) = (&self.relay, self.relay.targets.target());
        let own = self.orb.make_reference("", &relay.profile.object_key)?;
        Ok(Route {
            orb: self.orb.clone(),
            bridge: endpoints_of(&self.orb, own.ior()),
            target_orb: target.orb().clone(),
            target: endpoints_of(target.orb(), target.ior()),
            version: relay.profile.version.min(self.orb.config().giop_version),
            code_sets: offered_code_sets(target.orb(), &relay.profile),
        })
    }
}

impl Relay {
    fn reaches(&self, object_key: &[u8]) -> bool {
        let objects = self.objects.as_ref();
        objects.is_none_or(|objects| objects.contains(object_key))
    }

    fn pass(
        &self,
        object_key: &[u8],
        request: &RelayedRequest<'_>,
    ) -> Result<Option<RelayedReply>, SystemException> {
        let object = self.targets.object(object_key, request.terms())?;
        let body = request.body();
        let changed = self
            .rewriter
            .get()
            .and_then(|rewriter| rewriter.to_target(&body, &self.counters));
        match &changed {
            Some(octets) => object.relay(&request.with_body(body.with_octets(octets))),
            None => object.relay(request),
        }
    }

    fn pass_back(
        &self,
        call: &mut ServerCall<'_>,
        reply: &RelayedReply,
    ) -> Result<Dispatched, DispatchError> {
        let body: RawBody<'_> = reply.body()?;
        let changed = self
            .rewriter
            .get()
            .and_then(|rewriter| rewriter.to_client(&body, &self.counters));
        match &changed {
            Some(octets) => call.pass_back(reply, body.with_octets(octets)),
            None => call.pass_back(reply, body),
        }
    }

    /// Counts and logs a request that was not passed on, or that failed.
    fn record_failure(&self, operation: &str, exception: &SystemException) {
        let operation = Quoted(operation);
        let event = match exception.kind() {
            Kind::ImpLimit | Kind::CodesetIncompatible | Kind::Marshal => Event::Refused,
            _ => Event::Failed,
        };
        if self.counters.count(event) < LOGGED {
            tracing::warn!("`{operation}` is not passed on: {exception}");
        } else {
            tracing::debug!("`{operation}` is not passed on: {exception}");
        }
    }
}

impl ObjectAdapter for Relay {
    fn dispatch(
        &self,
        object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        if !self.reaches(object_key) {
            self.counters.count(Event::Refused);
            return Err(not_reachable_error().into());
        }
        if call.is_intercepted() {
            call.receive_request(None, None)?;
        }
        let request = call.passed_on().inspect_err(|error| {
            if let DispatchError::System(exception) = error {
                self.record_failure(call.operation(), exception);
            }
        })?;
        let passed = self.pass(object_key, &request);
        let passed =
            passed.inspect_err(|exception| self.record_failure(call.operation(), exception))?;
        match passed {
            Some(reply) => {
                self.counters.count(Event::TwoWay);
                self.pass_back(call, &reply)
            }
            None => {
                self.counters.count(Event::OneWay);
                call.reply(|_| Ok(()))
            }
        }
    }

    /// Asks the target whether an object exists. If the target cannot be asked, the answer is that
    /// the object exists: the request that follows reports an object that does not.
    fn locate(&self, object_key: &[u8]) -> Location {
        self.counters.count(Event::Located);
        if !self.reaches(object_key) {
            return Location::Unknown;
        }
        // Queries do not count the bridges that they have passed, so that in a ring of bridges they
        // would circulate: the bounds on their number and time end this.
        let Some(_asking) = self.asking.enter() else {
            return Location::Here;
        };
        let object = self.targets.object(object_key, self.own_terms);
        let asked = object.and_then(|object| object.with_timeout(QUESTION).locate());
        match asked {
            Ok(true) => Location::Here,
            Ok(false) => Location::Unknown,
            Err(exception) if exception.kind() == Kind::ObjectNotExist => Location::Unknown,
            Err(exception) => {
                tracing::debug!("the target cannot be asked where an object is: {exception}");
                Location::Here
            }
        }
    }

    /// Does nothing, since a bridge lets the requests in progress complete.
    fn shut_down(&self) {}

    fn release(&self) {}

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge")
            .field("target", self.relay.targets.target())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

/// Returns the protocols by which the policies prefer the target to be called.
fn preferred(target: &ObjectRef) -> Vec<String> {
    let mut policies = target.policies(&[]).into_iter();
    let protocols = policies.find_map(|policy| match policy {
        Policy::ClientProtocols(protocols) => Some(protocols.preferred),
        _ => None,
    });
    protocols.unwrap_or_default()
}

fn adapter_exists_error() -> SystemException {
    SystemException::new(
        Kind::BadInvOrder,
        minor::BROKEN_INVARIANT,
        CompletionStatus::No,
    )
    .with_detail("this ORB has an object adapter already: a bridge needs an ORB of its own")
}

fn not_reachable_error() -> SystemException {
    SystemException::new(
        Kind::ObjectNotExist,
        minor::NOT_ACTIVE,
        CompletionStatus::No,
    )
}

fn leads_here(place: &str) -> SystemException {
    SystemException::new(Kind::BadParam, minor::BAD_REFERENCE, CompletionStatus::No).with_detail(
        format!("the target is the bridge itself, which listens at {place}: calls would loop"),
    )
}
