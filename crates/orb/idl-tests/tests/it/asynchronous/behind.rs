//! Servant that the tests of asynchronous calls call.

use super::generated::asynchronous::{Clerk, ClerkCopiesError, ClerkServant, Refused};
use punctual::SystemException;
use std::collections::HashSet;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Condvar, Mutex};

/// Servant that answers at once, except for `wait_at`, which blocks until another call opens its
/// gate.
#[derive(Debug, Default)]
pub(super) struct Behind {
    rate: AtomicI32,
    open: Mutex<HashSet<String>>,
    opened: Condvar,
}

impl ClerkServant for Behind {
    fn rate(&self) -> Result<i32, SystemException> {
        Ok(self.rate.load(Ordering::Relaxed))
    }

    fn set_rate(&self, value: i32) -> Result<(), SystemException> {
        self.rate.store(value, Ordering::Relaxed);
        Ok(())
    }

    fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(a + b)
    }

    fn copies(&self, text: &str, number: &mut i32) -> Result<(String, bool), ClerkCopiesError> {
        let times = usize::try_from(*number).unwrap_or_default();
        if times == 0 {
            let why = format!("no copies of {text}");
            return Err(Refused { why }.into());
        }
        *number = 0;
        Ok((text.repeat(times), times > 1))
    }

    fn back(&self, data: &[u8]) -> Result<Vec<u8>, SystemException> {
        Ok(data.to_vec())
    }

    fn wait_at(&self, gate: &str) -> Result<i32, SystemException> {
        let open = self.open.lock().unwrap();
        let passed = self.opened.wait_while(open, |open| !open.contains(gate));
        drop(passed.unwrap());
        Ok(i32::try_from(gate.len()).unwrap_or_default())
    }

    fn open(&self, gate: &str) -> Result<(), SystemException> {
        self.open.lock().unwrap().insert(gate.to_owned());
        self.opened.notify_all();
        Ok(())
    }

    fn self_or_nil(&self, other: Option<&Clerk>) -> Result<Option<Clerk>, SystemException> {
        Ok(other.cloned())
    }

    fn stumble(&self) -> Result<(), SystemException> {
        panic!("on purpose")
    }

    fn note(&self, _: &str) -> Result<(), SystemException> {
        Ok(())
    }
}
