//! `CosNaming::NamingContext` (CosNaming 1.3, §2.2).

use punctual::{ObjectRef, SystemException};

use super::server::{Result, Server};
use crate::cos_naming::{
    BindingIterator, BindingList, NameComponent, NamingContext, NamingContextBindContextError,
    NamingContextBindError, NamingContextBindNewContextError, NamingContextDestroyError,
    NamingContextRebindContextError, NamingContextRebindError, NamingContextResolveError,
    NamingContextServant, NamingContextUnbindError,
};
use crate::name::check;
use crate::refusal::Refusal;
use crate::store::Target;
use crate::tree::{Done, RequestedChange};

type Refused<T> = std::result::Result<T, Refusal>;

impl Server {
    /// Binds a name whose contexts are all in this server.
    pub(super) fn bind_here(
        &self,
        n: &[NameComponent],
        target: Refused<Target>,
        replaces: bool,
    ) -> Refused<()> {
        check(n, &self.service().limits())?;
        let (name, target) = (n.to_vec(), target?);
        self.change(RequestedChange::Bind {
            name,
            target,
            replaces,
        })
        .map(drop)
    }

    /// Resolves a name whose contexts are all in this server.
    pub(super) fn resolve_here(&self, n: &[NameComponent]) -> Refused<Result<Option<ObjectRef>>> {
        let context = self.current().map_err(|_| Refusal::NoSuchContext)?;
        self.service()
            .resolve(context, n, |target| self.reference(target))
    }

    /// Returns a reference to the context that an operation has created, if it has created one.
    fn made(&self, done: Done) -> Result<Option<NamingContext>> {
        match done {
            Done::Context(number) => self.context(number).map(Some),
            Done::It => Ok(None),
        }
    }
}

impl NamingContextServant for Server {
    fn bind(
        &self,
        n: &[NameComponent],
        obj: Option<&ObjectRef>,
    ) -> std::result::Result<(), NamingContextBindError> {
        let here = self.bind_here(n, self.object_target(obj), false);
        here.or_else(|why| self.through(why, |context, rest| context.bind(rest, obj)))
    }

    fn rebind(
        &self,
        n: &[NameComponent],
        obj: Option<&ObjectRef>,
    ) -> std::result::Result<(), NamingContextRebindError> {
        let here = self.bind_here(n, self.object_target(obj), true);
        here.or_else(|why| self.through(why, |context, rest| context.rebind(rest, obj)))
    }

    fn bind_context(
        &self,
        n: &[NameComponent],
        nc: Option<&NamingContext>,
    ) -> std::result::Result<(), NamingContextBindContextError> {
        let here = self.bind_here(n, self.context_target(nc), false);
        here.or_else(|why| self.through(why, |context, rest| context.bind_context(rest, nc)))
    }

    fn rebind_context(
        &self,
        n: &[NameComponent],
        nc: Option<&NamingContext>,
    ) -> std::result::Result<(), NamingContextRebindContextError> {
        let here = self.bind_here(n, self.context_target(nc), true);
        here.or_else(|why| self.through(why, |context, rest| context.rebind_context(rest, nc)))
    }

    fn resolve(
        &self,
        n: &[NameComponent],
    ) -> std::result::Result<Option<ObjectRef>, NamingContextResolveError> {
        match self.resolve_here(n) {
            Ok(found) => Ok(found?),
            Err(why) => self.through(why, |context, rest| context.resolve(rest)),
        }
    }

    fn unbind(&self, n: &[NameComponent]) -> std::result::Result<(), NamingContextUnbindError> {
        let name = n.to_vec();
        let here = check(n, &self.service().limits());
        let here = here.and_then(|()| self.change(RequestedChange::Unbind { name }));
        match here {
            Ok(_) => Ok(()),
            Err(why) => self.through(why, |context, rest| context.unbind(rest)),
        }
    }

    fn new_context(&self) -> std::result::Result<Option<NamingContext>, SystemException> {
        self.made(self.change(RequestedChange::NewContext)?)
    }

    fn bind_new_context(
        &self,
        n: &[NameComponent],
    ) -> std::result::Result<Option<NamingContext>, NamingContextBindNewContextError> {
        let name = n.to_vec();
        let here = check(n, &self.service().limits());
        let here = here.and_then(|()| self.change(RequestedChange::BindNewContext { name }));
        match here {
            Ok(done) => Ok(self.made(done)?),
            Err(why) => self.through(why, |context, rest| context.bind_new_context(rest)),
        }
    }

    fn destroy(&self) -> std::result::Result<(), NamingContextDestroyError> {
        self.change(RequestedChange::Destroy)?;
        Ok(())
    }

    fn list(
        &self,
        how_many: u32,
    ) -> std::result::Result<(BindingList, Option<BindingIterator>), SystemException> {
        self.list_first(self.current()?, how_many)
    }
}
