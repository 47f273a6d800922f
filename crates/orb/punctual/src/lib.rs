//! **Punctual**: a real-time object request broker (ORB). A program calls objects in other
//! processes, on other machines and of other CORBA ORBs as if they were its own.
//!
//! The operations of an object are declared in OMG IDL:
//!
//! ```idl
//! interface Hello {
//!     string greet(in string name);
//! };
//! ```
//! A build script compiles it to Rust with the crate `punctual-build`. For `Hello` it generates
//! `Hello`, a reference that clients call, and `HelloServant`, the trait that a server implements:
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
//! `punctual new NAME` makes a crate with all of this. The guide begins with
//! `docs/guide/first-object.md`, your first object in ten minutes; its other chapters are about IDL
//! in Rust, servers, callbacks, errors, transports, asynchrony, real time and other ORBs
//! (`docs/SUMMARY.md` lists them).
//!
//! # Types by subject
//! | subject | types |
//! |---|---|
//! | start and end of an ORB | [`Orb`], [`OrbBuilder`], [`OrbConfig`], [`ListenEndpoint`], [`Timeouts`], [`Budgets`], [`InitError`], [`ConfigError`] |
//! | references | [`ObjectRef`], [`Interface`], [`AsObject`], [`NotNil`], [`Validation`] |
//! | errors of calls | [`SystemException`], [`SystemExceptionKind`], [`CompletionStatus`], [`OperationError`], [`UserException`], [`minor`] |
//! | servers | [`RootPoa`], [`Poa`], [`PoaManager`], [`PoaPolicy`], [`ObjectId`], [`ServantManager`], [`ServantActivator`], [`ServantLocator`], [`AdapterActivator`], [`Current`], [`IorTable`], [`request_peer`] |
//! | servants | [`Servant`], [`Implements`], [`Tie`], [`servant_of`]; that answer later: [`Amh`], [`Async`], [`Response`] |
//! | policies of calls | [`Policy`], [`SetOverride`], [`PolicyManager`], [`PolicyCurrent`], [`SyncScope`], [`Buffering`], [`Rebind`], [`Collocation`], [`Security`], [`Bidirectional`], [`Mux`], [`Wait`], [`PolicyType`] |
//! | asynchronous calls | [`Poller`], [`PollableSet`], [`ReplyHandler`], [`CallsInFlight`], module [`messaging`] |
//! | types known at run time | [`Any`], [`TypeCode`], [`Typed`], [`AnyJson`], modules [`dyn_any`] and [`json`] |
//! | values | [`ValueType`], [`ValueRef`], [`ValueFactory`], [`CustomMarshal`], [`Fixed`], [`Decimal`], [`Char`], [`LongDouble`] |
//! | calls without IDL | [`Request`], [`MultipleRequests`], [`DynamicImplementation`], [`Gateway`], [`Repository`], [`InterfaceDescription`] |
//! | real time | module [`rt`] |
//! | interceptors | module [`interceptor`], [`SmartProxies`], module `observe` (features `trace-context`, `metrics`) |
//! | transports | module [`protocol`], [`ProtocolBundle`], [`Loan`], module [`bridge`] |
//!
//! # Cargo features
//! `tls` (the link `ssliop`), `reliable` (reliable datagrams) and `plugins` (links from shared
//! libraries) are on by default. `trace-context`, `metrics` and `time-probes` are not.
#![warn(unnameable_types)]

pub use punctual_any::{
    Any, AnyError, AttributeDescription, DynamicValue, Elements, ExceptionDescription,
    InterfaceDescription, Label, OperationDescription, ParameterDescription, ParameterMode,
    TypeBuilder, TypeCode, TypeCodeError, TypeIndex, TypeKind, Typed, UnionDescription, UnionValue,
    Value, ValueDescription, ValueModifier, Visibility,
};
pub use punctual_cdr::{
    CdrError, Char, CustomMarshal, DataInputStream, DataOutputStream, Decimal, Fixed, FixedError,
    GiopVersion, Limits, LongDouble, ValueFactory, ValueRef, ValueType,
};
pub use punctual_dynamic::{
    Argument, DeferredRequests, DeferredResponse, DynamicImplementation, Gateway, InvokeError,
    MultipleRequests, Repository, Request, ServerRequest, dynamic_servant, interface_of,
    repository_id_of,
};
pub use punctual_link::Loan;
#[doc(inline)]
pub use punctual_orb::about_to_block;
pub use punctual_orb::{
    AnswerError, AsObject, AtBound, Bidirectional, BoxFuture, Budgets, BufferCapacity, Buffering,
    CallPolicies, CallsInFlight, CharCodeSet, ClientProtocols, Collocation, CollocationScope,
    CompletionStatus, Concurrency, ConfigError, Context, DefinedPolicy, DispatchError, Dispatched,
    DurationError, EndpointChoice, InitError, Interface, InvalidPolicy, LinkProperty,
    ListenEndpoint, Mux, NotNil, ObjectRef, OperationError, Orb, OrbBuilder, OrbConfig, Otherwise,
    Policy, PolicyCodec, PolicyCurrent, PolicyLevels, PolicyManager, PolicyType, PolicyTypeTaken,
    PolicyValue, Pollable, PollableId, PollableKey, PollableSet, PollableSetError, Poller,
    PoolSize, PriorityRange, ProtocolBundle, ProtocolCatalogue, ProtocolError, PublishedEndpoints,
    QueueOrder, Rebind, ReplyHandler, ReplyHandlers, RequestContext, RequestContextError,
    RequestPeer, Security, SetOverride, SyncScope, SystemException, SystemExceptionKind, Timeouts,
    Trace, Transfer, UserException, Validation, Wait, WhenFull, frame_arrival, minor,
    parse_duration, request_peer,
};
pub use punctual_poa::{
    AdapterActivator, AdapterInactive, Amh, AnswerTimeoutPolicy, Async, Cookie, CreatePoaError,
    Current, FindPoaError, IdAssignmentPolicy, IdUniquenessPolicy, Implements,
    ImplicitActivationPolicy, IorTable, IorTableError, IorTableLocator, LifespanPolicy,
    ManagerError, ManagerExists, ManagerState, NoContext, ObjectId, ObjectPolicy, Poa, PoaError,
    PoaManager, PoaManagerFactory, PoaPolicy, RequestProcessingPolicy, Response, RootPoa, Servant,
    ServantActivator, ServantLocator, ServantManager, ServantRetentionPolicy, SmartProxies, Spawn,
    ThreadPolicy, Tie, servant_of,
};
#[cfg(feature = "comparison")]
pub use punctual_poa::{Demultiplexing, OperationDemultiplexing};

/// Types that most programs use: `use punctual::prelude::*;`.
///
/// Traits whose methods need an import ([`Interface`], [`AsObject`], [`RootPoa`],
/// [`OperationError`], [`NotNil`]), the ORB, the POA with its policies, errors, and policies of
/// calls.
pub mod prelude {
    pub use crate::{
        Any, AsObject, CompletionStatus, IdAssignmentPolicy, IdUniquenessPolicy, Implements,
        Interface, LifespanPolicy, ListenEndpoint, NotNil, ObjectId, ObjectRef, OperationError,
        Orb, OrbBuilder, Poa, PoaPolicy, Policy, RequestProcessingPolicy, RootPoa, Servant,
        ServantManager, ServantRetentionPolicy, SetOverride, SystemException, SystemExceptionKind,
        UserException,
    };
}

/// Module Messaging: common types of the reply handlers of asynchronous calls (CORBA 3.3 part 1,
/// chapter 17).
pub mod messaging {
    pub use punctual_orb::{ExceptionHolder, HandlerInterface, IntoReplyHandler};
    pub use punctual_poa::messaging::{ReplyHandler, ReplyHandlerServant};
}

/// Interfaces for user-defined protocols: links, messaging protocols, profile codecs.
pub mod protocol {
    pub use punctual_exec::Deadline;
    pub use punctual_link::*;
    pub use punctual_orb::{
        Abilities, BadFrame, DecodedProfile, EachRequest, EndpointQualities, Examined, Frame,
        FrameArrival, Frames, Giop, GiopLite, Head, LaneId, Messaging, Needs, Priority,
        ProfileCodec, ProfileEndpoint, Publication, QueuedRequest, Reached, SecurityRequirement,
        Session, Unreachable, relay::endpoints_of,
    };
    #[cfg(feature = "plugins")]
    pub use punctual_plugin::{PluginError, load};
    #[cfg(feature = "tls")]
    pub use punctual_tls as ssliop;
}

/// Dynamic management of Anys: values of any type, read and changed part by part.
pub mod dyn_any {
    pub use punctual_dynamic::dyn_any::*;
}

pub use punctual_dynamic::json::AnyJson;

/// Values as JSON, by their TypeCodes.
pub mod json {
    pub use punctual_dynamic::json::*;
}

/// Portable Interceptors, which are called at points of every request, and initialisers, which an
/// ORB has from its start (`docs/guide/interceptors.md`).
pub mod interceptor {
    pub use punctual_orb::{
        AdapterState, ArgumentValues, ClientRequestInfo, ClientRequestInterceptor, Codec,
        CodecError, CodecFactory, DuplicateName, ENCODING_CDR_ENCAPS, Encoding, InterceptorError,
        InvalidSlot, Ior, IorInfo, IorInterceptor, ObjectReferenceFactory, ObjectReferenceTemplate,
        OperationDetails, OrbInitInfo, OrbInitializer, Parameter, PiCurrent, PolicyFactory,
        ReplyStatus, ServedObject, ServerRequestInfo, ServerRequestInterceptor, SlotId,
        TaggedComponent, TaggedProfile, UnknownEncoding,
    };
}

/// Guide to interceptors, whose snippets are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/guide/interceptors.md")]
#[derive(Debug)]
pub struct GuideToInterceptors;

/// Observation of calls: traces that continue from a client to its server, and metrics (features
/// `trace-context` and `metrics`).
#[cfg(any(feature = "trace-context", feature = "metrics"))]
pub mod observe {
    pub use punctual_observe::*;
}

/// Time probes: stamps at the points of a call, for measurements.
pub mod probe {
    pub use punctual_orb::probe::*;
}

/// Real-time CORBA: priorities that hold from the client's thread to the servant.
pub mod rt {
    pub use punctual_rt::*;
}

/// In-line bridge: requests that arrive by one protocol leave by another.
pub mod bridge {
    pub use punctual_bridge::*;
}

/// Support of generated code. Not for use by hand, and not stable.
#[doc(hidden)]
pub mod stub {
    pub use crate::__operation_error as operation_error;
    pub use punctual_any::{
        Any, Label, ParameterMode, TypeBuilder, TypeCode, TypeIndex, TypeKind, Typed,
        UnionDescription, ValueDescription, ValueModifier, Visibility, typed,
    };
    pub use punctual_cdr::*;
    #[doc(hidden)]
    pub use punctual_orb::operation_error as __operation_error;
    pub use punctual_orb::value::{no_initializer, operations_of};
    pub use punctual_orb::{
        ArgumentOf, Context, Delivery, DescribedOperations, DispatchError, Dispatched, Interface,
        IntoReplyHandler, ObjectRef, Operation, OperationTypes, Provided, ResultSlot, ResultSlotOf,
        ServerCall, SystemException, UserException, handler_interface, held, reference, taken,
        user_exception,
    };
    pub use punctual_poa::{
        Amh, Answer, Answered, Answers, Async, Blocking, Delegate, Identity, Implements,
        Operations, Servant, Tie, amh_skeleton, async_servant, delegate, inherited_answers,
        inherited_operations, skeleton,
    };
    pub use std::borrow::Cow;
    pub use std::sync::Arc;
}

/// Defines the common parts of an operation's error, and the conversions to it that `?` uses for
/// errors of this crate in a servant.
#[doc(hidden)]
#[macro_export]
macro_rules! __operation_error {
    ($name:ident, $($exceptions:tt)*) => {
        $crate::stub::__operation_error!($name, $($exceptions)*);
        $crate::__operation_error!(
            @from $name:
            $crate::SystemExceptionKind, $crate::CdrError, $crate::AnyError, $crate::TypeCodeError,
            $crate::FixedError, $crate::PoaError, $crate::NoContext, $crate::AdapterInactive, $crate::ManagerExists,
            $crate::CreatePoaError, $crate::FindPoaError, $crate::ManagerError, $crate::IorTableError,
            $crate::InvokeError, $crate::dyn_any::DynAnyError,
        );
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
