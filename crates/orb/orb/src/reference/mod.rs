//! Object references, and the operations that every object has.

mod adapter;
mod adapter_policies;
mod corbaname;
mod deferred;
mod deferred_request;
mod exception_holder;
mod generated;
mod initial;
mod intercepted;
mod interface;
mod interpreted;
mod invoke;
mod object;
mod places;
mod pollable;
mod published;
mod reply_handler;
mod stringify;
mod typed;
mod validation;

pub use deferred::Poller;
pub use deferred_request::DeferredRequest;
pub use exception_holder::ExceptionHolder;
#[doc(hidden)]
pub use generated::{count_of, joined_names};
pub use interface::{AsObject, Interface, NotNil};
pub use interpreted::{ArgumentOf, ResultSlot, ResultSlotOf, taken};
pub use object::ObjectRef;
pub use places::{
    decoded_profile, endpoints_of, first_profile, offered_code_sets, on_terms, profiles_at,
    reference_to,
};
pub use pollable::{Pollable, PollableId, PollableKey, PollableSet, PollableSetError};
#[doc(hidden)]
pub use reply_handler::{Delivery, delivered, held};
pub use reply_handler::{HandlerInterface, IntoReplyHandler, ReplyHandler};
pub use validation::Validation;
