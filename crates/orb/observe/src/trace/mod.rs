//! Traces that continue from a client to its server.
//!
//! Each request is a span: a client's is a child of the calling thread's span, a server's a child
//! of the client's, and calls from within an upcall are children of that. A W3C trace context
//! ([`TraceContext`]) is propagated as text, in a service context of Punctual's own:
//!
//! ```text
//! 0x50554e03: encapsulation { string traceparent; string tracestate; }
//! ```
//!
//! Spans may also belong to another tracing library, which then supplies their contexts
//! (`SpanLibrary`). The feature `opentelemetry` (`TracingBuilder::with_opentelemetry`) connects to
//! the spans of OpenTelemetry.
//!
//! A thread's trace context is in a slot of `PICurrent`, so that it follows a request as slots do:
//! to whichever thread runs the upcall, and with asynchronous calls.

mod context;
mod ids;
mod interceptors;
#[cfg(feature = "opentelemetry")]
mod opentelemetry;
mod wire;

pub use context::{BadTraceParent, TraceContext};
pub use interceptors::{Tracing, TracingBuilder};
