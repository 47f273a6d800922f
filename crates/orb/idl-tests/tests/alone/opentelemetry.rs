//! OpenTelemetry traces that continue from a client's span to its server's span, and from there to
//! a second server's.
#![allow(clippy::unwrap_used)]

mod tracer;

use crate::support;

use opentelemetry::trace::{SpanId, SpanKind};
use punctual::asynchronous::Amh;
use punctual::observe::trace::Tracing;
use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, Orb, OrbConfig, Response, RootPoa};
use punctual_idl_tests::clerks::asynchronous::{Clerk, ClerkAmhServant, ClerkCopiesError};
use std::sync::Arc;
use std::time::Duration;
use support::watchdog;
use tracer::{Ended, Keeps};
use tracing_subscriber::layer::SubscriberExt;

/// Servant that adds two numbers, itself or by a call to the next servant, if it has one.
struct Adds(Option<Clerk>);

impl ClerkAmhServant for Adds {
    fn add(&self, response: Response<i32>, a: i32, b: i32) {
        let _within = tracing::info_span!("adding").entered();
        let sum = match &self.0 {
            Some(next) => next.add(a, b),
            None => Ok(a + b),
        };
        response.answer(sum).unwrap();
    }

    fn rate(&self, _: Response<i32>) {}
    fn set_rate(&self, _: Response<()>, _: i32) {}
    fn copies(&self, _: Response<(String, i32, bool), ClerkCopiesError>, _: &str, _: i32) {}
    fn back(&self, _: Response<Vec<u8>>, _: &[u8]) {}
    fn wait_at(&self, _: Response<i32>, _: &str) {}
    fn open(&self, _: Response<()>, _: &str) {}
    fn self_or_nil(&self, _: Response<Option<Clerk>>, _: Option<&Clerk>) {}
    fn stumble(&self, _: Response<()>) {}
    fn note(&self, _: &str) {}
}

fn traced() -> Orb {
    let by_wire = |config: &mut OrbConfig| config.collocation = Collocation::None;
    Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(by_wire)
        .initializer(Arc::new(Tracing::builder().with_opentelemetry().build()))
        .build()
        .unwrap()
}

/// Activates a clerk object in the ORB `server`, and returns a reference to it that belongs to the
/// ORB `client`.
fn clerk(server: &Orb, servant: Adds, client: &Orb) -> Clerk {
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let clerk: Clerk = poa.activate(Amh::new(servant)).unwrap();
    let text = server.object_to_string(&clerk).unwrap();
    Clerk::narrow(client.string_to_object(&text).unwrap()).unwrap()
}

/// Returns the span that has the given name and the given parent span.
fn child<'s>(spans: &'s [Ended], name: &str, parent: SpanId) -> &'s Ended {
    let mut all = spans.iter();
    let found = all.find(|one| one.name == name && one.parent == parent);
    found.unwrap_or_else(|| panic!("no {name} below {parent} in {spans:#?}"))
}

#[test]
fn one_trace_goes_from_a_clients_span_through_two_servers() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(Duration::from_secs(120));
        let tracer = Keeps::default();
        let layer = tracing_opentelemetry::layer().with_tracer(tracer.clone());
        let subscriber = tracing_subscriber::registry().with(layer);
        // For all threads: servers have others than this one.
        tracing::subscriber::set_global_default(subscriber).unwrap();

        let (first, second, client) = (traced(), traced(), traced());
        let next = clerk(&second, Adds(None), &first);
        let front = clerk(&first, Adds(Some(next)), &client);
        tracer.forget();
        tracing::info_span!("work").in_scope(|| {
            assert_eq!(front.add(1, 2).unwrap(), 3);
            assert_eq!(front.sendp_add(3, 4).wait().unwrap(), 7);
        });
        // Calls outside of any span begin traces.
        assert_eq!(front.add(5, 6).unwrap(), 11);
        for orb in [client, first, second] {
            orb.shutdown(true).unwrap();
        }

        let spans = tracer.ended();
        let work = child(&spans, "work", SpanId::INVALID);
        let trace = work.context.trace_id();
        let calls = spans.iter().filter(|one| one.name == "corba.call");
        let calls: Vec<_> = calls
            .filter(|one| one.parent == work.context.span_id())
            .collect();
        assert_eq!(calls.len(), 2, "{spans:#?}");
        for call in calls {
            assert_eq!(call.kind, SpanKind::Client);
            let upcall = child(&spans, "corba.upcall", call.context.span_id());
            assert_eq!(upcall.kind, SpanKind::Server);
            assert!(upcall.is_parent_remote);
            let adding = child(&spans, "adding", upcall.context.span_id());
            let onwards = child(&spans, "corba.call", adding.context.span_id());
            let last = child(&spans, "corba.upcall", onwards.context.span_id());
            child(&spans, "adding", last.context.span_id());
            for one in [call, upcall, adding, onwards, last] {
                assert_eq!(one.context.trace_id(), trace);
            }
        }
        let alone = child(&spans, "corba.call", SpanId::INVALID);
        assert_ne!(alone.context.trace_id(), trace);
        let upcall = child(&spans, "corba.upcall", alone.context.span_id());
        assert_eq!(upcall.context.trace_id(), alone.context.trace_id());
    });
}
