//! `Messaging::ReplyHandler`: the base interface of all reply handlers (CORBA 3.3 part 1, §17.8).
//! It has no operations.
//!
//! The module is a hand-written version of the IDL compiler's output: generated code of every crate
//! refers to this one.

use crate::{
    Answer, Answers, Identity, Operations, delegate,
    orb::{ObjectRef, reference},
    skeleton,
};

/// Reference to a reply handler (`IDL:omg.org/Messaging/ReplyHandler:1.0`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReplyHandler(ObjectRef);

reference!(ReplyHandler, "IDL:omg.org/Messaging/ReplyHandler:1.0");

/// Servant trait of the base of reply handlers, without operations. The handlers of interfaces
/// derive from it.
pub trait ReplyHandlerServant: Send + Sync + 'static {
    #[doc(hidden)]
    fn __identity(&self) -> Identity {
        Identity::of::<ReplyHandler, Self>(self)
    }
}

delegate!(ReplyHandlerServant, ReplyHandler, {});

skeleton!(
    ReplyHandler,
    ReplyHandlerSkeleton,
    ReplyHandlerServant,
    [ReplyHandlerServant]
);

impl Operations for ReplyHandler {
    const OWN: &'static [&'static str] = &[];
}

impl<T: ReplyHandlerServant> Answers<T> for ReplyHandler {
    const OWN_ANSWERS: &'static [Answer<T>] = &[];

    fn find_own(_: &str) -> Option<Answer<T>> {
        None
    }
}
