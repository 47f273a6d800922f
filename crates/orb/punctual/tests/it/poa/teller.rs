//! Interface whose servants run closures, and two ORBs.

use super::support::{Watchdog, watchdog};
use punctual::config::Concurrency;
use punctual::poa::{Current, PoaPolicy};
use punctual::stub::{
    Arc, DispatchError, Dispatched, Identity, Implements, Marshal, Operation, Servant, ServerCall,
    Unmarshal,
};
use punctual::{
    Interface, ListenEndpoint, ObjectId, ObjectRef, Orb, OrbConfig, Poa, RootPoa, SystemException,
    SystemExceptionKind,
};
use std::any::Any;
use std::time::Duration;

/// Reference to an object with the test interface `Teller`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Teller(ObjectRef);

impl Interface for Teller {
    const REPOSITORY_ID: &'static str = "IDL:test/Teller:1.0";
    const REPOSITORY_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

impl Teller {
    /// Calls `tell`; returns the text of the object's servant.
    pub fn tell(&self) -> Result<String, SystemException> {
        const OPERATION: Operation = Operation::two_way("tell");
        self.0.invoke(&OPERATION, |_| Ok(()), String::unmarshal)
    }

    /// Returns the servant's text, from an operation that marks the text.
    pub fn tell_again(&self) -> Result<String, SystemException> {
        const OPERATION: Operation = Operation::two_way("tell_again");
        self.0.invoke(&OPERATION, |_| Ok(()), String::unmarshal)
    }

    /// Calls an operation that the interface does not have.
    pub fn be_quiet(&self) -> Result<(), SystemException> {
        const OPERATION: Operation = Operation::two_way("be_quiet");
        self.0.invoke(&OPERATION, |_| Ok(()), |_| Ok(()))
    }

    /// Calls `tell`, which must fail; returns the kind of system exception that is raised.
    pub fn fails(&self) -> SystemExceptionKind {
        self.tell().unwrap_err().kind()
    }
}

type Tale = dyn Fn() -> Result<String, SystemException> + Send + Sync;

/// Servant for the test interface of [`Teller`].
pub struct TellerImpl(Box<Tale>);

/// Makes a servant that always returns the same text.
pub fn saying(what: &str) -> Arc<TellerImpl> {
    let what = what.to_owned();
    telling(move || Ok(what.clone()))
}

/// Makes a `Teller` servant that returns the result of the closure.
pub fn telling(
    tale: impl Fn() -> Result<String, SystemException> + Send + Sync + 'static,
) -> Arc<TellerImpl> {
    Arc::new(TellerImpl(Box::new(tale)))
}

/// Makes a servant that returns the id of the called object.
pub fn telling_ids() -> Arc<TellerImpl> {
    telling(|| Ok(Current.object_id().unwrap().to_string()))
}

impl Implements<Arc<TellerImpl>> for Teller {
    fn servant(servant: Arc<TellerImpl>) -> Arc<dyn Servant> {
        Arc::new(Skeleton(servant))
    }
}

/// Wraps an implementation of `Teller` as a servant that can be activated.
pub fn servant(implementation: &Arc<TellerImpl>) -> Arc<dyn Servant> {
    Teller::servant(implementation.clone())
}

struct Skeleton(Arc<TellerImpl>);

impl Servant for Skeleton {
    fn repository_ids(&self) -> &'static [&'static str] {
        Teller::REPOSITORY_IDS
    }

    fn identity(&self) -> Identity {
        Identity::of::<Teller, _>(&*self.0)
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        &self.0
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "tell" => self.upcall(0, call),
            "tell_again" => self.upcall(1, call),
            _ => Err(call.bad_operation()),
        }
    }

    fn operations(&self) -> &'static [&'static str] {
        &["tell", "tell_again"]
    }

    fn upcall(
        &self,
        operation: usize,
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        let told = (self.0.0)()?;
        match operation {
            0 => call.reply(|out| told.marshal(out)),
            _ => call.reply(|out| format!("again: {told}").marshal(out)),
        }
    }
}

/// Server and client for a test, with a watchdog that ends a test that hangs.
pub struct World {
    pub server: Orb,
    pub client: Orb,
    pub root: Poa,
    _watchdog: Watchdog,
}

impl World {
    pub fn new() -> Self {
        Self::at(0)
    }

    /// Makes a server at this port (0 for any) and a client.
    pub fn at(port: u16) -> Self {
        Self::with(port, |_| {})
    }

    /// Makes a server in which one thread serves all connections, and a client.
    pub fn reactive() -> Self {
        Self::with(0, |config| config.concurrency = Concurrency::Reactive)
    }

    fn with(port: u16, configure: impl FnOnce(&mut OrbConfig)) -> Self {
        let server = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", port))
            .configure(configure)
            .build()
            .unwrap();
        let root = server.root_poa().unwrap();
        root.manager().activate().unwrap();
        Self {
            server,
            client: Orb::builder().build().unwrap(),
            root,
            _watchdog: watchdog(Duration::from_secs(60)),
        }
    }

    /// Makes a child of the root POA with the root POA's manager.
    pub fn poa(&self, name: &str, policies: &[PoaPolicy]) -> Poa {
        let manager = self.root.manager();
        self.root.create_poa(name, Some(manager), policies).unwrap()
    }

    /// Returns the client's reference to an object of the server.
    pub fn seen(&self, reference: &Teller) -> Teller {
        let text = self.server.object_to_string(reference).unwrap();
        Teller::from_object(self.client.string_to_object(&text).unwrap())
    }

    /// Returns the client's reference to the object with this id.
    pub fn named(&self, poa: &Poa, id: &str) -> Teller {
        let id = ObjectId::from(id);
        self.seen(&poa.create_reference_with_id(&id).unwrap())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

pub mod policies {
    //! Policies under the standard's names for their values.
    use punctual::poa::{
        IdAssignmentPolicy, IdUniquenessPolicy, ImplicitActivationPolicy, LifespanPolicy,
        PoaPolicy, RequestProcessingPolicy, ServantRetentionPolicy, ThreadPolicy,
    };

    pub const SINGLE_THREAD: PoaPolicy = PoaPolicy::Thread(ThreadPolicy::SingleThread);
    pub const MAIN_THREAD: PoaPolicy = PoaPolicy::Thread(ThreadPolicy::MainThread);
    pub const PERSISTENT: PoaPolicy = PoaPolicy::Lifespan(LifespanPolicy::Persistent);
    pub const MULTIPLE_ID: PoaPolicy = PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple);
    pub const USER_ID: PoaPolicy = PoaPolicy::IdAssignment(IdAssignmentPolicy::User);
    pub const IMPLICIT: PoaPolicy =
        PoaPolicy::ImplicitActivation(ImplicitActivationPolicy::Implicit);
    pub const NON_RETAIN: PoaPolicy =
        PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain);
    pub const DEFAULT_SERVANT: PoaPolicy =
        PoaPolicy::RequestProcessing(RequestProcessingPolicy::DefaultServant);
    pub const SERVANT_MANAGER: PoaPolicy =
        PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager);
}
