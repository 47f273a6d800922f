//! Names that lead through contexts of other servers (CosNaming 1.3, §2.2.2.2: CannotProceed).

use punctual::{CompletionStatus, Interface, ObjectRef, OperationError};

use super::server::Server;
use crate::cos_naming::{
    Name, NameComponent, NamingContext, NamingContextBindContextError, NamingContextBindError,
    NamingContextBindNewContextError, NamingContextExtResolveStrError,
    NamingContextRebindContextError, NamingContextRebindError, NamingContextResolveError,
    NamingContextUnbindError, naming_context::CannotProceed,
};
use crate::extension::{
    ExtendedContextAboutError, ExtendedContextBindForError, ExtendedContextBindGroupError,
    ExtendedContextJoinError, ExtendedContextLeaveError, ExtendedContextMembersError,
    ExtendedContextReportError,
};
use crate::refusal::Refusal;
use crate::store::Target;

/// Error type of a naming operation that may raise CannotProceed.
pub(super) trait MayNotProceed: OperationError + From<Refusal> {
    fn cannot_proceed(context: Option<NamingContext>, rest_of_name: Name) -> Self;
}

macro_rules! may_not_proceed {
    ($($error:path)*) => {
        $(
            impl MayNotProceed for $error {
                fn cannot_proceed(cxt: Option<NamingContext>, rest_of_name: Name) -> Self {
                    Self::CannotProceed(CannotProceed { cxt, rest_of_name })
                }
            }
        )*
    };
}

may_not_proceed! {
    NamingContextBindError NamingContextRebindError NamingContextBindContextError
    NamingContextRebindContextError NamingContextResolveError NamingContextUnbindError
    NamingContextBindNewContextError NamingContextExtResolveStrError
    ExtendedContextBindForError ExtendedContextAboutError ExtendedContextBindGroupError
    ExtendedContextJoinError ExtendedContextLeaveError ExtendedContextReportError
    ExtendedContextMembersError
}

impl Server {
    /// Continues an operation that was refused here: if its name leads to a context of another
    /// server, calls the function `there` with that context and the rest of the name.
    pub(super) fn through<R, E: MayNotProceed>(
        &self,
        refusal: Refusal,
        there: impl FnOnce(&NamingContext, &[NameComponent]) -> Result<R, E>,
    ) -> Result<R, E> {
        let Refusal::Elsewhere {
            context: target,
            rest,
        } = refusal
        else {
            return Err(refusal.into());
        };
        let reference = self.reference(&target).map_err(E::from)?;
        let may_call = self.0.options.federated && matches!(target, Target::Foreign(_));
        let Some(called) = reference.as_ref().filter(|_| may_call) else {
            return Err(E::cannot_proceed(reference.map(context), rest));
        };
        let called = context(called.with_timeout(self.0.options.federated_timeout));
        there(&called, &rest).map_err(|error| {
            // The client may try there itself, unless that could execute the operation twice.
            let is_undone = error
                .system()
                .is_some_and(|exception| exception.completed() == CompletionStatus::No);
            match is_undone {
                true => E::cannot_proceed(reference.map(context), rest),
                false => error,
            }
        })
    }
}

fn context(object: ObjectRef) -> NamingContext {
    NamingContext::from_object(object)
}
