//! The interceptors of an ORB, which do not change after it has started.

use super::factories::{Factories, PolicyFactory};
use super::ior::IorInterceptor;
use super::named::Named;
use super::slots::SlotId;
use super::traits::{ClientRequestInterceptor, ServerRequestInterceptor};
use crate::exception::{SystemException, SystemExceptionKind as Kind};
use crate::policy::Policy;
use punctual_any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;

/// Error for a name that another interceptor of the list already has (`ORBInitInfo::DuplicateName`;
/// CORBA 3.3 part 1, §16.9.2).
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("an interceptor with the name `{0}` exists already")]
pub struct DuplicateName(
    /// Name that another interceptor already has.
    pub String,
);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for DuplicateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<DuplicateName> for SystemException {
    fn from(error: DuplicateName) -> Self {
        Kind::BadParam.because(error.to_string())
    }
}

macro_rules! named {
    ($($interceptor:ident),*) => {$(
        impl Named for dyn $interceptor {
            fn name(&self) -> &str {
                $interceptor::name(self)
            }
        }
    )*};
}

named!(
    ClientRequestInterceptor,
    ServerRequestInterceptor,
    IorInterceptor
);

/// Interceptors of one kind, in the order of their registration.
pub(crate) struct ListOf<I: ?Sized>(Vec<Arc<I>>);

impl<I: ?Sized + Named> ListOf<I> {
    /// Adds an interceptor.
    ///
    /// # Errors
    /// If another interceptor has its name. Interceptors without a name do not conflict (§16.2.1).
    pub(crate) fn add(&mut self, interceptor: Arc<I>) -> Result<(), DuplicateName> {
        let name = interceptor.name();
        if !name.is_empty() && self.0.iter().any(|one| one.name() == name) {
            return Err(DuplicateName(name.to_owned()));
        }
        self.0.push(interceptor);
        Ok(())
    }
}

impl<I: ?Sized> std::ops::Deref for ListOf<I> {
    type Target = [Arc<I>];

    fn deref(&self) -> &[Arc<I>] {
        &self.0
    }
}

impl<I: ?Sized> Default for ListOf<I> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Interceptors and policy factories that the ORB initialisers have registered.
#[derive(Default)]
pub(crate) struct Registered {
    pub(crate) client: ListOf<dyn ClientRequestInterceptor>,
    pub(crate) server: ListOf<dyn ServerRequestInterceptor>,
    pub(crate) ior: ListOf<dyn IorInterceptor>,
    /// Number of `PICurrent` slots that were allocated.
    pub(crate) slots: u32,
    pub(super) factories: Factories,
}

impl Registered {
    /// Adds a policy factory.
    ///
    /// # Errors
    /// BAD_INV_ORDER 16 if the type already has a factory.
    pub(crate) fn add_factory(
        &mut self,
        policy_type: u32,
        factory: Arc<dyn PolicyFactory>,
    ) -> Result<(), SystemException> {
        self.factories.add(policy_type, factory)
    }

    /// Checks that the ORB can have the registered interceptors.
    ///
    /// # Errors
    /// NO_IMPLEMENT if there are some, and the program was built without the feature `interceptors`.
    pub(crate) fn check(&self) -> Result<(), SystemException> {
        let are_none = self.client.is_empty() && self.server.is_empty() && self.ior.is_empty();
        if Interceptors::ARE_BUILT_IN || are_none {
            return Ok(());
        }
        Err(Kind::NoImplement.because(
            "interceptors need the feature `interceptors`, without which this program was built"
                .to_owned(),
        ))
    }

    pub(crate) fn allocate_slot(&mut self) -> SlotId {
        self.slots += 1;
        SlotId::new(self.slots - 1)
    }
}

/// Interceptors of an ORB; empty until its initialisers are done.
#[derive(Default)]
pub(crate) struct Interceptors(OnceLock<Registered>);

impl Interceptors {
    /// True if the ORB can have interceptors. All code that calls them asks this type for its list first, so that
    /// it is left out of programs without the feature.
    pub(crate) const ARE_BUILT_IN: bool = cfg!(feature = "interceptors");

    /// Sets the ORB's interceptors once all of them are registered.
    pub(crate) fn settle(&self, registered: Registered) {
        // An ORB is started once, so the list is not set yet.
        let _ = self.0.set(registered);
    }

    /// Returns whether the ORB's interceptors are known, so that no further one can be registered.
    pub(crate) fn are_settled(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns whether calls are made without interceptors: no client interceptor is registered,
    /// and none can be any more.
    pub(crate) fn leave_calls_alone(&self) -> bool {
        !Self::ARE_BUILT_IN || self.0.get().is_some_and(|all| all.client.is_empty())
    }

    /// Returns whether requests may be served without interceptors: no server interceptor is
    /// registered, and none can be any more.
    pub(crate) fn leave_requests_alone(&self) -> bool {
        !Self::ARE_BUILT_IN || self.0.get().is_some_and(|all| all.server.is_empty())
    }

    pub(crate) fn client(&self) -> &[Arc<dyn ClientRequestInterceptor>] {
        self.built_in().map_or(&[], |all| &all.client)
    }

    pub(crate) fn server(&self) -> &[Arc<dyn ServerRequestInterceptor>] {
        self.built_in().map_or(&[], |all| &all.server)
    }

    pub(crate) fn ior(&self) -> &[Arc<dyn IorInterceptor>] {
        self.built_in().map_or(&[], |all| &all.ior)
    }

    fn built_in(&self) -> Option<&Registered> {
        if Self::ARE_BUILT_IN {
            self.0.get()
        } else {
            None
        }
    }

    /// Returns a policy created by a registered factory.
    ///
    /// # Errors
    /// INV_POLICY 3 if there is no factory for the type; the error of the factory.
    pub(crate) fn make_policy(
        &self,
        policy_type: u32,
        value: &Any,
    ) -> Result<Policy, SystemException> {
        match self.0.get() {
            Some(all) => all.factories.make(policy_type, value),
            None => Factories::default().make(policy_type, value),
        }
    }

    /// Returns the number of slots of requests and threads; `None` before the ORB has started.
    pub(crate) fn slots(&self) -> Option<u32> {
        self.0.get().map(|all| all.slots)
    }
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interceptors")
            .field("client", &self.client().len())
            .field("server", &self.server().len())
            .field("ior", &self.ior().len())
            .finish_non_exhaustive()
    }
}
