#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! The object request broker: references, invocation, dispatch, configuration.
//!
//! The modules through which a call passes: `reference` (the object of a stub) → `client` (its
//! stages, from endpoints to the outcome) → `lane` (connections) → `messaging` (GIOP over a link) …
//! `server` (the loop that receives, dispatch) → an [`ObjectAdapter`], which finds the servant. A
//! `lane` owns the resources shared by calls of one priority, the `broker` those shared by all
//! lanes. A module uses only modules of lower layers; `cargo xtask layers` checks the order.

mod adapter;
mod broker;
mod budget;
mod client;
mod codec;
mod cold;
mod collocation;
mod config;
mod context;
mod event_value;
mod exception;
mod fixed_context;
mod groups;
mod interceptor;
mod invocation_policies;
mod lane;
pub mod measurement;
mod messaging;
mod observed;
mod operation;
mod operation_types;
mod orb;
mod policy;
mod priorities;
mod priority;
pub mod probe;
mod profile;
mod protocol;
mod reference;
mod relayed;
mod rt_operation;
mod server;
mod sync;
pub mod timeline;
mod upcall;
mod urgency;
pub mod value;

pub use adapter::{Cast, Collocated, DispatchError, LocalRequest, Location, Provided, View, Went};
pub use codec::{Codec, CodecError, CodecFactory, ENCODING_CDR_ENCAPS, Encoding, UnknownEncoding};
pub use config::{
    AboveHighest, Budgets, CollocationScope, Concurrency, ConfigError, Discipline, DscpByPriority,
    DurationError, DynamicSchedulingSettings, FaultToleranceSettings, ListenEndpoint, NativePolicy,
    NetworkDirection, NoDscpByPriority, OrbConfig, PoolSize, RealTime, RealTimeSettings,
    ReplyHandlers, StandardMapping, Timeouts, Trace, parse_duration,
};
pub use context::Context;
pub use event_value::EventValue;
pub use exception::{
    CompletionStatus, OperationError, SystemException, SystemExceptionKind, UserException, minor,
};
pub use fixed_context::{
    CallPolicies, ObeyedWord, RequestContext, RequestContextError, RunsAt, WordLayout,
};
pub use groups::{GroupCalls, GroupTerms, Heartbeat};
pub use interceptor::{
    AdapterState, ClientRequestInfo, ClientRequestInterceptor, DuplicateName, InterceptorError,
    InvalidSlot, IorInfo, IorInterceptor, ObjectReferenceFactory, ObjectReferenceTemplate,
    Parameter, PolicyFactory, ReplyStatus, ServedObject, ServerRequestInfo,
    ServerRequestInterceptor, SlotId,
};
pub use lane::{Borrowers, BufferLimits, LaneStatistics, PoolLane};
pub use messaging::{
    Abilities, BadFrame, EachRequest, Examined, Frame, FrameArrival, Frames, Giop, GiopLite, Head,
    Messaging, Needs, OwnReply, QueuedRequest, RepeatableHead, ReplyHead, Session,
};
pub use observed::Observers;
pub use operation::{NamedOperation, Operation, OperationDetails};
pub use operation_types::{ArgumentValues, Describe, DescribedOperations, OperationTypes};
pub use orb::{
    BoxFuture, InitError, Orb, OrbBuilder, OrbInitInfo, OrbInitializer, PiCurrent, Reached,
    RunError, Unreachable, WeakOrb,
};
pub use policy::{
    AdapterPolicies, AtBound, Bidirectional, BufferCapacity, Buffering, CallsInFlight, CharCodeSet,
    ClientProtocols, Collocation, DefinedPolicy, InvalidPolicy, LinkProperty, Mux, Otherwise,
    Policy, PolicyCodec, PolicyCurrent, PolicyLevels, PolicyManager, PolicyType, PolicyTypeTaken,
    PriorityRange, QueueOrder, Rebind, Security, SetOverride, SyncScope, Transfer, UnmetPolicies,
    Wait, WhenFull, set_in_segment,
};
pub use priorities::{Destination, Priorities, ServedAt};
pub use priority::{Priority, PriorityOutOfRange};
pub use profile::{
    DecodedProfile, EndpointChoice, EndpointQualities, LaneId, ProfileCodec, ProfileEndpoint,
    Publication, PublishedEndpoints, SecurityRequirement,
};
pub use protocol::{ProtocolBundle, ProtocolCatalogue, ProtocolError};
pub use reference::{
    ArgumentOf, AsObject, DeferredRequest, ExceptionHolder, HandlerInterface, Interface,
    IntoReplyHandler, NotNil, ObjectRef, Pollable, PollableId, PollableKey, PollableSet,
    PollableSetError, Poller, ReplyHandler, ResultSlot, ResultSlotOf, Validation, taken,
};
#[doc(hidden)]
pub use reference::{Delivery, count_of, delivered, held, joined_names};
pub use rt_operation::{RtLevel, RtOperation};
pub use server::{
    AdapterWrapper, AnswerError, AroundUpcall, AroundUpcalls, Dispatched, KeptReply, LocateRequest,
    ObjectAdapter, PeerConnection, PendingLocation, PendingReply, ReplyKeeper, ServerCall,
    UpcallHook,
};
pub use upcall::{
    AdapterNote, OnObject, RequestPeer, frame_arrival, noted_object, noted_objects, request_peer,
    serves_alone,
};
#[doc(hidden)]
pub use upcall::{about_to_block, charge_results};

pub use urgency::{ByPolicies, Urgency, UrgencyStrategy, WaitingRequest};

pub use punctual_exec::{Quoted, StopSignals};
pub use punctual_ior::{Ior, PolicyValue, TaggedComponent, TaggedProfile};
pub use punctual_link::{LinkCount, LinkCountKind};

/// Crate of the CDR encoding, for use by macros in generated code.
#[doc(hidden)]
pub use punctual_cdr as cdr;

/// Drivers for fuzzing of code whose output is not otherwise checked.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing {
    use punctual_giop::trace::TraceOptions;

    /// Returns the output of `-ORBTrace giop` for a message. Allocates.
    #[must_use]
    pub fn traced(message: &[u8]) -> String {
        crate::messaging::readable(message, TraceOptions::default())
    }
}

/// Building blocks of an in-line bridge, which passes requests and replies on with unchanged
/// bodies.
///
/// A message's header is decoded and written anew, since ids, keys and protocols differ on the two
/// sides; its body is copied undecoded. The body is valid on the other side if GIOP version, code
/// sets and byte order are equal ([`Terms`](relay::Terms)), and if it begins at an equal alignment.
/// [`ServerCall::passed_on`] returns a request with its undecoded body, [`ObjectRef::relay`] makes
/// the call, and [`ServerCall::pass_back`] answers with the reply's undecoded body (Schmidt et al.
/// 2001, §3.4.2).
pub mod relay {
    pub use crate::reference::{
        decoded_profile, endpoints_of, first_profile, offered_code_sets, on_terms, profiles_at,
        reference_to,
    };
    pub use crate::relayed::{MAX_HOPS, RawBody, RelayedReply, RelayedRequest, Terms};
    pub use punctual_giop::ReplyStatus;
}
