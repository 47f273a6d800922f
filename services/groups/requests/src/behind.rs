//! The two objects of a member: the one that clients call, and the one behind it, which runs requests from records.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use punctual::poa::{DispatchError, Dispatched, IdAssignmentPolicy, PoaPolicy, ServerCall};
use punctual::{ObjectId, ObjectRef, Poa, Servant, SystemException, SystemExceptionKind as Kind};

use crate::pace::Pace;
use crate::replies::{Bound, Replies};
use crate::runner::{DAY, Runner};

/// Objects of a member, in a POA of their own.
#[derive(Debug)]
pub struct Behind {
    poa: Poa,
    servant: ObjectRef,
    id: ObjectId,
    was_reached: Arc<AtomicBool>,
}

impl Behind {
    /// Activates a servant behind the object that clients call, in a POA with a random name that begins with `name`.
    ///
    /// # Errors
    /// INITIALIZE if the adapter cannot be made, or there are no random numbers.
    pub fn activate(
        parent: &Poa,
        name: &str,
        servant: Arc<dyn Servant>,
    ) -> Result<Self, SystemException> {
        let random = || random().map_err(failed);
        let name = format!("{name}-{:016x}", random()?);
        let policies = [PoaPolicy::IdAssignment(IdAssignmentPolicy::User)];
        let poa = parent.create_poa(&name, None, &policies).map_err(failed)?;
        // No client can guess the way past the front.
        let (high, low) = (random()?, random()?);
        let secret = [high.to_be_bytes(), low.to_be_bytes()].concat();
        let id = ObjectId::from(&secret[..]);
        let was_reached = Arc::new(AtomicBool::new(false));
        let behind = Noting {
            servant,
            was_reached: was_reached.clone(),
        };
        let servant = activate(&poa, &id, Arc::new(behind))?.with_timeout(DAY);
        poa.manager().activate().map_err(failed)?;
        Ok(Self {
            poa,
            servant,
            id,
            was_reached,
        })
    }

    /// Activates the servant that clients call, and returns its object. Once.
    ///
    /// # Errors
    /// INITIALIZE if there is one already.
    pub fn activate_front(&self, front: Arc<dyn Servant>) -> Result<ObjectRef, SystemException> {
        activate(&self.poa, &ObjectId::from("member".as_bytes()), front)
    }

    /// Returns the object behind it.
    #[must_use]
    pub fn servant(&self) -> &ObjectRef {
        &self.servant
    }

    /// Returns what runs requests on the servant, one at a time: there is one of them. It keeps so many replies, of all clients and of
    /// each one, and tries a request for this time that the ORB does not pass to the servant.
    #[must_use]
    pub fn runner(&self, most: Bound, most_of_client: Bound, reached_within: Duration) -> Runner {
        Runner {
            behind: self.servant.clone(),
            was_reached: self.was_reached.clone(),
            on_terms: Default::default(),
            within: reached_within,
            replies: Replies::at_most(most, most_of_client),
            pace: Pace::default(),
        }
    }
}

/// The object that clients call stays: it leads them to other members. The other one is not called any more.
impl Drop for Behind {
    fn drop(&mut self) {
        let _is_gone = self.poa.deactivate_object(&self.id);
    }
}

fn activate(
    poa: &Poa,
    id: &ObjectId,
    servant: Arc<dyn Servant>,
) -> Result<ObjectRef, SystemException> {
    poa.activate_object_with_id(id, servant).map_err(failed)?;
    poa.id_to_reference(id).map_err(failed)
}

fn failed(error: impl fmt::Display) -> SystemException {
    Kind::Initialize.because(error.to_string())
}

fn random() -> Result<u64, getrandom::Error> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)?;
    Ok(u64::from_be_bytes(bytes))
}

/// Servant that notes that a request has reached it.
struct Noting {
    servant: Arc<dyn Servant>,
    was_reached: Arc<AtomicBool>,
}

impl Servant for Noting {
    fn repository_ids(&self) -> &'static [&'static str] {
        self.servant.repository_ids()
    }

    fn primary_interface(&self) -> Cow<'_, str> {
        self.servant.primary_interface()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.servant.is_a(repository_id)
    }

    fn is_dynamic(&self) -> bool {
        self.servant.is_dynamic()
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        self.was_reached.store(true, Ordering::Release);
        self.servant.dispatch(call)
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self.servant.implementation()
    }
}
