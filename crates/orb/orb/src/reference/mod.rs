//! Object references: what a client holds, and what can be asked of any object.

mod interface;
mod interpreted;
mod published;
mod stringify;
mod target;
mod typed;

pub use interface::{AsObject, Interface, UserException};
pub use interpreted::{ArgumentOf, Slot, SlotOf, taken};
pub(crate) use target::Target;

use crate::client::{self, Body, Call, NamedOperation, Operation, Path};
use crate::collocation::{self, Locality};
use crate::exception::{CompletionStatus, SystemException, cdr_exception};
use crate::orb::Orb;
use crate::policy::{Collocation, Effective, Policy, PolicyLevels, PolicySet, SetOverride};
use arc_swap::ArcSwapOption;
use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, Nilable, Unmarshal};
use punctual_exec::Deadline;
use punctual_ior::Ior;
use punctual_link::{Address, Loan};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A reference to an object somewhere (CORBA 3.3 part 1, §8.3). Cheap to clone; clones share the
/// connection they are bound to.
///
/// Two are equal when they are equivalent (see [`ObjectRef::is_equivalent`]). Nil is no reference but
/// `None`.
#[derive(Clone)]
pub struct ObjectRef {
    shared: Arc<Shared>,
    timeout: Option<Duration>,
}

struct Shared {
    orb: Orb,
    /// No other has it.
    number: u64,
    /// Changes with the paths.
    version: AtomicU64,
    original: Arc<Target>,
    /// Where the object has moved for good, as a server has said (LOCATION_FORWARD_PERM).
    moved: ArcSwapOption<Target>,
    /// Where the last call succeeded.
    path: ArcSwapOption<Path>,
    /// The same of one-ways, which may prefer a protocol that carries no others.
    one_way_path: ArcSwapOption<Path>,
    policies: PolicySet,
    effective: ArcSwapOption<Effective>,
    locality: Locality,
}

impl ObjectRef {
    /// The reference that an IOR describes.
    pub(crate) fn new(orb: Orb, ior: Ior) -> Self {
        Self::with_target(orb, Arc::new(Target::new(ior)), PolicySet::default(), None)
    }

    /// A reference that its ORB makes, to an object of its own adapter.
    pub(crate) fn made_here(orb: Orb, ior: Ior) -> Self {
        let target = Arc::new(Target::made_here(ior));
        Self::with_target(orb, target, PolicySet::default(), None)
    }

    fn with_target(
        orb: Orb,
        original: Arc<Target>,
        policies: PolicySet,
        timeout: Option<Duration>,
    ) -> Self {
        // Relaxed: a number, and no more.
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let shared = Shared {
            orb,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            version: AtomicU64::new(0),
            original,
            moved: ArcSwapOption::empty(),
            path: ArcSwapOption::empty(),
            one_way_path: ArcSwapOption::empty(),
            policies,
            effective: ArcSwapOption::empty(),
            locality: Locality::default(),
        };
        Self {
            shared: Arc::new(shared),
            timeout,
        }
    }

    /// The ORB it belongs to.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        &self.shared.orb
    }

    /// The reference itself, as it came: repository id and profiles.
    #[must_use]
    pub fn ior(&self) -> &Ior {
        self.shared.original.ior()
    }

    /// The repository id of the type it was made for; empty when whoever made it did not say.
    #[must_use]
    pub fn type_id(&self) -> &str {
        &self.ior().type_id
    }

    /// The same object, each call through this reference bounded by `timeout` instead of the ORB's
    /// ([`crate::Timeouts::call`]).
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self {
            shared: self.shared.clone(),
            timeout: Some(timeout),
        }
    }

    /// The same object, called under policies of this reference's own (`_set_policy_overrides`, CORBA
    /// 3.3 part 1, §8.3.8). The reference itself stays as it is.
    ///
    /// # Errors
    /// INV_POLICY for one that cannot be obeyed, BAD_PARAM for two on one matter.
    pub fn set_policy_overrides(
        &self,
        policies: &[Policy],
        how: SetOverride,
    ) -> Result<Self, SystemException> {
        let orb = self.orb();
        let at = (PolicyLevels::REFERENCE, orb.managed_policies().types());
        let before = &self.shared.policies;
        let policies = before.overridden(policies, how, at, orb.protocols())?;
        let (orb, original) = (self.orb().clone(), self.base());
        Ok(Self::with_target(orb, original, policies, self.timeout))
    }

    /// The reference's own policies, of the given types; all, if none is given.
    #[must_use]
    pub fn policy_overrides(&self, types: &[u32]) -> Vec<Policy> {
        self.shared.policies.of_types(types)
    }

    /// The policies that hold for calls through this reference by the calling thread: the reference's,
    /// the thread's and the ORB's, put together.
    #[must_use]
    pub fn policies(&self, types: &[u32]) -> Vec<Policy> {
        self.effective().policies(types)
    }

    /// Whether the object implements the interface with this repository id. Asks the server, unless
    /// the reference's own type id tells.
    ///
    /// # Errors
    /// Any of a call's.
    pub fn is_a(&self, repository_id: &str) -> Result<bool, SystemException> {
        if repository_id == self.type_id() || repository_id == "IDL:omg.org/CORBA/Object:1.0" {
            return Ok(true);
        }
        const OPERATION: Operation = Operation::two_way("_is_a");
        self.invoke(
            &OPERATION,
            |out| out.put_string(repository_id),
            bool::unmarshal,
        )
    }

    /// Whether the object is known to exist no more. Asks the server.
    ///
    /// # Errors
    /// Any of a call's but OBJECT_NOT_EXIST, which is the answer `true`.
    pub fn non_existent(&self) -> Result<bool, SystemException> {
        const OPERATION: Operation = Operation::two_way("_non_existent");
        match self.invoke(&OPERATION, |_| Ok(()), bool::unmarshal) {
            Err(exception)
                if exception.kind() == crate::exception::SystemExceptionKind::ObjectNotExist =>
            {
                Ok(true)
            }
            answer => answer,
        }
    }

    /// Whether both refer to the same object as far as can be told without asking anyone: the same
    /// object key at the same address, or profiles that are alike to the octet.
    #[must_use]
    pub fn is_equivalent(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
            || self.original().identity(self.orb()) == other.original().identity(other.orb())
    }

    /// A number below `maximum` that equivalent references share.
    #[must_use]
    pub fn hash_below(&self, maximum: u32) -> u32 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        let below = u64::from(maximum.max(1));
        u32::try_from(hasher.finish() % below).unwrap_or_default()
    }

    /// Whether the server knows the object, asked by a LocateRequest, which no servant sees. Forwards
    /// are followed and remembered.
    ///
    /// # Errors
    /// Any of a call's.
    pub fn locate(&self) -> Result<bool, SystemException> {
        client::locate(self)
    }

    /// Makes a two-way call that declares no user exceptions. For generated stubs.
    ///
    /// Blocks until the reply or the call's time-out. `arguments` may run more than once.
    ///
    /// # Errors
    /// What the server raised, or what kept the call from it.
    pub fn invoke<R>(
        &self,
        operation: &NamedOperation<'_>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
        results: impl FnOnce(&mut Decoder<'_>) -> Result<R, CdrError>,
    ) -> Result<R, SystemException> {
        self.invoke_raising(operation, arguments, results, |_, _| Ok(None))
    }

    /// Makes a two-way call; `exceptions` decodes the user exception with the given repository id, or
    /// says `None` when the operation declares no such one. For generated stubs.
    ///
    /// # Errors
    /// What the servant or the server raised, or what kept the call from it.
    pub fn invoke_raising<R, E: From<SystemException>>(
        &self,
        operation: &NamedOperation<'_>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
        results: impl FnOnce(&mut Decoder<'_>) -> Result<R, CdrError>,
        exceptions: impl FnOnce(&str, &mut Decoder<'_>) -> Result<Option<E>, CdrError>,
    ) -> Result<R, E> {
        let unreadable = |error| {
            cdr_exception(error, CompletionStatus::Yes).in_context(format_args!(
                "reading the results of `{}`",
                operation.name()
            ))
        };
        let (mut results, mut exceptions) = (Some(results), Some(exceptions));
        let mut outcome = None;
        Call::invoke(self, operation, &arguments, &mut |body, decoder| {
            // A call has one reply.
            outcome = match body {
                Body::Results => results
                    .take()
                    .map(|results| results(decoder).map_err(|error| unreadable(error).into())),
                Body::UserException => exceptions.take().map(|exceptions| {
                    let id = decoder.get_string().map_err(unreadable)?;
                    match exceptions(&id, decoder).map_err(unreadable)? {
                        Some(exception) => Err(exception),
                        None => Err(client::unlisted(&id).into()),
                    }
                }),
            };
        })?;
        outcome.unwrap_or_else(|| Err(client::out_of_place().into()))
    }

    /// Makes a one-way call: returns when the transport has taken it. For generated stubs.
    ///
    /// # Errors
    /// What kept it from being sent.
    pub fn send(
        &self,
        operation: &NamedOperation<'_>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        Call::send(self, operation, &arguments)
    }

    /// Makes a call: `here` runs with the servant, on this thread, if the object is one of this process, and
    /// `wire` makes a request otherwise. For generated stubs.
    ///
    /// A reference to an object elsewhere is told by a look at one octet.
    ///
    /// # Errors
    /// What either says, or what keeps the servant from being called.
    #[inline]
    pub fn call<V, R, E>(
        &self,
        operation: &NamedOperation<'_>,
        here: impl FnOnce(&V) -> Result<R, E>,
        wire: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E>
    where
        V: ?Sized + 'static,
        E: From<SystemException>,
    {
        self.call_into(operation, (), |(), servant: &V| here(servant), |()| wire())
    }

    /// The same, where either is to fill buffers of the caller. For generated stubs.
    ///
    /// # Errors
    /// Those of [`ObjectRef::call`].
    #[inline]
    pub fn call_into<V, B, R, E>(
        &self,
        operation: &NamedOperation<'_>,
        buffers: B,
        here: impl FnOnce(B, &V) -> Result<R, E>,
        wire: impl FnOnce(B) -> Result<R, E>,
    ) -> Result<R, E>
    where
        V: ?Sized + 'static,
        E: From<SystemException>,
    {
        if self.shared.locality.is_elsewhere() {
            return wire(buffers);
        }
        collocation::call(self, operation, buffers, here, wire)
    }

    /// The same of a one-way, of which nothing is heard when it is not a request. For generated stubs.
    ///
    /// # Errors
    /// What keeps the request from being sent.
    #[inline]
    pub fn call_one_way<V: ?Sized + 'static>(
        &self,
        operation: &NamedOperation<'_>,
        here: impl FnOnce(&V) -> Result<(), SystemException>,
        wire: impl FnOnce() -> Result<(), SystemException>,
    ) -> Result<(), SystemException> {
        if self.shared.locality.is_elsewhere() {
            return wire();
        }
        collocation::one_way(self, operation, here, wire)
    }

    /// Sends the one-way requests through this reference that wait to be sent together, if any do
    /// ([`crate::OrbConfig::one_way_buffering`]).
    pub fn flush(&self) {
        let deadline = Deadline::after_maybe(self.timeout_under(&self.effective()));
        let paths = [self.path(true), self.path(false)];
        for connection in paths.iter().flatten().filter_map(|path| path.connection()) {
            connection.flush(deadline);
        }
    }

    /// A buffer of `length` octets to fill and to pass as an argument through this reference: where
    /// memory is shared with the server, its octets are not copied (paper 000, §3.4.1: zero-copy).
    /// Elsewhere it is memory like any other.
    ///
    /// Connects, if need be, and so may block. Given back when dropped.
    ///
    /// # Errors
    /// What keeps the reference from being connected.
    pub fn loan(&self, length: usize) -> Result<Loan, SystemException> {
        let connection = client::connection(self)?;
        let lent = connection.link().loan(length);
        Ok(lent.unwrap_or_else(|| Loan::from_heap(length)))
    }

    /// Connects now, under the policies that hold, so that no later call has to: finds the server and asks
    /// it whether it knows the object (CORBA's `Object::validate_connection`). `false` when those
    /// policies cannot be met.
    ///
    /// # Errors
    /// What keeps the server from being reached, or from answering.
    pub fn validate_connection(&self) -> Result<bool, SystemException> {
        match client::locate(self) {
            Ok(_) => Ok(true),
            Err(exception) if exception.kind() == crate::SystemExceptionKind::InvPolicy => {
                Ok(false)
            }
            Err(exception) => Err(exception),
        }
    }

    /// Where the last call through this reference that succeeded has gone, if its connection still
    /// stands.
    #[must_use]
    pub fn connected_to(&self) -> Option<Address> {
        let path = self.path(true).or_else(|| self.path(false));
        let connection = path?.connection()?;
        Some(connection.peer().clone())
    }

    /// How long a call may take, where these policies hold.
    pub(crate) fn timeout_under(&self, effective: &Effective) -> Option<Duration> {
        self.timeout.or(effective.roundtrip)
    }

    /// What holds for calls through this reference by the calling thread. Warm, this takes no lock.
    pub(crate) fn effective(&self) -> Arc<Effective> {
        let before = self.shared.effective.load();
        let (managed, own) = (self.orb().managed_policies(), &self.shared.policies);
        let now = Effective::renewed(before.as_ref(), managed, own, || self.published_policies());
        if !before
            .as_ref()
            .is_some_and(|before| Arc::ptr_eq(before, &now))
        {
            self.shared.effective.store(Some(now.clone()));
        }
        now
    }

    /// How calls go that could go without a request, by the calling thread.
    #[inline]
    pub(crate) fn collocation(&self) -> Collocation {
        let known = &self.shared.locality.way;
        known.get_or(self.orb(), || self.effective().collocation)
    }

    pub(crate) fn locality(&self) -> &Locality {
        &self.shared.locality
    }

    /// The goal that it was made with.
    pub(crate) fn original(&self) -> &Arc<Target> {
        &self.shared.original
    }

    /// Where calls begin.
    pub(crate) fn base(&self) -> Arc<Target> {
        let moved = self.shared.moved.load_full();
        moved.unwrap_or_else(|| self.shared.original.clone())
    }

    /// The object has moved for good.
    pub(crate) fn move_to(&self, target: Arc<Target>) {
        self.shared.moved.store(Some(target));
    }

    fn path_of(&self, two_way: bool) -> &ArcSwapOption<Path> {
        if two_way {
            &self.shared.path
        } else {
            &self.shared.one_way_path
        }
    }

    pub(crate) fn path(&self, two_way: bool) -> Option<Arc<Path>> {
        self.path_of(two_way).load_full()
    }

    /// Tells this reference, its clones, and its paths as they are now from all others.
    #[inline]
    pub(crate) fn version(&self) -> (u64, u64) {
        // Acquire pairs with the Release in `paths_have_changed`.
        let version = self.shared.version.load(Ordering::Acquire);
        (self.shared.number, version)
    }

    fn paths_have_changed(&self) {
        self.shared.version.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn remember(&self, two_way: bool, path: Arc<Path>) {
        self.path_of(two_way).store(Some(path));
        self.paths_have_changed();
    }

    /// Forgets where the last call succeeded, and where the object has moved.
    pub(crate) fn forget(&self) {
        self.shared.path.store(None);
        self.shared.one_way_path.store(None);
        self.shared.moved.store(None);
        self.paths_have_changed();
    }
}

impl PartialEq for ObjectRef {
    fn eq(&self, other: &Self) -> bool {
        self.is_equivalent(other)
    }
}

impl Eq for ObjectRef {}

impl Hash for ObjectRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.original().identity(self.orb()).hash(state);
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.original().describe(self.orb());
        write!(f, "ObjectRef({} {place})", self.type_id())
    }
}

impl Marshal for ObjectRef {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.ior().marshal(out)
    }
}

impl Unmarshal for ObjectRef {
    const MIN_SIZE: usize = Ior::MIN_SIZE;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Self::unmarshal_nilable(input)?.ok_or(CdrError::NilReference)
    }
}

impl Nilable for ObjectRef {
    fn marshal_nilable(this: Option<&Self>, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        match this {
            Some(object) => object.marshal(out),
            None => Ior::nil().marshal(out),
        }
    }

    fn unmarshal_nilable(input: &mut Decoder<'_>) -> Result<Option<Self>, CdrError> {
        let orb: Orb = input
            .environment::<Orb>()
            .ok_or(CdrError::NoEnvironment)?
            .clone();
        let ior = Ior::unmarshal(input)?;
        Ok((!ior.is_nil()).then(|| Self::new(orb, ior)))
    }
}
