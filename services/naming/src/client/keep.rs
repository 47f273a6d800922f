//! A name that stays bound, whatever becomes of the naming service.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use punctual::{Interface, ObjectRef, SystemException};
use punctual_exec::thread::{JoinHandle, ThreadSpec};

use super::Names;
use crate::cos_naming::NamingContextResolveError;

/// A name that is bound again when the naming service has lost it: one that was started again without a store, or with
/// an older one. One that is bound to something else meanwhile is left to that.
///
/// A thread of its own looks at the name again and again, until this is dropped. The binding stays then.
#[derive(Debug)]
pub struct Kept {
    end: Arc<End>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct End {
    has_come: Mutex<bool>,
    changed: Condvar,
}

impl Names {
    /// Binds a name to an object, in place of what it was bound to, and keeps it bound: looks at it after each
    /// `interval`. A naming service that cannot be reached, now too, is tried again.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub fn keep_bound(
        self,
        name: &str,
        object: &impl Interface,
        interval: Duration,
    ) -> Result<Kept, SystemException> {
        let end = Arc::new(End::default());
        let (name, object) = (name.to_owned(), object.as_object().clone());
        let ends = end.clone();
        let keep = move || {
            let mut is_bound = self.first(&name, &object);
            while !ends.wait(interval) {
                is_bound = match is_bound {
                    true => self.again(&name, &object),
                    false => self.first(&name, &object),
                };
            }
        };
        let thread = ThreadSpec::named("naming-keeper").start(keep);
        let thread = thread.map_err(|error| {
            punctual::SystemExceptionKind::NoResources.because(error.to_string())
        })?;
        Ok(Kept {
            end,
            thread: Some(thread),
        })
    }

    /// Binds the name; whether it is bound then.
    fn first(&self, name: &str, object: &ObjectRef) -> bool {
        let bound = self.bind(name, object);
        bound
            .inspect_err(|error| tracing::warn!("`{name}` is not bound yet: {error}"))
            .is_ok()
    }

    /// Binds the name if it is bound to nothing; whether it was bound before or is now.
    fn again(&self, name: &str, object: &ObjectRef) -> bool {
        let Ok(components) = crate::name::from_text(name) else {
            return true;
        };
        match self.context.resolve(&components) {
            Err(NamingContextResolveError::NotFound(_)) => {
                tracing::info!("`{name}` is bound again");
                self.first(name, object)
            }
            // What is bound to something else is somebody else's; what cannot be told is looked at again.
            _ => true,
        }
    }
}

impl End {
    /// Waits; whether the end has come.
    fn wait(&self, interval: Duration) -> bool {
        let mut has_come = self.has_come.lock();
        if !*has_come {
            self.changed.wait_for(&mut has_come, interval);
        }
        *has_come
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        *self.end.has_come.lock() = true;
        self.end.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It has told of its own panic already.
            let _ = thread.join();
        }
    }
}
