//! Names that generated code uses. Not for use by hand, and not stable.

pub use crate::__operation_error as operation_error;
pub use punctual_any::{
    Any, Label, ParameterMode, TypeBuilder, TypeCode, TypeIndex, TypeKind, Typed, UnionDescription,
    ValueDescription, ValueModifier, Visibility, typed,
};
pub use punctual_cdr::*;
#[doc(hidden)]
pub use punctual_orb::operation_error as __operation_error;
pub use punctual_orb::value::{no_initializer, operations_of};
pub use punctual_orb::{
    ArgumentOf, Context, Delivery, DescribedOperations, DispatchError, Dispatched, EventValue,
    Interface, IntoReplyHandler, ObjectRef, Operation, OperationTypes, PeerConnection, Provided,
    ResultSlot, ResultSlotOf, RtLevel, RtOperation, ServerCall, SystemException, UserException,
    handler_interface, held, reference, taken, user_exception,
};
pub use punctual_poa::{
    Amh, Answer, Answered, Answers, Async, Blocking, Delegate, Identity, Implements, Operations,
    Servant, Tie, amh_skeleton, async_servant, delegate, inherited_answers, inherited_operations,
    skeleton,
};
pub use std::borrow::Cow;
pub use std::sync::Arc;
