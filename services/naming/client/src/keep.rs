//! Names that are kept bound, even if the naming service loses the bindings.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use punctual::{Interface, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_exec::thread::{JoinHandle, ThreadSpec};

use crate::cos_naming::{Name, NameComponent, NamingContextResolveError};
use crate::extension::ExtendedContext;
use crate::names::{Names, millis};
use crate::text::from_text;

/// A name that is bound again when the naming service has lost the binding because it was restarted
/// without a store, or with an older one. If the name has been bound to another object meanwhile,
/// that binding stays.
///
/// A separate thread checks the name at intervals, until this is dropped. The binding then stays
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

/// Name that is kept bound, and the kind of binding.
#[derive(Debug)]
struct Keeping {
    names: Names,
    /// Name as given, as text and as components; for a member, the name of its group followed by
    /// its id.
    text: String,
    name: Name,
    object: ObjectRef,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    /// Binding without a time to live.
    Bound,
    /// Binding that is renewed, with this time to live.
    For(Duration),
    /// Membership in a group that is renewed, with this time to live.
    Joined(Duration),
}

impl Names {
    /// Binds a name to an object, replacing an earlier binding, and keeps it bound: checks it after
    /// each `interval`. If the naming service cannot be reached, now or later, the binding is tried
    /// again.
    ///
    /// # Errors
    /// BAD_PARAM if the text is not a name. An error of the system if no thread can be started.
    pub fn keep_bound(
        self,
        name: &str,
        object: &impl Interface,
        interval: Duration,
    ) -> Result<Kept, SystemException> {
        Keeping {
            names: self,
            text: name.to_owned(),
            name: components(name)?,
            object: object.as_object().clone(),
            how: How::Bound,
        }
        .begin(interval)
    }

    /// Binds a name to an object for a limited time, replacing an earlier binding, and renews that
    /// after each third of the time until this is dropped, which removes the binding. When the
    /// process ends in another way, the naming service removes it within `ttl`. If the naming
    /// service cannot be reached, now or later, the binding is tried again.
    ///
    /// # Errors
    /// BAD_PARAM if the naming service is not Punctual's, and so has no such bindings, if the text
    /// is not a name, or if `ttl` is not from 1 s to 24 h. An error of the system if no thread can
    /// be started.
    pub fn keep_bound_for(
        self,
        name: &str,
        object: &impl Interface,
        ttl: Duration,
    ) -> Result<Kept, SystemException> {
        millis(ttl)?;
        self.check_extended()?;
        Keeping {
            names: self,
            text: name.to_owned(),
            name: components(name)?,
            object: object.as_object().clone(),
            how: How::For(ttl),
        }
        .begin(ttl / 3)
    }

    /// Makes an object a member of a group for a limited time, replacing a member of the same id,
    /// and renews that after each third of the time until this is dropped, which removes the
    /// member. When the process ends in another way, the naming service removes it within `ttl`. If
    /// the group does not exist yet, or the naming service cannot be reached, joining is tried
    /// again.
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
        millis(ttl)?;
        self.check_extended()?;
        let mut name = components(group)?;
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

    /// Checks that the naming service is Punctual's; also succeeds if it cannot be reached now.
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

    /// Binds the name for the first time; returns `true` if that succeeded.
    fn first(&self) -> bool {
        let bound = self.bind();
        let report = |error| tracing::warn!("`{}` is not bound yet: {error}", self.text);
        bound.map_err(report).is_ok()
    }

    fn bind(&self) -> Result<(), String> {
        let (names, object) = (&self.names, &self.object);
        match self.how {
            How::Bound => names.rebind(&self.text, object).map_err(as_text),
            How::For(ttl) => names.bind_for(&self.text, object, ttl).map_err(as_text),
            How::Joined(ttl) => {
                let ttl = millis(ttl).map_err(as_text)?;
                let (group, id) = self.group();
                let joined = self.extended().join(group, id, Some(object), ttl);
                joined.map_err(as_text)
            }
        }
    }

    /// Binds the name again if it is not bound, or renews a binding with a time to live; returns
    /// `false` only if a binding without a time limit could not be made again.
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
            // A name bound to another object is left alone; if the state is unknown, it is checked
            // again later.
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
            tracing::warn!(
                "`{}` could not be unbound and stays until it expires: {error}",
                self.text
            );
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

    /// Returns the name of the group, and the member's id in it.
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

/// Parses a stringified name into its components.
fn components(text: &str) -> Result<Name, SystemException> {
    let invalid = |_| Kind::BadParam.because("the name is invalid: it is not a stringified name");
    from_text(text).map_err(invalid)
}

/// Object to which a name is currently bound: the intended one, another one, none, or unknown.
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
    /// Waits for the interval, or until this is dropped; returns `true` in the latter case.
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
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}
