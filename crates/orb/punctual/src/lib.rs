//! **Punctual**: a real-time object request broker (ORB). A program calls objects in other processes, on other machines and of other
//! CORBA ORBs as if they were its own.
//!
//! What an object can do is written in OMG IDL:
//!
//! ```idl
//! interface Hello {
//!     string greet(in string name);
//! };
//! ```
//! A build script compiles it to Rust with the crate `punctual-build`. Of `Hello` it makes `Hello`, a reference that clients call, and
//! `HelloServant`, the trait that a server implements:
//!
//! ```no_run
//! use punctual::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The server: -ORB… options are taken out of the arguments, e.g. -ORBListenEndpoints iiop://:2809.
//! let (orb, _arguments) = Orb::init(std::env::args())?;
//! let poa = orb.root_poa()?;
//! // let hello: Hello = poa.activate(Greeter)?;             // Greeter implements HelloServant
//! // println!("{}", orb.object_to_string(&hello)?);         // IOR:…, for any ORB
//! poa.manager().activate()?;
//! orb.run();
//!
//! // The client:
//! let object = orb.string_to_object("file://hello.ior")?;
//! // println!("{}", Hello::narrow(object)?.greet("world")?); // a remote call
//! # Ok(()) }
//! ```
//! `punctual new NAME` makes a crate with all of this. The guide begins with `docs/guide/first-object.md`, your first object in
//! ten minutes; its other chapters are about IDL in Rust, servers, callbacks, errors, transports, asynchrony, real time and
//! other ORBs (`docs/SUMMARY.md` lists them).
//!
//! # Types by subject
//! The root of the crate has what everyday programs name; all else is in modules by subject.
//!
//! | subject | in the root | in modules |
//! |---|---|---|
//! | start and end of an ORB | [`Orb`], [`OrbBuilder`], [`OrbConfig`], [`ListenEndpoint`], [`StopSignals`], [`InitError`], [`RunError`] | [`config`]: time-outs, budgets, limits, concurrency |
//! | references | [`ObjectRef`], [`Interface`], [`AsObject`], [`NotNil`] | |
//! | errors of calls | [`SystemException`], [`SystemExceptionKind`], [`CompletionStatus`], [`OperationError`], [`UserException`], [`minor`] | |
//! | servers | [`RootPoa`], [`Poa`], [`PoaManager`], [`ObjectId`], [`about_to_block`] | [`poa`]: policies, servant managers, errors, the request in progress |
//! | servants | [`Servant`], [`Implements`] | [`poa`]: ties; [`asynchronous`]: servants that answer later |
//! | policies of calls | [`Policy`], [`SetOverride`] | [`policy`]: values, scopes, policy types of a program |
//! | asynchronous calls | [`Poller`], [`ReplyHandler`], [`Response`] | [`asynchronous`]: pollable sets; [`messaging`]: reply handlers as objects |
//! | types known at run time | [`Any`], [`TypeCode`], [`Typed`] | [`any`](mod@any): contents, TypeCodes; `dyn_any`, `json` (feature `dynamic`) |
//! | values | [`ValueType`], [`ValueRef`], [`Fixed`], [`Decimal`], [`FixedError`], [`Char`], [`LongDouble`], [`Context`] | [`value`]: factories, custom marshalling |
//! | calls without IDL | | `dynamic` (a feature): requests, servants, gateways; [`description`]: interfaces, Interface Repository |
//! | real time | | `rt` |
//! | object groups | | `fault_tolerance` (a feature) |
//! | interceptors | | [`interceptor`], `observe` (features `trace-context`, `metrics`) |
//! | transports | | [`protocol`], `bridge` (a feature) |
//!
//! Paths of version 0.1 that have moved are deprecated and end with version 0.3; the compiler names the new ones.
//!
//! # Cargo features
//! On by default: `code-sets` (beside UTF-8, ISO 8859-1 and ISO 646), `config-files` (TOML), `datagrams` (the link `diop`),
//! `giop-lite` (and frames), `interceptors`, `message-trace` (`-ORBTrace`), `plugins` (links from
//! shared libraries), `recordings` (`-ORBRecord`, `-ORBTimeline`), `reliable` (reliable datagrams), `rt` (Real-time CORBA),
//! `shared-memory` (the link `shmiop`) and `suggestions` (in errors about options). `default-features = false` leaves stubs and servants over TCP and Unix sockets: `docs/guide/small-devices.md` has what they take.
//!
//! Off by default, and all in `full`, as they take long to compile: `bridge` (between protocols), `dynamic` (DII, DSI, DynAny, JSON), `fault-tolerance` (object
//! groups) and `tls` (the link `ssliop`).
//!
//! `trace-context`, `metrics`, `time-probes` and `comparison` (ways to find objects and operations that are slower) are off, too.
#![warn(unnameable_types)]

pub mod any;
pub mod asynchronous;
pub mod config;
mod deprecated;
pub mod description;
#[cfg(feature = "dynamic")]
pub mod dynamic;
pub mod interceptor;
pub mod poa;
pub mod policy;
pub mod protocol;
#[doc(hidden)]
pub mod stub;
pub mod value;

#[doc(hidden)]
pub use deprecated::*;
pub use punctual_any::{Any, TypeCode, Typed};
pub use punctual_cdr::{Char, Decimal, Fixed, FixedError, LongDouble, ValueRef, ValueType};
#[doc(inline)]
pub use punctual_orb::about_to_block;
pub use punctual_orb::{
    AsObject, CompletionStatus, Context, InitError, Interface, ListenEndpoint, NotNil, ObjectRef,
    OperationError, Orb, OrbBuilder, OrbConfig, Policy, Poller, ReplyHandler, RunError,
    SetOverride, StopSignals, SystemException, SystemExceptionKind, UserException, minor,
};
pub use punctual_poa::{Implements, ObjectId, Poa, PoaManager, Response, RootPoa, Servant};

/// Names that a server and a client need: `use punctual::prelude::*;`.
///
/// Traits whose methods would not be found without them ([`Interface`], [`AsObject`], [`RootPoa`], [`OperationError`], [`NotNil`]),
/// the ORB, the POA with the policies of persistent objects, errors, and policies of calls.
pub mod prelude {
    pub use crate::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
    pub use crate::{
        Any, AsObject, CompletionStatus, Implements, Interface, ListenEndpoint, NotNil, ObjectId,
        ObjectRef, OperationError, Orb, OrbBuilder, Poa, Policy, RootPoa, Servant, SetOverride,
        StopSignals, SystemException, SystemExceptionKind, UserException,
    };

    // Names of version 0.1's prelude, deprecated and gone in version 0.3.
    #[doc(hidden)]
    #[allow(deprecated)]
    pub use crate::deprecated::{
        IdUniquenessPolicy, RequestProcessingPolicy, ServantManager, ServantRetentionPolicy,
    };
}

/// Module Messaging: the common parts of reply handlers of asynchronous calls (CORBA 3.3 part 1,
/// chapter 17).
///
/// A client needs this module to implement a reply handler as an object and to raise the exception
/// that the handler receives.
pub mod messaging {
    pub use punctual_orb::{ExceptionHolder, HandlerInterface, IntoReplyHandler};
    pub use punctual_poa::messaging::{ReplyHandler, ReplyHandlerServant};
}

/// Dynamic management of Anys: values of any type, read and changed part by part.
///
/// A program needs this module to change an Any in place, or to port code that uses DynamicAny; to read one,
/// [`any::Value`] is simpler.
#[cfg(feature = "dynamic")]
pub mod dyn_any {
    pub use punctual_dynamic::dyn_any::*;
}

/// Values as JSON, by their TypeCodes.
///
/// A program needs this module to print Anys, or to make them from text, as `punctual call` does.
#[cfg(feature = "dynamic")]
pub mod json {
    pub use punctual_dynamic::json::*;
}

/// Guide to interceptors, whose code snippets are compiled as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/guide/interceptors.md")]
#[derive(Debug)]
pub struct GuideToInterceptors;

/// Traces that go on from a client to its server, and metrics of calls (features `trace-context` and `metrics`).
///
/// A program needs this module to show its calls in a tracing system or in Prometheus.
#[cfg(any(feature = "trace-context", feature = "metrics"))]
pub mod observe {
    pub use punctual_observe::*;
}

/// Time probes: stamps at the points of a call (feature `time-probes`).
///
/// A program needs this module to measure where a call's time goes inside the ORB.
pub mod probe {
    pub use punctual_orb::probe::*;
}

/// Real-time CORBA: priorities that apply from the client's thread to the servant.
///
/// A program needs this module when its calls have deadlines or priorities: lanes, priority models, real-time mutexes,
/// distributable threads (`docs/guide/real-time.md`).
#[cfg(feature = "rt")]
pub mod rt {
    pub use punctual_rt::*;
}

/// Fault Tolerant CORBA: calls to object groups that are repeated at other members and yet run once.
///
/// A program needs this module when it calls object groups, or serves a member of one (`docs/fault-tolerance.md`).
#[cfg(feature = "fault-tolerance")]
pub mod fault_tolerance {
    pub use punctual_fault_tolerance::*;
}

/// Multicast groups (MIOP): a one-way reaches all members of a group.
///
/// A program needs this module when it calls groups, or serves members of them (`docs/miop.md`).
#[cfg(feature = "miop")]
pub mod multicast {
    pub use punctual_multicast::*;
}

/// Requests and replies that are kept or passed on with their undecoded bodies: [`ServerCall::passed_on`](poa::ServerCall::passed_on),
/// [`ObjectRef::relay`], [`ServerCall::pass_kept`](poa::ServerCall::pass_kept).
#[cfg(feature = "bridge")]
pub mod relay {
    pub use punctual_cdr::{ByteOrder, CodeSets, GiopVersion, NarrowCodeSet, WideCodeSet};
    pub use punctual_orb::relay::{
        RawBody, RelayedReply, RelayedRequest, ReplyStatus, Terms, on_terms, reference_to,
    };
}

/// In-line bridge: requests that arrive by one protocol leave by another.
///
/// A program needs this module to join two networks whose protocols differ, such as shared memory and TCP.
#[cfg(feature = "bridge")]
pub mod bridge {
    pub use punctual_bridge::*;
}

/// Methods of an operation's error type, and conversions by `?` from each error of this crate that
/// a servant meets.
#[doc(hidden)]
#[macro_export]
macro_rules! __operation_error {
    ($name:ident, $($exceptions:tt)*) => {
        $crate::stub::__operation_error!($name, $($exceptions)*);
        $crate::__operation_error!(
            @from $name:
            $crate::SystemExceptionKind, $crate::value::CdrError, $crate::any::AnyError, $crate::any::TypeCodeError,
            $crate::FixedError, $crate::poa::PoaError, $crate::poa::NoContext, $crate::poa::AdapterInactive,
            $crate::poa::ManagerExists, $crate::poa::CreatePoaError, $crate::poa::FindPoaError,
            $crate::poa::ManagerError, $crate::poa::IorTableError,
        );
        $crate::__operation_error_of_dynamic!($name);
    };
    (@from $name:ident: $($error:ty,)*) => {
        $(
            impl ::core::convert::From<$error> for $name {
                fn from(error: $error) -> Self {
                    Self::System(::core::convert::From::from(error))
                }
            }
        )*
    };
}

/// Conversions from the errors of calls without IDL and of DynAny.
#[doc(hidden)]
#[cfg(feature = "dynamic")]
#[macro_export]
macro_rules! __operation_error_of_dynamic {
    ($name:ident) => {
        $crate::__operation_error!(
            @from $name: $crate::dynamic::InvokeError, $crate::dyn_any::DynAnyError,
        );
    };
}

/// No conversions: the crate was built without the feature `dynamic`.
#[doc(hidden)]
#[cfg(not(feature = "dynamic"))]
#[macro_export]
macro_rules! __operation_error_of_dynamic {
    ($name:ident) => {};
}
