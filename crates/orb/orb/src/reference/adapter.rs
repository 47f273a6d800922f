//! References of object adapters: references that an adapter creates, forwards by an adapter, and
//! requests that it relays.

use super::interface::Interface;
use super::object::ObjectRef;
use crate::adapter::DispatchError;
use crate::client;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind, minor};
use crate::lane::EndpointSelection;
use crate::orb::Orb;
use crate::relayed::{MAX_HOPS, RelayedReply, RelayedRequest};
use crate::server::ServerCall;
use punctual_ior::PolicyValue;

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
