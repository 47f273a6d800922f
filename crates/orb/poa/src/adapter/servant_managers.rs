//! Servants that are made on demand (CORBA 3.3 part 1, §15.3.5 and §15.3.6).

use super::request::Request;
use super::serve::destroyed;
use super::types::{Adapter, ServantManager};
use crate::current::{self, UpcallScope};
use crate::manager::inactive;
use crate::object_id::ObjectId;
use crate::object_map::{ActiveMap, Lookup, Refused};
use punctual_orb::{
    CompletionStatus, DispatchError, SystemException, SystemExceptionKind as Kind, minor,
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;

impl Adapter {
    /// Asks the servant activator for the servant of an inactive object; returns at once if the
    /// object has become active meanwhile.
    pub(super) fn incarnate(&self, map: &ActiveMap, id: &[u8]) -> Result<(), DispatchError> {
        let Some(ServantManager::Activator(activator)) = self.servant_manager() else {
            return Err(no_servant_manager().into());
        };
        let poa = self.poa().ok_or_else(no_servant_manager)?;
        let Some(_locked) = self.servants.incarnations.lock(id) else {
            return Err(calls_itself().into());
        };
        if let Lookup::Pinned(_) = map.find(id, None) {
            return Ok(());
        }
        let id = &ObjectId::from(id);
        let servant = activator.incarnate(id, &poa)?;
        let own = || self.own.of_activated(id.as_bytes(), None);
        match map.activate_under(Some(id.as_bytes()), servant.clone(), own) {
            Ok(entry_id) if self.servants.all_given_back.load(Ordering::SeqCst) => {
                // All servants have been given back meanwhile, and so must this one.
                map.deactivate(entry_id);
                Err(inactive().into())
            }
            // The activator may have activated the object itself.
            Ok(_) | Err(Refused::ObjectAlreadyActive | Refused::Closing) => Ok(()),
            Err(Refused::Gone) => {
                self.release_servant(id, servant, false);
                Err(destroyed().into())
            }
            Err(Refused::ServantAlreadyActive(_)) => Err(violation(
                "the servant activator gave a servant that incarnates another object, which UNIQUE_ID forbids",
            )
            .into()),
            Err(Refused::Full) => Err(violation("the active object map is full").into()),
            Err(Refused::OwnPolicyDiffers) => {
                Err(violation("references to the object carry another policy of its own").into())
            }
            Err(Refused::NotInTheSet) => Err(violation(
                "the id is not in the set of the perfect hash",
            )
            .into()),
        }
    }

    /// Waits until the object's deactivation has ended, so that it can be activated again.
    pub(super) fn wait_while_closing(
        &self,
        map: &ActiveMap,
        id: &[u8],
    ) -> Result<(), SystemException> {
        if current::is_in_upcall_on(self.id(), id) {
            return Err(calls_itself());
        }
        map.wait_while_closing(id);
        Ok(())
    }

    /// Serves a request by the servant that the locator provides for it.
    pub(super) fn serve_located<R: Request>(
        &self,
        id: &[u8],
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        let Some(ServantManager::Locator(locator)) = self.servant_manager() else {
            return Err(no_servant_manager().into());
        };
        let poa = self.poa().ok_or_else(no_servant_manager)?;
        let (octets, id) = (id, ObjectId::from(id));
        let operation = request.operation().to_owned();
        let (servant, cookie) = locator.preinvoke(&id, &poa, &operation)?;
        let own = self.own.remembered(octets);
        let current = UpcallScope::enter(self.id(), octets, Some(&servant));
        let parts = (&servant, own.as_deref());
        let answered = catch_unwind(AssertUnwindSafe(|| self.upcall(parts, request)));
        drop(current);
        // The call is made whatever the outcome of the request.
        let after = locator.postinvoke(&id, &poa, &operation, cookie, servant);
        match answered {
            Ok(answered) => {
                let done = answered?;
                after?;
                Ok(done)
            }
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Returns the error for a call of an object from the code that is activating or deactivating it:
/// the call would wait for itself.
fn calls_itself() -> SystemException {
    SystemException::new(Kind::Transient, minor::DISCARDED, CompletionStatus::No).with_detail(
        "the calling thread is itself activating or deactivating the object, and would wait for itself",
    )
}

fn no_servant_manager() -> SystemException {
    SystemException::new(Kind::ObjAdapter, minor::omg(4), CompletionStatus::No)
        .with_detail("the POA has no servant manager of the kind that its policies ask for")
}

fn violation(why: &str) -> SystemException {
    SystemException::new(Kind::ObjAdapter, minor::omg(5), CompletionStatus::No).with_detail(why)
}
