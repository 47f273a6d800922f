//! References in the interfaces of interceptors and initialisers, and stand-ins for references.

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

/// Creates a reference from an IOR, in the ORB that `environment` is.
///
/// # Errors
/// INTERNAL if the environment is no ORB.
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
    /// each; it is given the original reference. For adapters.
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
    /// §16.3.12). Nil is INV_OBJREF.
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
    /// Returns the reference that is called.
    ///
    /// # Errors
    /// INTERNAL if the call does not belong to an ORB.
    pub fn target(&self) -> Result<ObjectRef, SystemException> {
        reference(self.environment(), self.target_ior())
    }

    /// Returns the reference that the call goes to: the target, or the reference that it was
    /// forwarded to.
    ///
    /// # Errors
    /// As [`ClientRequestInfo::target`].
    pub fn effective_target(&self) -> Result<ObjectRef, SystemException> {
        reference(self.environment(), self.effective_target_ior())
    }

    /// Returns the reference that the call is forwarded to.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 but at `receive_other` of a call that is forwarded.
    pub fn forward_reference(&self) -> Result<ObjectRef, SystemException> {
        reference(self.environment(), self.forwarded_to()?)
    }
}

impl ServerRequestInfo<'_> {
    /// Returns the reference that the caller is forwarded to.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 but at `send_other` of a request whose caller is forwarded.
    pub fn forward_reference(&self) -> Result<ObjectRef, SystemException> {
        reference(self.environment(), self.forwarded_to()?)
    }
}

impl OrbInitInfo<'_> {
    /// Registers an object under a name that has none yet.
    ///
    /// # Errors
    /// BAD_PARAM where the name is taken (`InvalidName`); BAD_PARAM 27 for nil.
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

    /// Returns the object of a name, once all initialisers have had their `pre_init`.
    ///
    /// # Errors
    /// BAD_INV_ORDER in `pre_init`; those of [`Orb::resolve_initial_references`].
    pub fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, SystemException> {
        if !self.is_post_init {
            return Err(Kind::BadInvOrder
                .because("initial references are resolved in post_init, when all are registered"));
        }
        self.orb.resolve_initial_references(name)
    }
}
