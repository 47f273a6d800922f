//! Portable Interceptors, which are called at defined points of every request and when an ORB is
//! initialised (`docs/guide/interceptors.md`).
//!
//! A program needs this module to act on every request without a change of servants or callers: authentication, accounting, tracing.
//!
//! Beside them, [`RequestContext`], a service context of fixed size without an interceptor's cost,
//! and [`SmartProxies`], which direct calls through references to an object of the program instead.

pub use punctual_orb::{
    AdapterState, ArgumentValues, ClientRequestInfo, ClientRequestInterceptor, Codec, CodecError,
    CodecFactory, DuplicateName, ENCODING_CDR_ENCAPS, Encoding, InterceptorError, InvalidSlot, Ior,
    IorInfo, IorInterceptor, ObjectReferenceFactory, ObjectReferenceTemplate, OperationDetails,
    OrbInitInfo, OrbInitializer, Parameter, PiCurrent, PolicyFactory, ReplyStatus, RequestContext,
    RequestContextError, ServedObject, ServerRequestInfo, ServerRequestInterceptor, SlotId,
    TaggedComponent, TaggedProfile, UnknownEncoding,
};
pub use punctual_poa::SmartProxies;
