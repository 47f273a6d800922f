//! Portable Interceptors (CORBA 3.3 part 1, chapter 16): objects of the application that are called
//! at certain points of every request, at its client and at its server.
//!
//! An ORB has one list of interceptors of each kind ([`Interceptors`]), which does not change after
//! the ORB has started. A call goes through its points in one *pass* ([`ClientPass`],
//! [`ServerPass`]): the flow stack of the standard is the number of interceptors that have begun,
//! since an interceptor's ending point is called exactly when its starting point has succeeded. The
//! module that makes a call (`client`, `collocation`) or serves one (`server`) passes the
//! [`Outcome`] of the request, and acts on the outcome that is returned. A panic of an interceptor
//! raises UNKNOWN in its call, and does not affect other calls.

mod accessors;
mod client_info;
mod client_pass;
mod error;
mod factories;
mod guard;
mod ior;
mod named;
mod names;
mod outcome;
mod place;
mod points;
mod request_ids;
mod request_info;
mod served;
mod server_info;
mod server_pass;
mod slots;
mod template;
mod traits;
#[cfg(feature = "interceptors")]
mod value_trace;

pub use client_info::ClientRequestInfo;
pub(crate) use client_pass::{At, ClientPass};
pub use error::{InterceptorError, InvalidSlot};
pub use factories::PolicyFactory;
pub(crate) use ior::{Adapter, establish, made_by, tell};
pub use ior::{AdapterState, IorInfo, IorInterceptor};
pub use names::DuplicateName;
pub(crate) use names::{Interceptors, Registered};
pub(crate) use outcome::Outcome;
pub(crate) use place::CallDestination;
pub use points::ReplyStatus;
pub use request_info::Parameter;
pub(crate) use request_info::{CallFacts, ReadBody, RequestTypes};
pub use served::ServedObject;
pub(crate) use server_info::ServerOrb;
pub use server_info::ServerRequestInfo;
pub(crate) use server_pass::{Request, ServerPass};
pub use slots::SlotId;
pub(crate) use slots::{Slots, ThreadSlots};
pub use template::{ObjectReferenceFactory, ObjectReferenceTemplate};
pub use traits::{ClientRequestInterceptor, ServerRequestInterceptor};
#[cfg(feature = "interceptors")]
pub(crate) use value_trace::ValueTrace;

/// Service context kept by a pass: its id and its data.
pub(crate) type OwnedContext = (u32, Vec<u8>);
