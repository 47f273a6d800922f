#![cfg_attr(test, allow(clippy::unwrap_used))]
//! The object request broker: references, invocation, dispatch, configuration.
//!
//! A call's way through the folders: `reference` (what the stub holds) → `client` (endpoint,
//! connection, request, reply) → `messaging` (GIOP over a link) … `server` (listen, receive, dispatch)
//! → an [`ObjectAdapter`], which finds the servant. `lane` owns what calls of one priority share.

mod adapter;
mod client;
mod collocation;
mod config;
mod context;
mod exception;
mod lane;
mod messaging;
mod orb;
mod policy;
pub mod probe;
mod profile;
mod protocol;
mod reference;
pub mod relay;
mod server;
mod sync;
pub mod value;

pub use adapter::{DispatchError, Location, ObjectAdapter};
pub use client::{Buffering, NamedOperation, Operation};
pub use collocation::{Cast, Collocated, LocalRequest, Provided, View, Went};
pub use config::{
    CollocationScope, Concurrency, ConfigError, ListenEndpoint, OrbConfig, PoolSize, Timeouts,
    Trace,
};
pub use context::Context;
pub use exception::{CompletionStatus, SystemException, SystemExceptionKind, minor};
pub use messaging::{
    Abilities, BadFrame, EachRequest, Examined, Frame, FrameArrival, Frames, Giop, GiopLite, Head,
    Messaging, Needs, OwnReply, QueuedRequest, RepeatableHead, ReplyHead, Session,
};
pub use orb::{InitError, Orb, OrbBuilder, WeakOrb};
pub use policy::{
    AdapterPolicies, ClientProtocols, Collocation, DefinedPolicy, InvalidPolicy, LinkProperty, Mux,
    Otherwise, Policy, PolicyCodec, PolicyCurrent, PolicyLevels, PolicyManager, PolicyType,
    PolicyTypeTaken, SetOverride, Transfer, Wait,
};
pub use profile::{
    DecodedProfile, EndpointChoice, EndpointQualities, LaneId, Priority, ProfileCodec,
    ProfileEndpoint, Publication, PublishedEndpoints, SecurityRequirement,
};
pub use protocol::{ProtocolBundle, ProtocolCatalogue, ProtocolError};
pub use reference::{
    ArgumentOf, AsObject, Interface, ObjectRef, Slot, SlotOf, UserException, taken,
};
pub use server::{Dispatched, ServerCall, frame_arrival, serves_alone};

pub use punctual_ior::PolicyValue;
