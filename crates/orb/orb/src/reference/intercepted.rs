//! Conversion of IORs to references in the interfaces of interceptors and initialisers, and
//! stand-in objects.

use super::interface::AsObject;
use super::object::ObjectRef;
use crate::adapter::Collocated;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::interceptor::{ClientRequestInfo, InterceptorError, ServerRequestInfo};
use crate::orb::{MakeProxy, Orb, OrbInitInfo};
use crate::profile::Origin;
use punctual_cdr::Environment;
use punctual_ior::Ior;
use std::any::Any;
use std::sync::Arc;

/// Creates a reference from an IOR, in the ORB that `environment` belongs to.
///
/// # Errors
/// INTERNAL if the environment does not belong to an ORB.
fn reference(environment: &dyn Environment, ior: &Ior) -> Result<ObjectRef, SystemException> {
    let environment: &dyn Any = environment;
    let orb = environment.downcast_ref::<Orb>().ok_or_else(|| {
        SystemException::new(
            Kind::Internal,
            minor::BROKEN_INVARIANT,
            CompletionStatus::No,
        )
        .with_detail("a request without its ORB")
    })?;
    let origin = orb.reads_from();
    Ok(ObjectRef::new(
        orb.for_messages_from(Origin::ThisHost),
        ior.clone(),
        origin,
    ))
}

impl Orb {
    /// Redirects calls through references of an interface to the object that `make` creates for
    /// each reference; `make` receives the original reference. For object adapters.
    pub fn stand_in_for(
        &self,
        repository_id: &str,
        make: impl Fn(ObjectRef) -> Arc<dyn Collocated> + Send + Sync + 'static,
    ) {
        let make: Arc<MakeProxy> = Arc::new(move |real| make(ObjectRef::past_proxies(real)));
        self.make_proxies(repository_id, make);
    }
}

impl InterceptorError {
    /// Returns an error that forwards the call to this object (`ForwardRequest`; CORBA 3.3 part 1,
    /// §16.3.12). For nil, returns the error INV_OBJREF.
    #[must_use]
    pub fn forward(to: &impl AsObject) -> Self {
        match to.object() {
            Some(object) => Self::ForwardRequest(Box::new(object.ior().clone())),
            None => SystemException::new(Kind::InvObjref, minor::NIL, CompletionStatus::No)
                .with_detail("a call cannot be forwarded to nil")
                .into(),
        }
    }
}

impl ClientRequestInfo<'_> {
    /// Returns the reference on which the call was made.
    ///
    /// # Errors
    /// INTERNAL if the call does not belong to an ORB.
    pub fn target(&self) -> Result<ObjectRef, SystemException> {
        reference(self.environment(), self.target_ior())
    }

    /// Returns the reference to which the request is sent: the target, or the reference to which
    /// the call was forwarded.
    ///
    /// # Errors
    /// As [`ClientRequestInfo::target`].
    pub fn effective_target(&self) -> Result<ObjectRef, SystemException> {
        reference(self.environment(), self.effective_target_ior())
    }

    /// Returns the reference to which the call is forwarded.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 except at `receive_other` of a call that is forwarded.
    pub fn forward_reference(&self) -> Result<ObjectRef, SystemException> {
        reference(self.environment(), self.forwarded_to()?)
    }
}

impl ServerRequestInfo<'_> {
    /// Returns the reference to which the caller is forwarded.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 except at `send_other` of a request whose caller is forwarded.
    pub fn forward_reference(&self) -> Result<ObjectRef, SystemException> {
        reference(self.environment(), self.forwarded_to()?)
    }
}

impl OrbInitInfo<'_> {
    /// Registers an object under a name that is not yet in use.
    ///
    /// # Errors
    /// BAD_PARAM if the name is in use (`InvalidName`); BAD_PARAM 27 for nil.
    pub fn register_initial_reference(
        &mut self,
        name: &str,
        object: &impl AsObject,
    ) -> Result<(), SystemException> {
        if name.is_empty()
            || self
                .orb
                .list_initial_services()
                .iter()
                .any(|one| one == name)
        {
            return Err(Kind::BadParam.because(format!(
                "the initial reference `{name}` cannot be registered: the name is empty or taken"
            )));
        }
        self.orb.register_initial_reference(name, object)
    }

    /// Returns the object registered under a name, once `pre_init` of all initialisers has been
    /// called.
    ///
    /// # Errors
    /// BAD_INV_ORDER in `pre_init`; the errors of [`Orb::resolve_initial_references`].
    pub fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, SystemException> {
        if !self.is_post_init {
            return Err(Kind::BadInvOrder
                .because("initial references are resolved in post_init, when all are registered"));
        }
        self.orb.resolve_initial_references(name)
    }
}
