//! Service contexts of a fixed size: requests carry them on both the fast and the slow path;
//! servants read them, and add others to replies.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::config::GiopVersion;
use punctual::interceptor::RequestContext;
use punctual::stub::{Arc, DispatchError, Dispatched, Marshal, ServerCall};
use punctual::{InitError, Interface, ListenEndpoint, Orb, RootPoa};
use std::cell::Cell;
use std::sync::Mutex;
use std::time::Duration;
use support::{Answering, Echo, watchdog};

const LIMIT: Duration = Duration::from_secs(60);
/// Id of Real-time CORBA's service context RTCorbaPriority, which is an encapsulated short.
const PRIORITY: u32 = 10;
/// Id of the application's own service context for tracing.
const TRACE: u32 = 0x5455_0001;

thread_local! {
    static OWN_PRIORITY: Cell<i16> = const { Cell::new(0) };
}

/// Context with the calling thread's priority, as a request would propagate it.
#[derive(Debug)]
struct Priority;

impl RequestContext for Priority {
    fn id(&self) -> u32 {
        PRIORITY
    }

    fn length(&self) -> usize {
        4
    }

    fn fill(&self, data: &mut [u8]) {
        let [high, low] = OWN_PRIORITY.get().to_be_bytes();
        data.copy_from_slice(&[0, 0, high, low]);
    }
}

/// Trace service context, whose data has an odd length.
#[derive(Debug)]
struct Trace;

impl RequestContext for Trace {
    fn id(&self) -> u32 {
        TRACE
    }

    fn length(&self) -> usize {
        5
    }

    fn fill(&self, data: &mut [u8]) {
        data.copy_from_slice(b"trace");
    }
}

/// Service contexts, each with its id and its data.
type Contexts = Vec<(u32, Vec<u8>)>;

/// Servant that answers each `long` with its argument, and records the contexts that came with it.
#[derive(Debug, Default)]
struct Noting {
    seen: Mutex<Vec<Contexts>>,
    /// Service contexts that are attached to the replies.
    replies: Contexts,
}

impl Answering for Noting {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let contexts = call.contexts().iter().map(|(id, data)| (id, data.to_vec()));
        self.seen.lock().unwrap().push(contexts.collect());
        for (id, data) in &self.replies {
            call.set_reply_context(*id, data);
        }
        let value = call.arguments().get_i32()?;
        call.reply(|out| value.marshal(out))
    }
}

/// Server that records contexts, and a reference to it in an ORB whose requests carry some.
struct Setting {
    noting: Arc<Noting>,
    echo: Echo,
    _server: Orb,
}

impl Setting {
    fn new(
        version: GiopVersion,
        contexts: Vec<Arc<dyn RequestContext>>,
        replies: Vec<(u32, Vec<u8>)>,
    ) -> Self {
        let server = Orb::builder()
            .configure(|config| config.giop_version = version)
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let noting = Arc::new(Noting {
            replies,
            ..Noting::default()
        });
        let echo: Echo = poa.activate(noting.clone()).unwrap();
        let text = server.object_to_string(echo.as_object()).unwrap();
        let client = contexts
            .into_iter()
            .fold(Orb::builder(), |builder, one| builder.request_context(one));
        let client = client.build().unwrap();
        Self {
            noting,
            echo: Echo::from_object(client.string_to_object(&text).unwrap()),
            _server: server,
        }
    }

    /// Returns the contexts of each request, without those of the ORB itself.
    fn seen(&self) -> Vec<Contexts> {
        let seen = std::mem::take(&mut *self.noting.seen.lock().unwrap());
        let own = |(id, _): &(u32, Vec<u8>)| *id == PRIORITY || *id == TRACE;
        seen.into_iter()
            .map(|all| all.into_iter().filter(own).collect())
            .collect()
    }
}

fn priority(value: i16) -> (u32, Vec<u8>) {
    let [high, low] = value.to_be_bytes();
    (PRIORITY, vec![0, 0, high, low])
}

#[test]
fn each_request_carries_what_its_thread_has_at_that_moment() {
    let _watchdog = watchdog(LIMIT);
    for version in [GiopVersion::V1_1, GiopVersion::V1_2] {
        let setting = Setting::new(version, vec![Arc::new(Priority)], Vec::new());
        let values = [3, -1, 32_767, 0, 5];
        for value in values {
            OWN_PRIORITY.set(value);
            assert_eq!(
                setting.echo.long(i32::from(value)).unwrap(),
                i32::from(value)
            );
        }
        let expected: Vec<_> = values.map(|value| vec![priority(value)]).into();
        assert_eq!(setting.seen(), expected, "GIOP {version}");
    }
}

#[test]
fn several_contexts_of_odd_lengths_stand_one_behind_the_other() {
    let _watchdog = watchdog(LIMIT);
    let contexts: Vec<Arc<dyn RequestContext>> = vec![Arc::new(Trace), Arc::new(Priority)];
    let setting = Setting::new(GiopVersion::V1_2, contexts, Vec::new());
    OWN_PRIORITY.set(9);
    for _ in 0..3 {
        assert_eq!(setting.echo.long(1).unwrap(), 1);
    }
    let expected = vec![(TRACE, b"trace".to_vec()), priority(9)];
    assert_eq!(setting.seen(), vec![expected; 3]);
}

#[test]
fn giop_1_0_carries_them_no_more_than_other_contexts() {
    let _watchdog = watchdog(LIMIT);
    let setting = Setting::new(GiopVersion::V1_0, vec![Arc::new(Priority)], Vec::new());
    assert_eq!(setting.echo.long(1).unwrap(), 1);
    assert_eq!(setting.seen(), [Vec::new()]);
}

#[test]
fn replies_with_contexts_short_long_or_many_reach_their_callers() {
    let _watchdog = watchdog(LIMIT);
    let short = priority(7);
    let long = (TRACE, vec![1; 100]);
    for replies in [vec![short.clone()], vec![long.clone()], vec![short, long]] {
        for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
            let setting = Setting::new(version, Vec::new(), replies.clone());
            for value in 0..4 {
                assert_eq!(setting.echo.long(value).unwrap(), value);
            }
        }
    }
}

#[test]
fn a_context_that_cannot_be_carried_stops_the_start() {
    #[derive(Debug)]
    struct Long;

    impl RequestContext for Long {
        fn id(&self) -> u32 {
            TRACE
        }

        fn length(&self) -> usize {
            65
        }

        fn fill(&self, _: &mut [u8]) {}
    }

    let refused = Orb::builder().request_context(Arc::new(Long)).build();
    let error = refused.err().unwrap();
    assert!(matches!(error, InitError::RequestContext(_)), "{error}");
    assert!(error.to_string().contains("64 octets"), "{error}");
}
