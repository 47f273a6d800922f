//! The slots of the calling thread (`PortableInterceptor::Current`; CORBA 3.3 part 1, §16.4).

use super::handle::Orb;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::interceptor::{SlotId, ThreadSlots};
use crate::policy::Policy;
use punctual_any::Any;
use std::fmt;

/// Access to the calling thread's slots of an ORB. Client interceptors of the thread's calls can
/// read their values; in an upcall, they have the values that server interceptors have set.
pub struct PiCurrent<'o>(&'o Orb);

impl PiCurrent<'_> {
    /// Returns the value of a slot; an Any without a value if it was not set.
    ///
    /// # Errors
    /// BAD_PARAM for a slot that was not allocated (`InvalidSlot`); BAD_INV_ORDER 10 while the ORB
    /// starts.
    pub fn get_slot(&self, slot: SlotId) -> Result<Any, SystemException> {
        let count = self.count()?;
        let value = self.slots().with(|slots| match slots {
            Some(slots) => slots.get(slot, count),
            None => crate::interceptor::Slots::default().get(slot, count),
        });
        Ok(value?)
    }

    /// Sets the value of a slot.
    ///
    /// # Errors
    /// As [`PiCurrent::get_slot`].
    pub fn set_slot(&self, slot: SlotId, value: Any) -> Result<(), SystemException> {
        Ok(self.slots().set(slot, self.count()?, value)?)
    }

    fn slots(&self) -> ThreadSlots {
        ThreadSlots {
            orb: self.0.broker().number(),
        }
    }

    fn count(&self) -> Result<u32, SystemException> {
        self.0.broker().interceptors.slots().ok_or_else(|| {
            SystemException::new(
                Kind::BadInvOrder,
                minor::SLOTS_BEFORE_START,
                CompletionStatus::No,
            )
            .with_detail("the ORB has not started, so that it has no slots yet")
        })
    }
}

impl fmt::Debug for PiCurrent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PiCurrent")
    }
}

impl Orb {
    /// Returns the `PICurrent`, which gives access to the calling thread's slots.
    #[must_use]
    pub fn pi_current(&self) -> PiCurrent<'_> {
        PiCurrent(self)
    }

    /// Creates a policy of a type for which an initialiser has registered a factory
    /// (`ORB::create_policy`; CORBA 3.3 part 1, §8.3.9).
    ///
    /// # Errors
    /// INV_POLICY 3 if no factory is registered for the type; the error of the factory.
    pub fn create_policy(&self, policy_type: u32, value: &Any) -> Result<Policy, SystemException> {
        self.broker().interceptors.make_policy(policy_type, value)
    }
}
