//! References of object adapters: references that an adapter creates, forwards by an adapter, and
//! requests that it relays.

use super::interface::Interface;
use super::object::ObjectRef;
use super::places::{profiles_under, reference_to};
use crate::adapter::DispatchError;
use crate::client;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind, minor};
use crate::lane::EndpointSelection;
use crate::orb::Orb;
use crate::relayed::{MAX_HOPS, RelayedReply, RelayedRequest};
use crate::server::ServerCall;
use punctual_ior::{Ior, PolicyValue};

impl Orb {
    /// Creates a reference to an object of this ORB's adapter, with its type and its key, and with
    /// all endpoints at which the ORB listens. For object adapters.
    ///
    /// # Errors
    /// Those of [`Orb::listen`].
    pub fn make_reference(
        &self,
        type_id: &str,
        object_key: &[u8],
    ) -> Result<ObjectRef, SystemException> {
        self.make_reference_with_policies(type_id, object_key, &[])
    }

    /// Creates a reference like [`Orb::make_reference`], with policies that are published to
    /// clients ([`ObjectRef::published_policies`]). Every profile contains them, except those of
    /// GIOP 1.0, which have no components. For object adapters.
    ///
    /// # Errors
    /// Those of [`Orb::listen`], and MARSHAL for policies that are too long.
    pub fn make_reference_with_policies(
        &self,
        type_id: &str,
        object_key: &[u8],
        policies: &[PolicyValue],
    ) -> Result<ObjectRef, SystemException> {
        self.listen()?;
        let lanes = self.lanes();
        let profiles = lanes.profiles(object_key, policies, &[], EndpointSelection::ALL)?;
        Ok(self.reference_with(type_id, profiles))
    }

    /// Creates a reference to an object of this ORB's adapter that clients reach at the endpoints of `place`, an object of
    /// another process which forwards them. For object adapters.
    ///
    /// # Errors
    /// Those of [`ObjectRef::with_object_key`].
    pub fn make_reference_at(
        &self,
        place: &ObjectRef,
        type_id: &str,
        object_key: &[u8],
    ) -> Result<ObjectRef, SystemException> {
        Ok(ObjectRef::made_here(
            self.clone(),
            under(place, object_key, type_id)?,
        ))
    }
}

impl ObjectRef {
    /// Returns a reference to another object at the endpoints of this one, by its object key and its type: the object that
    /// an Implementation Repository forwards to.
    ///
    /// # Errors
    /// INV_OBJREF if this ORB cannot decode any of this reference's profiles.
    pub fn with_object_key(
        &self,
        object_key: &[u8],
        type_id: &str,
    ) -> Result<Self, SystemException> {
        let ior = under(self, object_key, type_id)?;
        Ok(reference_to(self.orb(), ior))
    }
}

fn under(place: &ObjectRef, object_key: &[u8], type_id: &str) -> Result<Ior, SystemException> {
    let profiles = profiles_under(place.orb(), place.ior(), object_key);
    if profiles.is_empty() {
        let kind = SystemExceptionKind::InvObjref;
        let exception = SystemException::new(kind, minor::BAD_REFERENCE, CompletionStatus::No);
        return Err(exception.with_detail("the reference has no profile of this ORB"));
    }
    let type_id = type_id.to_owned();
    Ok(Ior { type_id, profiles })
}

impl DispatchError {
    /// Returns the answer that forwards the caller to another object (LOCATION_FORWARD).
    #[must_use]
    pub fn forward(to: &impl Interface) -> Self {
        Self::Forward(Box::new(to.as_object().ior().clone()))
    }

    /// Returns an answer that forwards the caller permanently (LOCATION_FORWARD_PERM).
    #[must_use]
    pub fn forward_permanently(to: &impl Interface) -> Self {
        Self::ForwardPermanently(Box::new(to.as_object().ior().clone()))
    }
}

impl<'m> ServerCall<'m> {
    /// Returns the ORB that received the call.
    ///
    /// # Panics
    /// Never, as only an ORB receives calls.
    #[must_use]
    pub fn orb(&self) -> &'m Orb {
        let environment: &dyn std::any::Any = self.environment();
        let orb = environment.downcast_ref();
        orb.expect("calls are received by an ORB")
    }
}

impl ObjectRef {
    /// Passes a request on to the object and waits for its reply, which is returned undecoded;
    /// `None` for a request without a reply. Forwards are followed, and other profiles tried, as
    /// for any call. For bridges.
    ///
    /// Blocks until the reply or the call's time-out.
    ///
    /// # Errors
    /// The reason why the request was not answered. IMP_LIMIT and CODESET_INCOMPATIBLE if it cannot
    /// be sent with an unchanged body, because of another GIOP version, other code sets, or a byte
    /// order that the protocol does not have. TRANSIENT if it has passed [`MAX_HOPS`] bridges.
    pub fn relay(
        &self,
        request: &RelayedRequest<'_>,
    ) -> Result<Option<RelayedReply>, SystemException> {
        if request.hops() >= MAX_HOPS {
            let kind = SystemExceptionKind::Transient;
            let exception = SystemException::new(kind, minor::DISCARDED, CompletionStatus::No);
            return Err(exception.with_detail(format!(
                "the request has passed {MAX_HOPS} bridges, perhaps in a loop"
            )));
        }
        client::relay(self.callee(), request)
    }
}
