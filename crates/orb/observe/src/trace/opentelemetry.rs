//! Connection of request spans to OpenTelemetry: if a `tracing-opentelemetry` layer makes
//! OpenTelemetry spans from those of `tracing`, their ids are propagated, so that the spans of
//! client and server belong to one trace, together with all other spans of their threads.

use super::context::TraceContext;
use super::interceptors::{SpanLibrary, TracingBuilder};
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use std::str::FromStr;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

impl TracingBuilder {
    /// Makes the spans of requests spans of OpenTelemetry. The propagated trace context is that of
    /// the span which the subscriber's `tracing-opentelemetry` layer has begun, and a server's span
    /// is a child of the client's. Without such a layer, or for spans that it filters out, ids are
    /// generated as without this option.
    ///
    /// ```no_run
    /// # use punctual_observe::trace::Tracing;
    /// let tracing = Tracing::builder().with_opentelemetry().build();
    /// ```
    #[must_use]
    pub fn with_opentelemetry(self) -> Self {
        self.joining(Box::new(OpenTelemetry))
    }
}

struct OpenTelemetry;

impl SpanLibrary for OpenTelemetry {
    fn is_in_trace(&self) -> bool {
        let current = Span::current();
        !current.is_none() && current.context().span().span_context().is_valid()
    }

    fn set_parent(&self, span: &Span, parent: &TraceContext) {
        let parent = Context::new().with_remote_span_context(remote(parent));
        // This fails without a layer, or with none that wants the span, which then has no context
        // either.
        let _ = span.set_parent(parent);
    }

    fn context_of(&self, span: &Span) -> Option<TraceContext> {
        let context = span.context();
        let span = context.span();
        let own = span.span_context();
        let trace_id = u128::from_be_bytes(own.trace_id().to_bytes());
        let span_id = u64::from_be_bytes(own.span_id().to_bytes());
        let context = TraceContext::of_span(trace_id, span_id, own.trace_flags().to_u8())?;
        Some(context.with_state(&own.trace_state().header()))
    }
}

fn remote(context: &TraceContext) -> SpanContext {
    SpanContext::new(
        TraceId::from_bytes(context.trace_id().to_be_bytes()),
        SpanId::from_bytes(context.span_id().to_be_bytes()),
        TraceFlags::new(context.flags()),
        true,
        // Invalid entries are left out.
        TraceState::from_str(context.state()).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_context_is_opentelemetrys_span_context() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context: TraceContext = parent.parse().unwrap();
        let remote = remote(&context.with_state("vendor=1"));
        assert_eq!(
            remote.trace_id().to_string(),
            "0af7651916cd43dd8448eb211c80319c"
        );
        assert_eq!(remote.span_id().to_string(), "b7ad6b7169203331");
        assert!(remote.is_sampled() && remote.is_remote());
        assert_eq!(remote.trace_state().header(), "vendor=1");
    }

    #[test]
    fn without_a_layer_a_span_has_no_context() {
        let span = tracing::info_span!("alone");
        assert_eq!(OpenTelemetry.context_of(&span), None);
        assert!(!OpenTelemetry.is_in_trace());
    }
}
