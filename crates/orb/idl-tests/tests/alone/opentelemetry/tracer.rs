//! Tracer that keeps the spans that have ended, for the test to inspect. OpenTelemetry's SDK would
//! take longer to compile than the test itself.

use opentelemetry::trace::{
    Span, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId,
    TraceState, Tracer,
};
use opentelemetry::{Context, KeyValue};
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Tracing span that has ended, as recorded by the test tracer.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) name: Cow<'static, str>,
    pub(super) kind: SpanKind,
    pub(super) context: SpanContext,
    /// Id of the parent span; invalid if there is none.
    pub(super) parent: SpanId,
    pub(super) is_parent_remote: bool,
}

/// Test tracer that keeps the ended spans; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Keeps {
    ended: Arc<Mutex<Vec<Ended>>>,
    last_id: Arc<AtomicU64>,
}

impl Keeps {
    /// Returns the spans that have ended since the last [`forget`](Self::forget).
    pub(super) fn ended(&self) -> Vec<Ended> {
        self.ended.lock().unwrap().clone()
    }

    pub(super) fn forget(&self) {
        self.ended.lock().unwrap().clear();
    }

    fn next_id(&self) -> u64 {
        1 + self.last_id.fetch_add(1, Ordering::Relaxed)
    }
}

impl Tracer for Keeps {
    type Span = Open;

    fn build_with_context(&self, builder: SpanBuilder, parent: &Context) -> Open {
        let parent = parent.span().span_context().clone();
        let trace = match parent.is_valid() {
            true => parent.trace_id(),
            false => TraceId::from(u128::from(self.next_id())),
        };
        let id = SpanId::from(self.next_id());
        let context =
            SpanContext::new(trace, id, TraceFlags::SAMPLED, false, TraceState::default());
        let span = Ended {
            name: builder.name,
            kind: builder.span_kind.unwrap_or(SpanKind::Internal),
            context,
            parent: parent.span_id(),
            is_parent_remote: parent.is_remote(),
        };
        Open {
            span,
            keeps: Some(self.clone()),
        }
    }
}

/// Span that has not ended. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Open {
    span: Ended,
    /// Tracer that stores the span when it ends; taken out then, so that the span ends only once.
    keeps: Option<Keeps>,
}

impl Span for Open {
    fn add_event_with_timestamp<T>(&mut self, _: T, _: SystemTime, _: Vec<KeyValue>)
    where
        T: Into<Cow<'static, str>>,
    {
    }

    fn span_context(&self) -> &SpanContext {
        &self.span.context
    }

    fn is_recording(&self) -> bool {
        self.keeps.is_some()
    }

    fn set_attribute(&mut self, _: KeyValue) {}

    fn set_status(&mut self, _: Status) {}

    fn update_name<T>(&mut self, name: T)
    where
        T: Into<Cow<'static, str>>,
    {
        self.span.name = name.into();
    }

    fn add_link(&mut self, _: SpanContext, _: Vec<KeyValue>) {}

    fn end_with_timestamp(&mut self, _: SystemTime) {
        if let Some(keeps) = self.keeps.take() {
            keeps.ended.lock().unwrap().push(self.span.clone());
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.end();
    }
}
