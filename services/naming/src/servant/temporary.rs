//! `PunctualNaming::ExtendedContext`: what contexts of this service do beyond the standard.

use punctual::{Interface, ObjectRef};

use super::Server;
use crate::cos_naming::{NameComponent, NamingContext};
use crate::extension::{
    BindingDetails, BindingKind, ExtendedContext, ExtendedContextAboutError,
    ExtendedContextBindForError, ExtendedContextServant,
};
use crate::refusal::Refusal;
use crate::store::{Target, Ttl};

impl Server {
    /// What an object is as a target that lives so long.
    fn temporary_target(&self, object: Option<&ObjectRef>, ttl_ms: u32) -> Result<Target, Refusal> {
        let ttl = Ttl::from_millis(ttl_ms).ok_or(Refusal::BadTtl)?;
        let reference = self.written(object)?;
        Ok(Target::Temporary { reference, ttl })
    }
}

impl ExtendedContextServant for Server {
    fn bind_for(
        &self,
        n: &[NameComponent],
        obj: Option<&ObjectRef>,
        ttl_ms: u32,
        replace: bool,
    ) -> Result<(), ExtendedContextBindForError> {
        let here = self.bind_here(n, self.temporary_target(obj, ttl_ms), replace);
        here.or_else(|why| {
            self.through(why, |context, rest| {
                extended(context).bind_for(rest, obj, ttl_ms, replace)
            })
        })
    }

    fn about(&self, n: &[NameComponent]) -> Result<BindingDetails, ExtendedContextAboutError> {
        let context = self.current()?;
        let here = self.service().resolve(context, n, about);
        here.or_else(|why| self.through(why, |context, rest| extended(context).about(rest)))
    }
}

fn about(target: &Target) -> BindingDetails {
    let leads = match target.is_context() {
        true => BindingKind::ToContext,
        false => BindingKind::ToObject,
    };
    let ttl_ms = match target {
        Target::Temporary { ttl, .. } => ttl.millis(),
        _ => 0,
    };
    BindingDetails { leads, ttl_ms }
}

/// A context of another server, which may be of the same kind; else it raises BAD_OPERATION.
fn extended(context: &NamingContext) -> ExtendedContext {
    ExtendedContext::from_object(context.as_object().clone())
}
