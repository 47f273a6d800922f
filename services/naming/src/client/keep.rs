//! A name that stays bound, whatever becomes of the naming service.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use punctual::{
    Interface, ObjectRef, OperationError, SystemException, SystemExceptionKind as Kind,
};
use punctual_exec::thread::{JoinHandle, ThreadSpec};

use super::{Names, is_stale};
use crate::cos_naming::NamingContextResolveError;
use crate::extension::ExtendedContext;

/// A name that is bound again when the naming service has lost it: one that was started again without a store, or with
/// an older one. One that is bound to something else meanwhile is left to that.
///
/// A thread of its own looks at the name again and again, until this is dropped. The binding stays then
/// ([`Names::keep_bound`]), or is removed ([`Names::keep_bound_for`]).
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

/// What is kept, and how.
#[derive(Debug)]
struct Keeping {
    names: Names,
    name: String,
    object: ObjectRef,
    /// How long each binding lives; those without it stay.
    ttl: Option<Duration>,
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
        Keeping {
            names: self,
            name: name.to_owned(),
            object: object.as_object().clone(),
            ttl: None,
        }
        .begin(interval)
    }

    /// Binds a name to an object for a time, in place of what it was bound to, and renews that after each third of the
    /// time until this is dropped, which removes the binding. When the process ends in another way, the naming service
    /// removes it within `ttl`. A naming service that cannot be reached, now too, is tried again.
    ///
    /// # Errors
    /// BAD_PARAM: the naming service is not Punctual's, and has no such bindings, or `ttl` is not from 1 s to 24 h. The
    /// system has no thread for it.
    pub fn keep_bound_for(
        self,
        name: &str,
        object: &impl Interface,
        ttl: Duration,
    ) -> Result<Kept, SystemException> {
        super::millis(ttl)?;
        self.check_extended()?;
        Keeping {
            names: self,
            name: name.to_owned(),
            object: object.as_object().clone(),
            ttl: Some(ttl),
        }
        .begin(ttl / 3)
    }

    /// That the naming service is Punctual's, or cannot be asked now.
    fn check_extended(&self) -> Result<(), SystemException> {
        match ExtendedContext::narrow(self.context.as_object().clone()) {
            Err(exception) if exception.kind() == Kind::BadParam => Err(Kind::BadParam.because(
                "the naming service has no bindings with a time to live: it is not Punctual's",
            )),
            _ => Ok(()),
        }
    }
}

impl Keeping {
    fn begin(self, interval: Duration) -> Result<Kept, SystemException> {
        let end = Arc::new(End::default());
        let ends = end.clone();
        let keep = move || {
            let mut is_bound = self.first();
            while !ends.wait(interval) {
                is_bound = match is_bound {
                    true => self.again(),
                    false => self.first(),
                };
            }
            self.end();
        };
        let thread = ThreadSpec::named("naming-keeper").start(keep);
        let thread = thread.map_err(|error| Kind::NoResources.because(error.to_string()))?;
        Ok(Kept {
            end,
            thread: Some(thread),
        })
    }

    /// Binds the name; whether it is bound then.
    fn first(&self) -> bool {
        let (names, name) = (&self.names, &self.name);
        let failed = match self.ttl {
            None => names.bind(name, &self.object).err().map(report),
            Some(ttl) => names.bind_for(name, &self.object, ttl).err().map(report),
        };
        if let Some(error) = &failed {
            tracing::warn!("`{name}` is not bound yet: {error}");
        }
        failed.is_none()
    }

    /// Binds the name if it is bound to nothing, or renews it; whether it was bound before or is now.
    fn again(&self) -> bool {
        match (self.holder(), self.ttl) {
            (Holder::Nobody, None) => {
                tracing::info!("`{}` is bound again", self.name);
                self.first()
            }
            (Holder::Nobody | Holder::This, Some(ttl)) => {
                let renewed = self.names.bind_for(&self.name, &self.object, ttl);
                match &renewed {
                    Err(error) if error.system().is_some_and(is_stale) => {}
                    Err(error) => tracing::warn!("`{}` is not renewed: {error}", self.name),
                    Ok(()) => {}
                }
                true
            }
            // What is bound to something else is somebody else's; what cannot be told is looked at again.
            _ => true,
        }
    }

    fn end(&self) {
        if self.ttl.is_none() || !matches!(self.holder(), Holder::This) {
            return;
        }
        let Ok(name) = crate::name::from_text(&self.name) else {
            return;
        };
        if let Err(error) = self.names.context.unbind(&name) {
            tracing::warn!("`{}` is bound until its time is over: {error}", self.name);
        }
    }

    fn holder(&self) -> Holder {
        let Ok(name) = crate::name::from_text(&self.name) else {
            return Holder::Unknown;
        };
        match self.names.context.resolve(&name) {
            Err(NamingContextResolveError::NotFound(_)) => Holder::Nobody,
            Ok(Some(found)) if found.is_equivalent(&self.object) => Holder::This,
            Ok(_) => Holder::Other,
            Err(_) => Holder::Unknown,
        }
    }
}

/// What a name is bound to.
enum Holder {
    Nobody,
    This,
    Other,
    Unknown,
}

fn report(error: impl std::fmt::Display) -> String {
    error.to_string()
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
