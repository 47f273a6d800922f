//! Object references: what a client holds, and what can be asked of any object.

mod interface;
mod stringify;
mod target;

pub use interface::{AsObject, Interface, UserException};
pub(crate) use target::Target;

use crate::client::{self, Call, Operation, ReplyOutcome};
use crate::exception::{CompletionStatus, SystemException, cdr_exception};
use crate::orb::Orb;
use arc_swap::ArcSwapOption;
use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, Nilable, Unmarshal};
use punctual_ior::Ior;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
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
    original: Arc<Target>,
    /// Where the server has forwarded us to, until that fails.
    forwarded: ArcSwapOption<Target>,
}

impl ObjectRef {
    /// The reference that an IOR describes.
    pub(crate) fn new(orb: Orb, ior: Ior) -> Self {
        let original = Arc::new(Target::new(ior));
        let shared = Shared {
            orb,
            original,
            forwarded: ArcSwapOption::empty(),
        };
        Self {
            shared: Arc::new(shared),
            timeout: None,
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
            || self.shared.original.identity() == other.shared.original.identity()
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
        operation: &Operation,
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
        operation: &Operation,
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
        match Call::invoke(self, operation, &arguments)? {
            ReplyOutcome::Results(reply) => {
                results(&mut reply.decoder()).map_err(|error| unreadable(error).into())
            }
            ReplyOutcome::UserException(reply) => {
                let mut decoder = reply.decoder();
                let id = decoder.get_string().map_err(unreadable)?;
                match exceptions(&id, &mut decoder).map_err(unreadable)? {
                    Some(exception) => Err(exception),
                    None => Err(client::unlisted(&id).into()),
                }
            }
            _ => Err(client::out_of_place().into()),
        }
    }

    /// Makes a one-way call: returns when the transport has taken it. For generated stubs.
    ///
    /// # Errors
    /// What kept it from being sent.
    pub fn send(
        &self,
        operation: &Operation,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        Call::send(self, operation, &arguments)
    }

    pub(crate) fn call_timeout(&self) -> Option<Duration> {
        self.timeout.or(self.orb().config().timeouts.call)
    }

    /// Where calls go now, and whether a forward led there.
    pub(crate) fn target(&self) -> (Arc<Target>, bool) {
        match self.shared.forwarded.load_full() {
            Some(target) => (target, true),
            None => (self.shared.original.clone(), false),
        }
    }

    /// Sends later calls elsewhere.
    pub(crate) fn forward(&self, to: Ior) {
        self.shared.forwarded.store(Some(Arc::new(Target::new(to))));
    }

    /// Forgets the forward.
    pub(crate) fn unforward(&self) {
        self.shared.forwarded.store(None);
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
        self.shared.original.identity().hash(state);
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectRef({} {})", self.type_id(), self.shared.original)
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
