//! Names in a naming context.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use punctual::{
    CompletionStatus, Interface, ObjectRef, OperationError, Orb, SystemException,
    SystemExceptionKind as Kind,
};

use crate::cos_naming::naming_context::{CannotProceed, InvalidName, NotFound};
use crate::cos_naming::{
    NameComponent, NamingContext, NamingContextBindError, NamingContextBindNewContextError,
    NamingContextRebindError, NamingContextResolveError, NamingContextUnbindError,
};
use crate::extension::{ExtendedContext, ExtendedContextBindForError};
use crate::text::from_text;
use crate::ttl::Ttl;

/// Client of a naming context that takes names as text, such as `plants/north.site/pump`.
#[derive(Debug)]
pub struct Names {
    pub(crate) context: NamingContext,
    /// Cache of resolved references by name.
    remembered: Mutex<HashMap<String, ObjectRef>>,
}

impl Names {
    /// Returns the names in the ORB's initial reference `NameService`.
    ///
    /// # Errors
    /// Those of [`Orb::resolve_initial_references`].
    pub fn of(orb: &Orb) -> Result<Self, SystemException> {
        let service = orb.resolve_initial_references("NameService")?;
        Ok(Self::below(&NamingContext::from_object(service)))
    }

    /// Returns a client for the names in a naming context.
    #[must_use]
    pub fn below(context: &NamingContext) -> Self {
        Self {
            context: context.clone(),
            remembered: Mutex::default(),
        }
    }

    /// Resolves a name to a reference of type `I`. If the type in the reference does not determine
    /// this, the object itself is asked for its type.
    ///
    /// # Errors
    /// NotFound and the other user exceptions of `resolve`. A system exception: INV_OBJREF for a
    /// name that is bound to nil, BAD_PARAM for an object of another type; those of the calls.
    pub fn resolve<I: Interface>(&self, name: &str) -> Result<I, NamingContextResolveError> {
        let found = self.context.resolve(&from_text(name)?)?;
        let found = found.ok_or_else(|| Kind::InvObjref.because("the name is bound to nil"))?;
        Ok(I::narrow(found)?)
    }

    /// Binds a name to an object, and makes the contexts in the name that do not exist yet.
    ///
    /// # Errors
    /// AlreadyBound, NotFound and the other user exceptions of `bind`; those of the calls.
    pub fn bind(&self, name: &str, object: &impl Interface) -> Result<(), NamingContextBindError> {
        let name = from_text(name)?;
        let bind = || self.context.bind(&name, Some(object.as_object()));
        match bind() {
            Err(NamingContextBindError::NotFound(_)) if name.len() > 1 => {}
            done => return done,
        }
        self.make_parents::<NamingContextBindError>(&name)?;
        bind()
    }

    /// Binds a name to an object, replacing an earlier binding, and makes the contexts in the name
    /// that do not exist yet.
    ///
    /// # Errors
    /// NotFound and the other user exceptions of `rebind`; those of the calls.
    pub fn rebind(
        &self,
        name: &str,
        object: &impl Interface,
    ) -> Result<(), NamingContextRebindError> {
        let name = from_text(name)?;
        let rebind = || self.context.rebind(&name, Some(object.as_object()));
        match rebind() {
            Err(NamingContextRebindError::NotFound(_)) if name.len() > 1 => {}
            done => return done,
        }
        self.make_parents::<NamingContextRebindError>(&name)?;
        rebind()
    }

    /// Makes a new context and binds a name to it, and makes the contexts in the name that do not
    /// exist yet.
    ///
    /// # Errors
    /// AlreadyBound, NotFound and the other user exceptions of `bind_new_context`; those of the
    /// calls. INV_OBJREF if the naming service returns no context.
    pub fn bind_new_context(
        &self,
        name: &str,
    ) -> Result<NamingContext, NamingContextBindNewContextError> {
        let name = from_text(name)?;
        let bind = || self.context.bind_new_context(&name);
        let bound = match bind() {
            Err(NamingContextBindNewContextError::NotFound(_)) if name.len() > 1 => {
                self.make_parents::<NamingContextBindNewContextError>(&name)?;
                bind()
            }
            done => done,
        };
        bound?.ok_or_else(|| {
            let exception = Kind::InvObjref.because("the naming service returned no context");
            NamingContextBindNewContextError::System(exception)
        })
    }

    /// Unbinds a name.
    ///
    /// # Errors
    /// NotFound and the other user exceptions of `unbind`; those of the calls.
    pub fn unbind(&self, name: &str) -> Result<(), NamingContextUnbindError> {
        self.context.unbind(&from_text(name)?)
    }

    /// Binds a name to an object for a limited time, replacing an earlier binding, and makes the
    /// contexts in the name. The same call renews the binding.
    ///
    /// # Errors
    /// NotFound and the other user exceptions of `bind_for`; those of the calls. BAD_OPERATION if
    /// the naming service is not Punctual's, and so has no such bindings. BAD_PARAM if `ttl` is not
    /// from 1 s to 24 h.
    pub fn bind_for(
        &self,
        name: &str,
        object: &impl Interface,
        ttl: Duration,
    ) -> Result<(), ExtendedContextBindForError> {
        let name = from_text(name)?;
        let ttl = millis(ttl)?;
        let context = ExtendedContext::from_object(self.context.as_object().clone());
        let bind = || context.bind_for(&name, Some(object.as_object()), ttl, true);
        match bind() {
            Err(ExtendedContextBindForError::NotFound(_)) if name.len() > 1 => {}
            done => return done,
        }
        self.make_parents::<ExtendedContextBindForError>(&name)?;
        bind()
    }

    /// Makes the contexts in a name that do not exist yet.
    fn make_parents<E>(&self, name: &[NameComponent]) -> Result<(), E>
    where
        E: From<NotFound> + From<CannotProceed> + From<InvalidName> + From<SystemException>,
    {
        use NamingContextBindNewContextError as Error;
        for end in 1..name.len() {
            let parent = name.get(..end).unwrap_or_default();
            match self.context.bind_new_context(parent) {
                Ok(_) | Err(Error::AlreadyBound(_)) => {}
                Err(Error::NotFound(it)) => return Err(it.into()),
                Err(Error::CannotProceed(it)) => return Err(it.into()),
                Err(Error::InvalidName(it)) => return Err(it.into()),
                Err(Error::System(it)) => return Err(it.into()),
            }
        }
        Ok(())
    }

    /// Calls the object that a name is bound to, and caches its reference: the next call by this
    /// name does not ask the naming service.
    ///
    /// If a call raises OBJECT_NOT_EXIST, TRANSIENT or COMM_FAILURE, the cached reference counts as
    /// stale and is removed. If the operation was not executed (COMPLETED_NO), the name is resolved
    /// again and the call made once more.
    ///
    /// # Errors
    /// Those of `call`. If the name does not lead to an object of type `I`: OBJECT_NOT_EXIST, with
    /// the reason as its detail; those of calling the naming service.
    pub fn call<I: Interface, R, E: OperationError>(
        &self,
        name: &str,
        call: impl Fn(&I) -> Result<R, E>,
    ) -> Result<R, E> {
        let remembered = self.remembered.lock().get(name).cloned();
        if let Some(object) = remembered {
            match call(&I::from_object(object)) {
                Err(error) if error.system().is_some_and(is_stale) => {
                    self.forget(name);
                    let may_repeat = error.completed() == CompletionStatus::No;
                    if !may_repeat {
                        return Err(error);
                    }
                }
                done => return done,
            }
        }
        let object = self.resolve::<I>(name).map_err(|error| match error {
            NamingContextResolveError::System(exception) => exception,
            other => Kind::ObjectNotExist.because(format!("`{name}`: {other}")),
        })?;
        let done = call(&object);
        let is_good = !matches!(&done, Err(error) if error.system().is_some_and(is_stale));
        if is_good {
            let object = object.as_object().clone();
            self.remembered.lock().insert(name.to_owned(), object);
        }
        done
    }

    /// Removes a name's reference from the cache.
    pub fn forget(&self, name: &str) {
        self.remembered.lock().remove(name);
    }
}

/// Returns a time to live in milliseconds, as the naming service expects it.
pub(crate) fn millis(ttl: Duration) -> Result<u32, SystemException> {
    let millis = u32::try_from(ttl.as_millis()).ok();
    let ttl = millis.and_then(Ttl::from_millis);
    ttl.map(Ttl::millis)
        .ok_or_else(|| Kind::BadParam.because(Ttl::BOUNDS))
}

/// Returns `true` if an exception shows that a reference is invalid, at least at present.
fn is_stale(exception: &SystemException) -> bool {
    matches!(
        exception.kind(),
        Kind::ObjectNotExist | Kind::Transient | Kind::CommFailure
    )
}
