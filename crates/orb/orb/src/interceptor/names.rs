//! The interceptors of an ORB, complete when it has started.

use super::factories::{Factories, PolicyFactory};
use super::ior::IorInterceptor;
use super::slots::SlotId;
use super::traits::{ClientRequestInterceptor, ServerRequestInterceptor};
use crate::exception::{SystemException, SystemExceptionKind as Kind};
use crate::policy::Policy;
use punctual_any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;

/// Another interceptor of the list has the name (`ORBInitInfo::DuplicateName`; CORBA 3.3 part 1, §16.9.2).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is an interceptor `{0}` already")]
pub struct DuplicateName(
    /// The name.
    pub String,
);

impl From<DuplicateName> for SystemException {
    fn from(error: DuplicateName) -> Self {
        Kind::BadParam.because(error.to_string())
    }
}

/// What has a name in a list.
pub(crate) trait Named {
    fn name(&self) -> &str;
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
    /// # Errors
    /// Where another has its name. Those without one do not meet (§16.2.1).
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

/// What was registered.
#[derive(Default)]
pub(crate) struct Registered {
    pub(crate) client: ListOf<dyn ClientRequestInterceptor>,
    pub(crate) server: ListOf<dyn ServerRequestInterceptor>,
    pub(crate) ior: ListOf<dyn IorInterceptor>,
    /// How many slots there are.
    pub(crate) slots: u32,
    pub(super) factories: Factories,
}

impl Registered {
    /// # Errors
    /// BAD_INV_ORDER 16 where the type has a factory already.
    pub(crate) fn add_factory(
        &mut self,
        policy_type: u32,
        factory: Arc<dyn PolicyFactory>,
    ) -> Result<(), SystemException> {
        self.factories.add(policy_type, factory)
    }

    pub(crate) fn allocate_slot(&mut self) -> SlotId {
        self.slots += 1;
        SlotId::new(self.slots - 1)
    }
}

/// The interceptors of an ORB. Before its initialisers are done there are none.
#[derive(Default)]
pub(crate) struct Interceptors(OnceLock<Registered>);

impl Interceptors {
    /// All are registered.
    pub(crate) fn settle(&self, registered: Registered) {
        // An ORB is started once.
        let _ = self.0.set(registered);
    }

    /// Whether calls may go the short way, on which nobody is called: none is registered, and none will be.
    pub(crate) fn leave_calls_alone(&self) -> bool {
        self.0.get().is_some_and(|all| all.client.is_empty())
    }

    /// The same of requests.
    pub(crate) fn leave_requests_alone(&self) -> bool {
        self.0.get().is_some_and(|all| all.server.is_empty())
    }

    pub(crate) fn client(&self) -> &[Arc<dyn ClientRequestInterceptor>] {
        self.0.get().map_or(&[], |all| &all.client)
    }

    pub(crate) fn server(&self) -> &[Arc<dyn ServerRequestInterceptor>] {
        self.0.get().map_or(&[], |all| &all.server)
    }

    pub(crate) fn ior(&self) -> &[Arc<dyn IorInterceptor>] {
        self.0.get().map_or(&[], |all| &all.ior)
    }

    /// A policy that a registered factory makes.
    ///
    /// # Errors
    /// INV_POLICY 3 where there is none, and the factory's.
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

    /// How many slots requests and threads have; `None` before the ORB has started.
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
