//! Paths of version 0.1 that have moved to modules. They will be removed in version 0.3.
//!
//! Types are aliases and functions are wrappers, so that each use is reported with its new path. Variants cannot be
//! imported through an alias: `use punctual::description::ParameterMode::In` needs the new path.
#![expect(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "the note of each item names the documented one"
)]

use crate::{
    Implements, Servant, any, asynchronous, config, description, interceptor, poa, policy,
    protocol, value,
};
#[cfg(feature = "dynamic")]
use crate::{Interface, SystemException, dynamic, json};
use std::sync::Arc;
use std::time::Duration;

// Neither traits nor the constructors of unit structs can be aliased: these are hidden from the documentation instead, and
// gone in version 0.3 as well.
#[doc(hidden)]
pub use asynchronous::{Pollable, Spawn};
#[cfg(feature = "dynamic")]
#[doc(hidden)]
pub use dynamic::{DynamicImplementation, MultipleRequests};
#[doc(hidden)]
pub use interceptor::{RequestContext, SmartProxies};
#[cfg(feature = "dynamic")]
#[doc(hidden)]
pub use json::AnyJson;
#[doc(hidden)]
pub use poa::{
    AdapterActivator, AdapterInactive, Current, IorTableLocator, ServantActivator, ServantLocator,
};
#[doc(hidden)]
pub use policy::PolicyType;
#[doc(hidden)]
pub use value::{CustomMarshal, ValueFactory};

#[deprecated(since = "0.2.0", note = "use punctual::any::AnyError")]
pub type AnyError = any::AnyError;
#[deprecated(since = "0.2.0", note = "use punctual::any::DynamicValue")]
pub type DynamicValue = any::DynamicValue;
#[deprecated(since = "0.2.0", note = "use punctual::any::Elements")]
pub type Elements = any::Elements;
#[deprecated(since = "0.2.0", note = "use punctual::any::Label")]
pub type Label = any::Label;
#[deprecated(since = "0.2.0", note = "use punctual::any::TypeBuilder")]
pub type TypeBuilder = any::TypeBuilder;
#[deprecated(since = "0.2.0", note = "use punctual::any::TypeCodeError")]
pub type TypeCodeError = any::TypeCodeError;
#[deprecated(since = "0.2.0", note = "use punctual::any::TypeIndex")]
pub type TypeIndex = any::TypeIndex;
#[deprecated(since = "0.2.0", note = "use punctual::any::TypeKind")]
pub type TypeKind = any::TypeKind;
#[deprecated(since = "0.2.0", note = "use punctual::any::UnionDescription")]
pub type UnionDescription<N> = any::UnionDescription<N>;
#[deprecated(since = "0.2.0", note = "use punctual::any::UnionValue")]
pub type UnionValue = any::UnionValue;
#[deprecated(since = "0.2.0", note = "use punctual::any::Value")]
pub type Value = any::Value;
#[deprecated(since = "0.2.0", note = "use punctual::any::ValueDescription")]
pub type ValueDescription<N> = any::ValueDescription<N>;
#[deprecated(since = "0.2.0", note = "use punctual::any::ValueModifier")]
pub type ValueModifier = any::ValueModifier;
#[deprecated(since = "0.2.0", note = "use punctual::any::Visibility")]
pub type Visibility = any::Visibility;

#[deprecated(since = "0.2.0", note = "use punctual::asynchronous::Amh")]
pub type Amh<T> = asynchronous::Amh<T>;
#[deprecated(since = "0.2.0", note = "use punctual::asynchronous::AnswerError")]
pub type AnswerError = asynchronous::AnswerError;
#[deprecated(since = "0.2.0", note = "use punctual::asynchronous::Async")]
pub type Async<T> = asynchronous::Async<T>;
#[deprecated(since = "0.2.0", note = "use punctual::asynchronous::BoxFuture")]
pub type BoxFuture = asynchronous::BoxFuture;
#[deprecated(since = "0.2.0", note = "use punctual::asynchronous::PollableId")]
pub type PollableId = asynchronous::PollableId;
#[deprecated(since = "0.2.0", note = "use punctual::asynchronous::PollableKey")]
pub type PollableKey<P> = asynchronous::PollableKey<P>;
#[deprecated(since = "0.2.0", note = "use punctual::asynchronous::PollableSet")]
pub type PollableSet = asynchronous::PollableSet;
#[deprecated(since = "0.2.0", note = "use punctual::asynchronous::PollableSetError")]
pub type PollableSetError = asynchronous::PollableSetError;

#[deprecated(since = "0.2.0", note = "use punctual::config::Budgets")]
pub type Budgets = config::Budgets;
#[deprecated(since = "0.2.0", note = "use punctual::config::Concurrency")]
pub type Concurrency = config::Concurrency;
#[deprecated(since = "0.2.0", note = "use punctual::config::ConfigError")]
pub type ConfigError = config::ConfigError;
#[deprecated(since = "0.2.0", note = "use punctual::config::DurationError")]
pub type DurationError = config::DurationError;
#[deprecated(since = "0.2.0", note = "use punctual::config::GiopVersion")]
pub type GiopVersion = config::GiopVersion;
#[deprecated(since = "0.2.0", note = "use punctual::config::Limits")]
pub type Limits = config::Limits;
#[deprecated(since = "0.2.0", note = "use punctual::config::PoolSize")]
pub type PoolSize = config::PoolSize;
#[deprecated(since = "0.2.0", note = "use punctual::config::ReplyHandlers")]
pub type ReplyHandlers = config::ReplyHandlers;
#[deprecated(since = "0.2.0", note = "use punctual::config::Timeouts")]
pub type Timeouts = config::Timeouts;
#[deprecated(since = "0.2.0", note = "use punctual::config::Trace")]
pub type Trace = config::Trace;
#[deprecated(since = "0.2.0", note = "use punctual::config::parse_duration")]
pub fn parse_duration(text: &str) -> Result<Duration, config::DurationError> {
    config::parse_duration(text)
}

#[deprecated(
    since = "0.2.0",
    note = "use punctual::description::AttributeDescription"
)]
pub type AttributeDescription = description::AttributeDescription;
#[deprecated(
    since = "0.2.0",
    note = "use punctual::description::ExceptionDescription"
)]
pub type ExceptionDescription = description::ExceptionDescription;
#[deprecated(
    since = "0.2.0",
    note = "use punctual::description::InterfaceDescription"
)]
pub type InterfaceDescription = description::InterfaceDescription;
#[deprecated(
    since = "0.2.0",
    note = "use punctual::description::OperationDescription"
)]
pub type OperationDescription = description::OperationDescription;
#[deprecated(
    since = "0.2.0",
    note = "use punctual::description::ParameterDescription"
)]
pub type ParameterDescription = description::ParameterDescription;
#[deprecated(since = "0.2.0", note = "use punctual::description::ParameterMode")]
pub type ParameterMode = description::ParameterMode;
#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::description::Repository")]
pub type Repository = description::Repository;
#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::description::interface_of")]
pub fn interface_of(
    object: &impl Interface,
) -> Result<Option<description::InterfaceDescription>, SystemException> {
    description::interface_of(object)
}
#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::description::repository_id_of")]
pub fn repository_id_of(object: &impl Interface) -> Result<String, SystemException> {
    description::repository_id_of(object)
}

#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::dynamic::Argument")]
pub type Argument = dynamic::Argument;
#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::dynamic::DeferredRequests")]
pub type DeferredRequests = dynamic::DeferredRequests;
#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::dynamic::DeferredResponse")]
pub type DeferredResponse = dynamic::DeferredResponse;
#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::dynamic::Gateway")]
pub type Gateway = dynamic::Gateway;
#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::dynamic::InvokeError")]
pub type InvokeError = dynamic::InvokeError;
#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::dynamic::Request")]
pub type Request = dynamic::Request;
#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::dynamic::ServerRequest")]
pub type ServerRequest<'r, 'm> = dynamic::ServerRequest<'r, 'm>;
#[cfg(feature = "dynamic")]
#[deprecated(since = "0.2.0", note = "use punctual::dynamic::dynamic_servant")]
#[must_use]
pub fn dynamic_servant(implementation: impl dynamic::DynamicImplementation) -> Arc<dyn Servant> {
    dynamic::dynamic_servant(implementation)
}

#[deprecated(
    since = "0.2.0",
    note = "use punctual::interceptor::RequestContextError"
)]
pub type RequestContextError = interceptor::RequestContextError;

#[deprecated(since = "0.2.0", note = "use punctual::poa::AnswerTimeoutPolicy")]
pub type AnswerTimeoutPolicy = poa::AnswerTimeoutPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::poa::Cookie")]
pub type Cookie = poa::Cookie;
#[deprecated(since = "0.2.0", note = "use punctual::poa::CreatePoaError")]
pub type CreatePoaError = poa::CreatePoaError;
#[cfg(feature = "comparison")]
#[deprecated(since = "0.2.0", note = "use punctual::poa::Demultiplexing")]
pub type Demultiplexing = poa::Demultiplexing;
#[deprecated(since = "0.2.0", note = "use punctual::poa::DispatchError")]
pub type DispatchError = poa::DispatchError;
#[deprecated(since = "0.2.0", note = "use punctual::poa::Dispatched")]
pub type Dispatched = poa::Dispatched;
#[deprecated(since = "0.2.0", note = "use punctual::poa::FindPoaError")]
pub type FindPoaError = poa::FindPoaError;
#[deprecated(since = "0.2.0", note = "use punctual::poa::IdAssignmentPolicy")]
pub type IdAssignmentPolicy = poa::IdAssignmentPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::poa::IdUniquenessPolicy")]
pub type IdUniquenessPolicy = poa::IdUniquenessPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::poa::ImplicitActivationPolicy")]
pub type ImplicitActivationPolicy = poa::ImplicitActivationPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::poa::IorTable")]
pub type IorTable = poa::IorTable;
#[deprecated(since = "0.2.0", note = "use punctual::poa::IorTableError")]
pub type IorTableError = poa::IorTableError;
#[deprecated(since = "0.2.0", note = "use punctual::poa::LifespanPolicy")]
pub type LifespanPolicy = poa::LifespanPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::poa::ManagerError")]
pub type ManagerError = poa::ManagerError;
#[deprecated(since = "0.2.0", note = "use punctual::poa::ManagerExists")]
pub type ManagerExists = poa::ManagerExists;
#[deprecated(since = "0.2.0", note = "use punctual::poa::ManagerState")]
pub type ManagerState = poa::ManagerState;
#[deprecated(since = "0.2.0", note = "use punctual::poa::NoContext")]
pub type NoContext = poa::NoContext;
#[deprecated(since = "0.2.0", note = "use punctual::poa::ObjectPolicy")]
pub type ObjectPolicy = poa::ObjectPolicy;
#[cfg(feature = "comparison")]
#[deprecated(since = "0.2.0", note = "use punctual::poa::OperationDemultiplexing")]
pub type OperationDemultiplexing = poa::OperationDemultiplexing;
#[deprecated(since = "0.2.0", note = "use punctual::poa::PoaError")]
pub type PoaError = poa::PoaError;
#[deprecated(since = "0.2.0", note = "use punctual::poa::PoaManagerFactory")]
pub type PoaManagerFactory = poa::PoaManagerFactory;
#[deprecated(since = "0.2.0", note = "use punctual::poa::PoaPolicy")]
pub type PoaPolicy = poa::PoaPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::poa::RequestPeer")]
pub type RequestPeer = poa::RequestPeer;
#[deprecated(since = "0.2.0", note = "use punctual::poa::RequestProcessingPolicy")]
pub type RequestProcessingPolicy = poa::RequestProcessingPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::poa::ServantManager")]
pub type ServantManager = poa::ServantManager;
#[deprecated(since = "0.2.0", note = "use punctual::poa::ServantRetentionPolicy")]
pub type ServantRetentionPolicy = poa::ServantRetentionPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::poa::ThreadPolicy")]
pub type ThreadPolicy = poa::ThreadPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::poa::Tie")]
pub type Tie<T, S> = poa::Tie<T, S>;
#[deprecated(since = "0.2.0", note = "use punctual::poa::request_peer")]
#[must_use]
pub fn request_peer() -> Option<poa::RequestPeer> {
    poa::request_peer()
}
#[deprecated(since = "0.2.0", note = "use punctual::poa::servant_of")]
#[must_use]
pub fn servant_of<I: Implements<S>, S>(servant: S) -> Arc<dyn Servant> {
    poa::servant_of::<I, S>(servant)
}

#[deprecated(since = "0.2.0", note = "use punctual::policy::AtBound")]
pub type AtBound = policy::AtBound;
#[deprecated(since = "0.2.0", note = "use punctual::policy::Bidirectional")]
pub type Bidirectional = policy::Bidirectional;
#[deprecated(since = "0.2.0", note = "use punctual::policy::BufferCapacity")]
pub type BufferCapacity = policy::BufferCapacity;
#[deprecated(since = "0.2.0", note = "use punctual::policy::Buffering")]
pub type Buffering = policy::Buffering;
#[deprecated(since = "0.2.0", note = "use punctual::policy::CallPolicies")]
pub type CallPolicies<'c> = policy::CallPolicies<'c>;
#[deprecated(since = "0.2.0", note = "use punctual::policy::CallsInFlight")]
pub type CallsInFlight = policy::CallsInFlight;
#[deprecated(since = "0.2.0", note = "use punctual::policy::CharCodeSet")]
pub type CharCodeSet = policy::CharCodeSet;
#[deprecated(since = "0.2.0", note = "use punctual::policy::ClientProtocols")]
pub type ClientProtocols = policy::ClientProtocols;
#[deprecated(since = "0.2.0", note = "use punctual::policy::Collocation")]
pub type Collocation = policy::Collocation;
#[deprecated(since = "0.2.0", note = "use punctual::policy::CollocationScope")]
pub type CollocationScope = policy::CollocationScope;
#[deprecated(since = "0.2.0", note = "use punctual::policy::DefinedPolicy")]
pub type DefinedPolicy = policy::DefinedPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::policy::EndpointChoice")]
pub type EndpointChoice = policy::EndpointChoice;
#[deprecated(since = "0.2.0", note = "use punctual::policy::InvalidPolicy")]
pub type InvalidPolicy = policy::InvalidPolicy;
#[deprecated(since = "0.2.0", note = "use punctual::policy::LinkProperty")]
pub type LinkProperty = policy::LinkProperty;
#[deprecated(since = "0.2.0", note = "use punctual::policy::Mux")]
pub type Mux = policy::Mux;
#[deprecated(since = "0.2.0", note = "use punctual::policy::Otherwise")]
pub type Otherwise = policy::Otherwise;
#[deprecated(since = "0.2.0", note = "use punctual::policy::PolicyCodec")]
pub type PolicyCodec<P> = policy::PolicyCodec<P>;
#[deprecated(since = "0.2.0", note = "use punctual::policy::PolicyCurrent")]
pub type PolicyCurrent<'o> = policy::PolicyCurrent<'o>;
#[deprecated(since = "0.2.0", note = "use punctual::policy::PolicyLevels")]
pub type PolicyLevels = policy::PolicyLevels;
#[deprecated(since = "0.2.0", note = "use punctual::policy::PolicyManager")]
pub type PolicyManager<'o> = policy::PolicyManager<'o>;
#[deprecated(since = "0.2.0", note = "use punctual::policy::PolicyTypeTaken")]
pub type PolicyTypeTaken = policy::PolicyTypeTaken;
#[deprecated(since = "0.2.0", note = "use punctual::policy::PolicyValue")]
pub type PolicyValue = policy::PolicyValue;
#[deprecated(since = "0.2.0", note = "use punctual::policy::PriorityRange")]
pub type PriorityRange = policy::PriorityRange;
#[deprecated(since = "0.2.0", note = "use punctual::policy::PublishedEndpoints")]
pub type PublishedEndpoints = policy::PublishedEndpoints;
#[deprecated(since = "0.2.0", note = "use punctual::policy::QueueOrder")]
pub type QueueOrder = policy::QueueOrder;
#[deprecated(since = "0.2.0", note = "use punctual::policy::Rebind")]
pub type Rebind = policy::Rebind;
#[deprecated(since = "0.2.0", note = "use punctual::policy::Security")]
pub type Security = policy::Security;
#[deprecated(since = "0.2.0", note = "use punctual::policy::SyncScope")]
pub type SyncScope = policy::SyncScope;
#[deprecated(since = "0.2.0", note = "use punctual::policy::Transfer")]
pub type Transfer = policy::Transfer;
#[deprecated(since = "0.2.0", note = "use punctual::policy::Validation")]
pub type Validation = policy::Validation;
#[deprecated(since = "0.2.0", note = "use punctual::policy::Wait")]
pub type Wait = policy::Wait;
#[deprecated(since = "0.2.0", note = "use punctual::policy::WhenFull")]
pub type WhenFull = policy::WhenFull;

#[deprecated(since = "0.2.0", note = "use punctual::protocol::Loan")]
pub type Loan = protocol::Loan;
#[deprecated(since = "0.2.0", note = "use punctual::protocol::ProtocolBundle")]
pub type ProtocolBundle = protocol::ProtocolBundle;
#[deprecated(since = "0.2.0", note = "use punctual::protocol::ProtocolCatalogue")]
pub type ProtocolCatalogue = protocol::ProtocolCatalogue;
#[deprecated(since = "0.2.0", note = "use punctual::protocol::ProtocolError")]
pub type ProtocolError = protocol::ProtocolError;
#[deprecated(since = "0.2.0", note = "use punctual::protocol::frame_arrival")]
#[must_use]
pub fn frame_arrival() -> Option<protocol::FrameArrival> {
    protocol::frame_arrival()
}

#[deprecated(since = "0.2.0", note = "use punctual::value::CdrError")]
pub type CdrError = value::CdrError;
#[deprecated(since = "0.2.0", note = "use punctual::value::DataInputStream")]
pub type DataInputStream<'s, 'd> = value::DataInputStream<'s, 'd>;
#[deprecated(since = "0.2.0", note = "use punctual::value::DataOutputStream")]
pub type DataOutputStream<'s, 'e> = value::DataOutputStream<'s, 'e>;
