//! A name that stays bound, whatever becomes of the naming service.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use punctual::{Interface, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_exec::thread::{JoinHandle, ThreadSpec};

use super::Names;
use crate::cos_naming::{Name, NameComponent, NamingContextResolveError};
use crate::extension::ExtendedContext;
use crate::name::from_text;

/// A name that is bound again when the naming service has lost it: one that was started again without a store, or with
/// an older one. One that is bound to something else meanwhile is left to that.
///
/// A thread of its own looks at the name again and again, until this is dropped. The binding stays then
/// ([`Names::keep_bound`]), or is removed ([`Names::keep_bound_for`], [`Names::keep_joined`]).
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
    /// The name as it was given, and as components: of a member, that of its group and its id.
    text: String,
    name: Name,
    object: ObjectRef,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    /// Each binding stays.
    Bound,
    /// Each lives so long.
    For(Duration),
    /// As a member of a group, for so long.
    Joined(Duration),
}

impl Names {
    /// Binds a name to an object, in place of what it was bound to, and keeps it bound: looks at it after each
    /// `interval`. A naming service that cannot be reached, now too, is tried again.
    ///
    /// # Errors
    /// BAD_PARAM: the name is none. The system has no thread for it.
    pub fn keep_bound(
        self,
        name: &str,
        object: &impl Interface,
        interval: Duration,
    ) -> Result<Kept, SystemException> {
        Keeping {
            names: self,
            text: name.to_owned(),
            name: from_text(name)?,
            object: object.as_object().clone(),
            how: How::Bound,
        }
        .begin(interval)
    }

    /// Binds a name to an object for a time, in place of what it was bound to, and renews that after each third of the
    /// time until this is dropped, which removes the binding. When the process ends in another way, the naming service
    /// removes it within `ttl`. A naming service that cannot be reached, now too, is tried again.
    ///
    /// # Errors
    /// BAD_PARAM: the naming service is not Punctual's, and has no such bindings, the name is none, or `ttl` is not from
    /// 1 s to 24 h. The system has no thread for it.
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
            text: name.to_owned(),
            name: from_text(name)?,
            object: object.as_object().clone(),
            how: How::For(ttl),
        }
        .begin(ttl / 3)
    }

    /// Has an object join a group for a time, in place of the member of that id, and again after each third of the time
    /// until this is dropped, by which it leaves. When the process ends in another way, the naming service removes the
    /// member within `ttl`. A group that is not there yet, and a naming service that cannot be reached, are tried again.
    ///
    /// # Errors
    /// As of [`Names::keep_bound_for`].
    pub fn keep_joined(
        self,
        group: &str,
        id: &str,
        object: &impl Interface,
        ttl: Duration,
    ) -> Result<Kept, SystemException> {
        super::millis(ttl)?;
        self.check_extended()?;
        let mut name = from_text(group)?;
        name.push(NameComponent {
            id: id.to_owned(),
            kind: String::new(),
        });
        Keeping {
            names: self,
            text: format!("{id}` in `{group}"),
            name,
            object: object.as_object().clone(),
            how: How::Joined(ttl),
        }
        .begin(ttl / 3)
    }

    /// That the naming service is Punctual's, or cannot be asked now.
    fn check_extended(&self) -> Result<(), SystemException> {
        match ExtendedContext::narrow(self.context.as_object().clone()) {
            Err(exception) if exception.kind() == Kind::BadParam => Err(Kind::BadParam.because(
                "the naming service has no bindings with a time to live, and no groups: it is not Punctual's",
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
        let bound = self.bind();
        let report = |error| tracing::warn!("`{}` is not bound yet: {error}", self.text);
        bound.map_err(report).is_ok()
    }

    fn bind(&self) -> Result<(), String> {
        let (names, object) = (&self.names, &self.object);
        match self.how {
            How::Bound => names.bind(&self.text, object).map_err(as_text),
            How::For(ttl) => names.bind_for(&self.text, object, ttl).map_err(as_text),
            How::Joined(ttl) => {
                let ttl = super::millis(ttl).map_err(as_text)?;
                let (group, id) = self.group();
                let joined = self.extended().join(group, id, Some(object), ttl);
                joined.map_err(as_text)
            }
        }
    }

    /// Binds the name if it is bound to nothing, or renews it; whether it was bound before or is now.
    fn again(&self) -> bool {
        match (self.holder(), self.how) {
            (Holder::Nobody, How::Bound) => {
                tracing::info!("`{}` is bound again", self.text);
                self.first()
            }
            (Holder::Nobody | Holder::This, How::For(_) | How::Joined(_)) => {
                if let Err(error) = self.bind() {
                    tracing::warn!("`{}` is not renewed: {error}", self.text);
                }
                true
            }
            // What is bound to something else is somebody else's; what cannot be told is looked at again.
            _ => true,
        }
    }

    fn end(&self) {
        if matches!(self.how, How::Bound) || !matches!(self.holder(), Holder::This) {
            return;
        }
        let removed = match self.how {
            How::Joined(_) => {
                let (group, id) = self.group();
                self.extended().leave(group, id).map_err(as_text)
            }
            _ => self.names.context.unbind(&self.name).map_err(as_text),
        };
        if let Err(error) = removed {
            tracing::warn!("`{}` is bound until its time is over: {error}", self.text);
        }
    }

    fn holder(&self) -> Holder {
        match self.names.context.resolve(&self.name) {
            Err(NamingContextResolveError::NotFound(_)) => Holder::Nobody,
            Ok(Some(found)) if found.is_equivalent(&self.object) => Holder::This,
            Ok(_) => Holder::Other,
            Err(_) => Holder::Unknown,
        }
    }

    /// The name of the group, and the member's id there.
    fn group(&self) -> (&[NameComponent], &str) {
        let (last, group) = match self.name.split_last() {
            Some((last, group)) => (last.id.as_str(), group),
            None => ("", &[][..]),
        };
        (group, last)
    }

    fn extended(&self) -> ExtendedContext {
        ExtendedContext::from_object(self.names.context.as_object().clone())
    }
}

/// What a name is bound to.
enum Holder {
    Nobody,
    This,
    Other,
    Unknown,
}

fn as_text(error: impl std::fmt::Display) -> String {
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
