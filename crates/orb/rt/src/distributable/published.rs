//! An object by which other processes cancel distributable threads of this one.
//!
//! ```idl
//! module Punctual {
//!   interface DistributableThreads {
//!     typedef sequence<octet> IdType;                  // RTScheduling::Current::IdType
//!     boolean cancel(in IdType id);                    // whether it passes through this process
//!     unsigned long state(in IdType id);               // 0 active, 1 cancelled, 2 not known here
//!   };
//! };
//! ```

use super::dynamic::Dynamic;
use super::registry::{DistributableThread, DistributableThreadId, DistributableThreadState};
use crate::orb::RtOrb;
use punctual_cdr::{Marshal, Unmarshal};
use punctual_orb::{
    DispatchError, Dispatched, Interface, ObjectRef, Operation, Orb, ServerCall, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_poa::{Implements, RootPoa, Servant};
use std::any::Any;
use std::sync::Arc;

/// Client of the object by which another process publishes its distributable threads
/// ([`RtOrb::publish_distributable_threads`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DistributableThreads(ObjectRef);

impl Interface for DistributableThreads {
    const REPOSITORY_ID: &'static str = "IDL:Punctual/DistributableThreads:1.0";
    const REPOSITORY_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

const CANCEL: Operation = Operation::two_way("cancel");
const STATE: Operation = Operation::two_way("state");

impl DistributableThreads {
    /// Cancels a distributable thread in the process that publishes it, as
    /// [`super::DistributableThread::cancel`] does there. Returns `false` if the thread does not
    /// pass through that process.
    ///
    /// # Errors
    /// The failure of the call.
    pub fn cancel(&self, id: DistributableThreadId) -> Result<bool, SystemException> {
        let put = |out: &mut punctual_cdr::Encoder<'_>| out.put_octets(&id.octets());
        self.0.invoke(&CANCEL, put, bool::unmarshal)
    }

    /// Returns the state of a distributable thread in the process that publishes it:
    /// [`DistributableThreadState::Ended`] if the thread does not pass through that process.
    ///
    /// # Errors
    /// The failure of the call.
    pub fn state(
        &self,
        id: DistributableThreadId,
    ) -> Result<DistributableThreadState, SystemException> {
        let put = |out: &mut punctual_cdr::Encoder<'_>| out.put_octets(&id.octets());
        let number = self.0.invoke(&STATE, put, u32::unmarshal)?;
        Ok(match number {
            0 => DistributableThreadState::Active,
            1 => DistributableThreadState::Cancelled,
            _ => DistributableThreadState::Ended,
        })
    }
}

impl RtOrb {
    /// Publishes the distributable threads of this RTORB as an object of an ORB, under a plain
    /// object key: a client finds the object at `corbaloc::host:port/KEY`, and may cancel the
    /// threads whose ids it knows. Every client that reaches the ORB can do so: publish them only
    /// if that is intended.
    ///
    /// # Errors
    /// NO_IMPLEMENT without dynamic scheduling; INITIALIZE when the ORB cannot listen;
    /// BAD_INV_ORDER for a key that is taken, and after a shutdown.
    pub fn publish_distributable_threads(
        self: &Arc<Self>,
        orb: &Orb,
        key: &str,
    ) -> Result<DistributableThreads, SystemException> {
        let dynamic = self.dynamic().ok_or_else(|| {
            Kind::NoImplement
                .because("this RTORB has no dynamic scheduling, and so no such threads")
        })?;
        let here = Here(dynamic.clone());
        let published: DistributableThreads = orb.root_poa()?.activate(here)?;
        orb.ior_table()?.bind(key, published.as_object())?;
        Ok(published)
    }
}

/// Servant that publishes the distributable threads of this process.
struct Here(Arc<Dynamic>);

impl Implements<Here> for DistributableThreads {
    fn servant(here: Here) -> Arc<dyn Servant> {
        Arc::new(here)
    }
}

impl Servant for Here {
    fn repository_ids(&self) -> &'static [&'static str] {
        DistributableThreads::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "cancel" => {
                let thread = self.thread(call)?;
                // A thread that has ended meanwhile is not here either.
                let is_known = thread.is_some_and(|thread| thread.cancel().is_ok());
                call.reply(|out| is_known.marshal(out))
            }
            "state" => {
                let number: u32 = match self.thread(call)?.map(|thread| thread.state()) {
                    Some(DistributableThreadState::Active) => 0,
                    Some(DistributableThreadState::Cancelled) => 1,
                    Some(DistributableThreadState::Ended) | None => 2,
                };
                call.reply(|out| number.marshal(out))
            }
            _ => Err(call.bad_operation()),
        }
    }
}

impl Here {
    /// Returns the distributable thread whose id is the request's argument.
    fn thread(
        &self,
        call: &mut ServerCall<'_>,
    ) -> Result<Option<DistributableThread>, DispatchError> {
        let octets = call.arguments().get_octets()?;
        let id = <[u8; 16]>::try_from(octets).map_err(|_| {
            Kind::BadParam.because(format!(
                "an id of a distributable thread has 16 octets, not {}",
                octets.len()
            ))
        })?;
        Ok(self.0.find(DistributableThreadId::from_octets(id)))
    }
}
