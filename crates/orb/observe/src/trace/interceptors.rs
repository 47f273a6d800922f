//! Client and server interceptors that trace calls.

use super::context::TraceContext;
use super::wire::{decoded, encoded};
use crate::served::Served;
use punctual_any::Any;
use punctual_giop::service_context::TRACE_CONTEXT;
use punctual_orb::{
    ClientRequestInfo, ClientRequestInterceptor, InterceptorError, Orb, OrbInitInfo,
    OrbInitializer, ServerRequestInfo, ServerRequestInterceptor, SlotId, SystemException,
};
use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tracing::span::EnteredSpan;
use tracing::{Span, field};

/// Function that returns the calling thread's current trace context from another tracing library.
type Source = dyn Fn() -> Option<TraceContext> + Send + Sync;

/// Function that receives each span with its parent's trace context.
type Sink = dyn Fn(&Span, &TraceContext) + Send + Sync;

/// Connection to another tracing library that turns `tracing` spans into spans of its own.
pub(super) trait SpanLibrary: Send + Sync {
    /// Returns whether the calling thread is in a span of the other library, which becomes the
    /// parent of a new span.
    fn is_in_trace(&self) -> bool;

    /// Sets the parent of a new span.
    fn set_parent(&self, span: &Span, parent: &TraceContext);

    /// Returns the other library's context of a span; `None` if the library has none for it.
    fn context_of(&self, span: &Span) -> Option<TraceContext>;
}

/// Tracing of an ORB's calls: `Orb::builder().initializer(Arc::new(tracing.clone()))`. Cheap to
/// clone; made by [`TracingBuilder`].
///
/// Each request is a span of `tracing`, `corba.call` at a client and `corba.upcall` at a server,
/// with the fields `operation`, `trace_id`, `span_id`, `parent_id`, and `error`. A server's span is
/// entered for the time of the upcall, so that it contains the servant's log records.
#[derive(Clone)]
pub struct Tracing(Arc<Shared>);

/// Builder for the tracing of an ORB's calls.
pub struct TracingBuilder(Shared);

struct Shared {
    /// Tracing spans of the requests that the server is executing.
    served: Served<Span>,
    slot: OnceLock<SlotId>,
    source: Option<Box<Source>>,
    sink: Option<Box<Sink>>,
    joined: Option<Box<dyn SpanLibrary>>,
    samples: bool,
}

impl TracingBuilder {
    /// Marks traces that begin here as not recorded (clears the flag `sampled`).
    #[must_use]
    pub fn unsampled(mut self) -> Self {
        self.0.samples = false;
        self
    }

    /// Sets the function that supplies the parent context of calls made outside of upcalls, such as
    /// the current context of OpenTelemetry.
    #[must_use]
    pub fn from_source(
        mut self,
        source: impl Fn() -> Option<TraceContext> + Send + Sync + 'static,
    ) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }

    /// Sets a function that receives each span when it begins, with its parent's context, so that
    /// the span may be joined to another library's, as by `set_parent` of tracing-opentelemetry.
    #[must_use]
    pub fn to_sink(mut self, sink: impl Fn(&Span, &TraceContext) + Send + Sync + 'static) -> Self {
        self.0.sink = Some(Box::new(sink));
        self
    }

    #[cfg(feature = "opentelemetry")]
    pub(super) fn joining(mut self, library: Box<dyn SpanLibrary>) -> Self {
        self.0.joined = Some(library);
        self
    }

    /// Makes the initialiser for one ORB; each ORB needs its own, as it allocates slots.
    #[must_use]
    pub fn build(self) -> Tracing {
        Tracing(Arc::new(self.0))
    }
}

impl Tracing {
    /// Makes a builder for tracing; new traces are recorded unless [`TracingBuilder::unsampled`] is
    /// called.
    #[must_use]
    pub fn builder() -> TracingBuilder {
        TracingBuilder(Shared {
            served: Served::default(),
            slot: OnceLock::new(),
            source: None,
            sink: None,
            joined: None,
            samples: true,
        })
    }

    /// Returns the trace context of the calling thread: that of its current upcall, or the one set
    /// by `set_current`. `None` before the ORB has started.
    #[must_use]
    pub fn current(&self, orb: &Orb) -> Option<TraceContext> {
        let slot = *self.0.slot.get()?;
        held(&orb.pi_current().get_slot(slot).ok()?)
    }

    /// Sets the trace context from which the calling thread's calls continue; with `None` they
    /// begin traces of their own.
    ///
    /// # Errors
    /// BAD_INV_ORDER before the ORB has started; BAD_PARAM for an ORB that was started without this
    /// initialiser.
    pub fn set_current(
        &self,
        orb: &Orb,
        context: Option<&TraceContext>,
    ) -> Result<(), SystemException> {
        let slot = self
            .0
            .slot
            .get()
            .copied()
            .unwrap_or_else(|| u32::MAX.into());
        orb.pi_current().set_slot(slot, kept(context))
    }
}

impl Shared {
    /// Begins a span as a child of the given context, or of another library's current span; returns
    /// the context of the new span.
    fn begin(&self, span: &Span, kind: &str, from: Option<TraceContext>) -> TraceContext {
        let parent = from.or_else(|| self.source.as_ref().and_then(|source| source()));
        let of_library = self.joined.as_ref().and_then(|library| {
            span.record("otel.kind", kind);
            match &parent {
                // The context that a server receives takes precedence over its thread's own.
                Some(parent) if kind == SERVER || !library.is_in_trace() => {
                    library.set_parent(span, parent);
                }
                _ => {}
            }
            library.context_of(span)
        });
        let own = of_library.unwrap_or_else(|| match &parent {
            Some(parent) => parent.child(),
            None => TraceContext::root(self.samples),
        });
        self.tell(span, &own, parent.as_ref());
        own
    }

    fn tell(&self, span: &Span, own: &TraceContext, parent: Option<&TraceContext>) {
        span.record(
            "trace_id",
            field::display(format_args!("{:032x}", own.trace_id())),
        );
        span.record(
            "span_id",
            field::display(format_args!("{:016x}", own.span_id())),
        );
        if let Some(parent) = parent {
            let id = format_args!("{:016x}", parent.span_id());
            span.record("parent_id", field::display(id));
            if let Some(sink) = &self.sink {
                sink(span, parent);
            }
        }
    }
}

impl fmt::Debug for Tracing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracing")
            .field("slot", &self.0.slot.get())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TracingBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TracingBuilder")
    }
}

/// Encodes a trace context as the value of a slot, in the form in which it is sent.
fn kept(context: Option<&TraceContext>) -> Any {
    let data = context.and_then(encoded).unwrap_or_default();
    Any::new(&data).unwrap_or_default()
}

fn held(slot: &Any) -> Option<TraceContext> {
    decoded(&slot.extract::<Vec<u8>>().ok()?)
}

impl OrbInitializer for Tracing {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        let slot = info.allocate_slot_id();
        self.0.slot.get_or_init(|| slot);
        info.add_client_request_interceptor(Arc::new(AtEnd(self.0.clone())))?;
        info.add_server_request_interceptor(Arc::new(AtEnd(self.0.clone())))?;
        Ok(())
    }
}

/// Interceptor that traces client requests and server requests.
struct AtEnd(Arc<Shared>);

/// Span kinds of a client call and of a served request, in OpenTelemetry's terms.
const CLIENT: &str = "client";
const SERVER: &str = "server";

const NAME: &str = "punctual.trace-context";

thread_local! {
    /// Spans of the unfinished calls of this thread, innermost last.
    static CALLS: RefCell<Vec<Span>> = const { RefCell::new(Vec::new()) };
    /// Entered spans of the thread's current upcalls, with their request ids.
    static UPCALLS: RefCell<Vec<(u32, EnteredSpan)>> = const { RefCell::new(Vec::new()) };
}

/// Ends the span of a call; `error` is its failure, if there is one.
fn end(error: Option<&str>) {
    // The span is dropped outside of the borrow: a subscriber may make calls.
    let span = CALLS.with_borrow_mut(Vec::pop);
    if let (Some(span), Some(error)) = (&span, error) {
        span.record("error", error);
    }
}

impl Shared {
    /// Ends the span of a request that has been answered; `error` is its failure, if there is one.
    fn end_span(&self, request_id: u32, error: Option<&str>) {
        let span = self.served.ends(request_id);
        if let (Some(span), Some(error)) = (&span, error) {
            span.record("error", error);
        }
    }
}

impl ClientRequestInterceptor for AtEnd {
    fn name(&self) -> &str {
        NAME
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let slot = self.0.slot.get().copied();
        let from = slot.and_then(|slot| held(&info.get_slot(slot).ok()?));
        let span = tracing::info_span!(
            "corba.call",
            operation = info.operation(),
            trace_id = field::Empty,
            span_id = field::Empty,
            parent_id = field::Empty,
            error = field::Empty,
            otel.kind = field::Empty,
        );
        let own = self.0.begin(&span, CLIENT, from);
        if let Some(data) = encoded(&own) {
            info.add_request_service_context(TRACE_CONTEXT, &data, true)?;
        }
        CALLS.with_borrow_mut(|calls| calls.push(span));
        Ok(())
    }

    fn send_poll(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        // The call's own span ended when its caller went on.
        let span = tracing::info_span!(
            "corba.poll",
            operation = info.operation(),
            error = field::Empty
        );
        CALLS.with_borrow_mut(|calls| calls.push(span));
        Ok(())
    }

    fn receive_reply(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        end(None);
        Ok(())
    }

    fn receive_exception(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        end(Some(info.received_exception_id().unwrap_or_default()));
        Ok(())
    }

    fn receive_other(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        end(None);
        Ok(())
    }
}

impl ServerRequestInterceptor for AtEnd {
    fn name(&self) -> &str {
        NAME
    }

    fn receive_request_service_contexts(
        &self,
        info: &mut ServerRequestInfo<'_>,
    ) -> Result<(), InterceptorError> {
        let data = info.get_request_service_context(TRACE_CONTEXT).ok();
        let span = tracing::info_span!(
            "corba.upcall",
            operation = info.operation(),
            trace_id = field::Empty,
            span_id = field::Empty,
            parent_id = field::Empty,
            error = field::Empty,
            otel.kind = field::Empty,
        );
        let own = self.0.begin(&span, SERVER, data.and_then(decoded));
        if let Some(slot) = self.0.slot.get() {
            info.set_slot(*slot, kept(Some(&own)))?;
        }
        self.0.served.begins(info.request_id(), span);
        Ok(())
    }

    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let id = info.request_id();
        if let Some(span) = self.0.served.of(id) {
            let entered = span.entered();
            UPCALLS.with_borrow_mut(|upcalls| upcalls.push((id, entered)));
        }
        Ok(())
    }

    fn upcall_ended(&self, request_id: u32) {
        let is_its = |upcalls: &Vec<(u32, EnteredSpan)>| {
            upcalls.last().is_some_and(|(id, _)| *id == request_id)
        };
        let entered = UPCALLS.with_borrow_mut(|upcalls| match is_its(upcalls) {
            true => upcalls.pop(),
            false => None,
        });
        drop(entered);
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        self.0.end_span(info.request_id(), None);
        Ok(())
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let error = info.sending_exception_id().unwrap_or_default();
        self.0.end_span(info.request_id(), Some(error));
        Ok(())
    }

    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        self.0.end_span(info.request_id(), None);
        Ok(())
    }
}
