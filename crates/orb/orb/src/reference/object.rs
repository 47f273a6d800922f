//! Untyped object references.

use super::validation::Validation;
use crate::client::{self, Callee, Identity, RemoteObject, Target};
use crate::collocation::{Caller, Locality};
use crate::exception::{SystemException, SystemExceptionKind};
use crate::operation::Operation;
use crate::orb::{Orb, UnproxiedObject};
use crate::policy::{Policy, PolicyLevels, PolicySet, SetOverride};
use crate::profile::Origin;
use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, Nilable, Unmarshal};
use punctual_exec::Deadline;
use punctual_ior::Ior;
use punctual_link::{Address, Loan};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// Reference to an object in any process (CORBA 3.3 part 1, §8.3). Cheap to clone; clones share the
/// connection they are bound to.
///
/// Two references are equal if they are equivalent (see [`ObjectRef::is_equivalent`]). A nil
/// reference is represented by `None`.
#[derive(Clone)]
pub struct ObjectRef {
    shared: Arc<Shared>,
    timeout: Option<Duration>,
}

struct Shared {
    orb: Orb,
    /// Handle to the ORB as the environment for decoding messages from other hosts.
    orb_of_messages: Orb,
    object: RemoteObject,
    locality: Locality,
}

impl ObjectRef {
    /// Creates an object reference from an IOR.
    pub(crate) fn new(orb: Orb, ior: Ior, origin: Origin) -> Self {
        let target = Arc::new(Target::new(ior, origin));
        Self::with_target(orb, target, PolicySet::default(), None)
    }

    /// Creates a reference of an ORB to an object of its own adapter.
    pub(crate) fn made_here(orb: Orb, ior: Ior) -> Self {
        Self::new(orb, ior, Origin::OwnOrb)
    }

    fn with_target(
        orb: Orb,
        original: Arc<Target>,
        policies: PolicySet,
        timeout: Option<Duration>,
    ) -> Self {
        let object = RemoteObject::new(original, policies);
        Self {
            timeout,
            ..Self::of(orb, object, Locality::default())
        }
    }

    /// Returns a reference to the object to which a call through this reference is forwarded.
    #[cold]
    pub(super) fn forwarded(&self, to: RemoteObject) -> Self {
        let orb = self.shared.orb.clone();
        Self {
            timeout: self.timeout,
            ..Self::of(orb, to, Locality::default())
        }
    }

    fn of(orb: Orb, object: RemoteObject, locality: Locality) -> Self {
        let shared = Shared {
            orb_of_messages: orb.for_messages_from(Origin::Elsewhere),
            orb,
            object,
            locality,
        };
        Self {
            shared: Arc::new(shared),
            timeout: None,
        }
    }

    /// Returns the reference by which a smart proxy calls its object, which bypasses proxies.
    pub(super) fn past_proxies(UnproxiedObject { orb, object }: UnproxiedObject) -> Self {
        Self::of(orb, object, Locality::past_proxies())
    }

    /// Returns this reference with the context in which it is called.
    #[inline]
    pub(super) fn callee(&self) -> Callee<'_> {
        let shared = &*self.shared;
        Callee {
            object: &shared.object,
            lane: shared.orb.lanes().calling(),
            environment: &shared.orb,
            environment_elsewhere: &shared.orb_of_messages,
            timeout: self.timeout,
        }
    }

    /// Returns whether the reference's object is known to be in another process.
    #[inline]
    pub(super) fn is_elsewhere(&self) -> bool {
        self.shared.locality.is_elsewhere()
    }

    #[inline]
    pub(super) fn caller(&self) -> Caller<'_> {
        let shared = &*self.shared;
        Caller {
            orb: &shared.orb,
            object: &shared.object,
            locality: &shared.locality,
            timeout: self.timeout,
            may_wait: true,
        }
    }

    /// Returns the ORB that the object reference belongs to.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        &self.shared.orb
    }

    /// Returns the reference's data as received: repository id and profiles.
    #[must_use]
    pub fn ior(&self) -> &Ior {
        self.shared.object.original().ior()
    }

    /// Returns the repository id of the type with which the reference was created; empty if its
    /// creator gave none.
    #[must_use]
    pub fn type_id(&self) -> &str {
        &self.ior().type_id
    }

    /// Returns a reference to the object whose calls each have the time-out `timeout`, in place of
    /// the ORB's ([`crate::Timeouts::call`]).
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self {
            shared: self.shared.clone(),
            timeout: Some(timeout),
        }
    }

    /// Returns a new reference to the object, with policies of its own for its calls
    /// (`_set_policy_overrides`, CORBA 3.3 part 1, §8.3.8). This reference does not change.
    ///
    /// # Errors
    /// INV_POLICY for a policy that is invalid, BAD_PARAM for two policies of one type.
    pub fn set_policy_overrides(
        &self,
        policies: &[Policy],
        how: SetOverride,
    ) -> Result<Self, SystemException> {
        let (own, broker) = (self.shared.object.policies(), self.orb().broker());
        let at = (PolicyLevels::REFERENCE, broker.policies.types());
        let policies = own.overridden(policies, how, at, &broker.protocols)?;
        let (orb, original) = (self.orb().clone(), self.shared.object.base());
        Ok(Self::with_target(orb, original, policies, self.timeout))
    }

    /// Returns the reference's own policies, of the given types; all, if none is given.
    #[must_use]
    pub fn policy_overrides(&self, types: &[u32]) -> Vec<Policy> {
        self.shared.object.policies().of_types(types)
    }

    /// Returns the policies in effect for calls through this reference by the calling thread: the
    /// reference's, the thread's and the ORB's, combined.
    #[must_use]
    pub fn policies(&self, types: &[u32]) -> Vec<Policy> {
        self.callee().effective().policies(types)
    }

    /// Returns whether the object implements the interface with this repository id. Asks the
    /// server, unless the reference's type id is sufficient.
    ///
    /// # Errors
    /// Any exception of a call.
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

    /// Returns whether the server says that the object no longer exists. Asks the server.
    ///
    /// # Errors
    /// Any exception of a call except OBJECT_NOT_EXIST, for which it returns `true`.
    pub fn non_existent(&self) -> Result<bool, SystemException> {
        const OPERATION: Operation = Operation::two_way("_non_existent");
        let answer = self.invoke(&OPERATION, |_| Ok(()), bool::unmarshal);
        answer.or_else(|exception| match exception.kind() {
            SystemExceptionKind::ObjectNotExist => Ok(true),
            _ => Err(exception),
        })
    }

    /// Returns whether both references refer to one object, as far as can be determined without a
    /// call: they have equal object keys at equal addresses, or profiles that are equal byte for
    /// byte.
    #[must_use]
    pub fn is_equivalent(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) || self.identity() == other.identity()
    }

    /// Returns a hash value below `maximum`, which is equal for equivalent references.
    #[must_use]
    pub fn hash_below(&self, maximum: u32) -> u32 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        let below = u64::from(maximum.max(1));
        u32::try_from(hasher.finish() % below).unwrap_or_default()
    }

    /// Asks the server by a LocateRequest, which is not passed to a servant, whether it knows the
    /// object. Forwards are followed and remembered.
    ///
    /// # Errors
    /// Any exception of a call.
    pub fn locate(&self) -> Result<bool, SystemException> {
        client::locate(self.callee())
    }

    /// Sends the buffered one-ways and asynchronous calls through this reference, if there are any
    /// ([`crate::Buffering`]), together with those through other references to the same endpoints.
    pub fn flush(&self) {
        let callee = self.callee();
        let deadline = Deadline::after_optional(callee.timeout_under(&callee.effective()));
        let paths = [callee.path(true), callee.path(false)];
        for connection in paths.iter().flatten().filter_map(|path| path.connection()) {
            connection.flush_all(deadline);
        }
        for connection in callee.object.take_buffered_on() {
            connection.flush(deadline);
        }
        // Includes calls by copies of the reference with other policies.
        let endpoints = callee.object.base().endpoints(callee.lane.broker());
        for endpoint in endpoints.iter().flat_map(|all| all.iter()) {
            callee.lane.flush_to(endpoint, deadline);
        }
    }

    /// Returns a buffer of `length` bytes to fill and to pass as an argument through this
    /// reference: where memory is shared with the server, its bytes are not copied (Schmidt et al.
    /// 2001, §3.4.1: zero-copy). Otherwise it is ordinary memory.
    ///
    /// Connects, if need be, and so may block. The buffer is released when dropped.
    ///
    /// # Errors
    /// TRANSIENT if no endpoint can be connected to, TIMEOUT if the time for that is up, INV_POLICY
    /// if policies allow no endpoint.
    pub fn loan(&self, length: usize) -> Result<Loan, SystemException> {
        let connection = client::connection(self.callee())?;
        let lent = connection.link().loan(length);
        Ok(lent.unwrap_or_else(|| Loan::from_heap(length)))
    }

    /// Connects now, under the policies in effect, so that later calls need not: connects to the
    /// server and asks it whether it knows the object (CORBA's `Object::validate_connection`; CORBA
    /// 3.3 part 1, §8.3.8). Returns the policies that cannot be met, if there are any.
    ///
    /// # Errors
    /// TRANSIENT or COMM_FAILURE if the server cannot be reached or does not answer, TIMEOUT if the
    /// time is up.
    pub fn validate_connection(&self) -> Result<Validation, SystemException> {
        match client::locate(self.callee()) {
            Ok(_) => Ok(Validation::Connected),
            Err(why) if why.kind() == SystemExceptionKind::InvPolicy => {
                let policies = client::inconsistent(self.callee());
                Ok(Validation::Inconsistent { policies, why })
            }
            Err(exception) => Err(exception),
        }
    }

    /// Returns the address to which the last successful call through this reference was sent, if
    /// its connection is still open.
    #[must_use]
    pub fn connected_to(&self) -> Option<Address> {
        let callee = self.callee();
        let path = callee.path(true).or_else(|| callee.path(false));
        let connection = path?.connection()?;
        Some(connection.peer().clone())
    }

    /// Returns the object's identity, which is equal for references to one object.
    fn identity(&self) -> &Identity {
        let orb = self.orb();
        let name_in = |key: Vec<u8>| match orb.adapter() {
            Some(adapter) => adapter.name_in(&key).into_owned(),
            None => key,
        };
        self.shared
            .object
            .original()
            .identity(orb.broker(), name_in)
    }

    /// Returns the target of the object reference.
    pub(super) fn target(&self) -> &Target {
        self.shared.object.original()
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
        self.identity().hash(state);
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectRef({} {})", self.type_id(), self.identity())
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
        let reads = input.environment::<Orb>().ok_or(CdrError::NoEnvironment)?;
        let (orb, origin) = (
            reads.for_messages_from(Origin::ThisHost),
            reads.reads_from(),
        );
        let ior = Ior::unmarshal(input)?;
        let back = reads.reads_by();
        Ok((!ior.is_nil()).then(|| {
            let target = Target::new(ior, origin).came_by(back);
            Self::with_target(orb, Arc::new(target), PolicySet::default(), None)
        }))
    }
}
