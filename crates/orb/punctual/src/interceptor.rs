//! Portable Interceptors: what is called at points of every request, and what an ORB has from its start
//! (`docs/guide/interceptors.md`).
//!
//! A program needs this module to act on every request without a change of servants or callers: authentication, accounting, tracing.
//!
//! Beside them, [`RequestContext`], a service context of fixed size without an interceptor's cost, and [`SmartProxies`], which
//! put an object of the program in the place of references.

pub use punctual_orb::{
    AdapterState, ArgumentValues, ClientRequestInfo, ClientRequestInterceptor, Codec, CodecError,
    CodecFactory, DuplicateName, ENCODING_CDR_ENCAPS, Encoding, InterceptorError, InvalidSlot, Ior,
    IorInfo, IorInterceptor, ObjectReferenceFactory, ObjectReferenceTemplate, OperationDetails,
    OrbInitInfo, OrbInitializer, Parameter, PiCurrent, PolicyFactory, ReplyStatus, RequestContext,
    RequestContextError, ServedObject, ServerRequestInfo, ServerRequestInterceptor, SlotId,
    TaggedComponent, TaggedProfile, UnknownEncoding,
};
pub use punctual_poa::SmartProxies;
