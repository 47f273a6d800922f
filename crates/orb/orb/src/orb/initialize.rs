//! Initialisers: they register interceptors and other parts of an ORB at its start (CORBA 3.3 part
//! 1, §16.9).
//!
//! They run before the new ORB is returned to the program: first [`OrbInitializer::pre_init`] of
//! each, then [`OrbInitializer::post_init`] of each. After that, nothing more can be registered.

use super::handle::Orb;
use crate::exception::SystemException;
#[cfg(not(feature = "interceptors"))]
use crate::exception::SystemExceptionKind;
#[cfg(feature = "interceptors")]
use crate::interceptor::ValueTrace;
use crate::interceptor::{
    ClientRequestInterceptor, DuplicateName, IorInterceptor, PolicyFactory, Registered,
    ServerRequestInterceptor, SlotId,
};
use std::fmt;
use std::sync::Arc;

/// Object that takes part in the start of an ORB ([`crate::OrbBuilder::initializer`]).
pub trait OrbInitializer: Send + Sync {
    /// Called before initial references can be resolved, so that the initialiser can register those
    /// that others will resolve.
    ///
    /// # Errors
    /// A system exception, with which the start of the ORB fails.
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// Called when initial references can be resolved.
    ///
    /// # Errors
    /// A system exception, with which the start of the ORB fails.
    fn post_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }
}

/// Interface of the starting ORB for its initialisers (`ORBInitInfo`; §16.9.2).
pub struct OrbInitInfo<'o> {
    pub(crate) orb: &'o Orb,
    arguments: &'o [String],
    registered: Registered,
    /// True if initialisers may already resolve initial references (`post_init`).
    pub(crate) is_post_init: bool,
}

impl OrbInitInfo<'_> {
    /// Returns the arguments of `Orb::init` without the ORB's own options; empty if the ORB was
    /// started without arguments.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        self.arguments
    }

    /// Returns the id of the starting ORB ([`crate::OrbBuilder::orb_id`]).
    #[must_use]
    pub fn orb_id(&self) -> &str {
        self.orb.broker().ids().orb
    }

    /// Returns the ORB. Calls made through it during the start bypass the interceptors.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        self.orb
    }

    /// Adds a client request interceptor after the existing ones.
    ///
    /// # Errors
    /// [`DuplicateName`].
    pub fn add_client_request_interceptor(
        &mut self,
        interceptor: Arc<dyn ClientRequestInterceptor>,
    ) -> Result<(), DuplicateName> {
        self.registered.client.add(interceptor)
    }

    /// Adds a server request interceptor after the existing ones.
    ///
    /// # Errors
    /// [`DuplicateName`].
    pub fn add_server_request_interceptor(
        &mut self,
        interceptor: Arc<dyn ServerRequestInterceptor>,
    ) -> Result<(), DuplicateName> {
        self.registered.server.add(interceptor)
    }

    /// Adds an IOR interceptor, which is called for each new object adapter, after the existing
    /// ones.
    ///
    /// # Errors
    /// [`DuplicateName`].
    pub fn add_ior_interceptor(
        &mut self,
        interceptor: Arc<dyn IorInterceptor>,
    ) -> Result<(), DuplicateName> {
        self.registered.ior.add(interceptor)
    }

    /// Allocates a slot for requests and threads ([`crate::PiCurrent`]).
    pub fn allocate_slot_id(&mut self) -> SlotId {
        self.registered.allocate_slot()
    }

    /// Registers the factory that creates the policies of a type for [`Orb::create_policy`].
    ///
    /// # Errors
    /// BAD_INV_ORDER 16 if the type already has a factory.
    pub fn register_policy_factory(
        &mut self,
        policy_type: u32,
        factory: Arc<dyn PolicyFactory>,
    ) -> Result<(), SystemException> {
        self.registered.add_factory(policy_type, factory)
    }
}

impl fmt::Debug for OrbInitInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrbInitInfo")
            .field("orb", self.orb)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

/// Initialisers of an ORB, in the order in which they run.
#[derive(Default)]
pub(super) struct Initializers(Vec<Arc<dyn OrbInitializer>>);

impl Initializers {
    pub(super) fn add(&mut self, initializer: Arc<dyn OrbInitializer>) {
        self.0.push(initializer);
    }

    /// Runs the initialisers, and passes to the ORB what they have registered.
    pub(super) fn initialize(
        &self,
        orb: &Orb,
        arguments: &[String],
    ) -> Result<(), SystemException> {
        let mut info = OrbInitInfo {
            orb,
            arguments,
            registered: Registered::default(),
            is_post_init: false,
        };
        let mut each = self.0.iter();
        each.try_for_each(|one| one.pre_init(&mut info))?;
        info.is_post_init = true;
        let mut each = self.0.iter();
        each.try_for_each(|one| one.post_init(&mut info))?;
        if orb.config().trace.payload {
            trace_values(&mut info.registered)?;
        }
        info.registered.check()?;
        orb.broker().interceptors.settle(info.registered);
        Ok(())
    }
}

/// Adds the interceptor that traces values, after all other interceptors.
#[cfg(feature = "interceptors")]
fn trace_values(registered: &mut Registered) -> Result<(), SystemException> {
    registered.client.add(Arc::new(ValueTrace))?;
    registered.server.add(Arc::new(ValueTrace))?;
    Ok(())
}

/// Refuses the trace of values, which is an interceptor.
#[cfg(not(feature = "interceptors"))]
fn trace_values(_registered: &mut Registered) -> Result<(), SystemException> {
    Err(SystemExceptionKind::NoImplement.because(
        "the trace of payloads needs the feature `interceptors`, without which this program was built".to_owned(),
    ))
}

impl fmt::Debug for Initializers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} initialisers", self.0.len())
    }
}

/// ORB initialiser that adds one interceptor to the starting ORB.
pub(super) enum Adds {
    Client(Arc<dyn ClientRequestInterceptor>),
    Server(Arc<dyn ServerRequestInterceptor>),
    Ior(Arc<dyn IorInterceptor>),
}

impl OrbInitializer for Adds {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        match self {
            Self::Client(one) => info.add_client_request_interceptor(one.clone())?,
            Self::Server(one) => info.add_server_request_interceptor(one.clone())?,
            Self::Ior(one) => info.add_ior_interceptor(one.clone())?,
        }
        Ok(())
    }
}
