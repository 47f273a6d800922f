//! Calls with an end time set by policies, in each phase of a call.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::interceptor::RequestContext;
use punctual::stub::{Arc, DispatchError, Dispatched, ServerCall};
use punctual::{
    CompletionStatus, Interface, Orb, Policy, SetOverride, SystemExceptionKind as Kind,
};
use std::net::TcpListener;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};
use support::{Answering, Echo, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_millis(50);
const INVOCATION_POLICIES: u32 = 7;
/// Time from the UtcT epoch (1582) to the Unix epoch (1970), in tenths of a microsecond.
const BEFORE_UNIX: u64 = 0x01b2_1dd2_1381_4000;

fn under(echo: &Echo, policies: &[Policy]) -> Echo {
    let object = echo.as_object();
    let with = object.set_policy_overrides(policies, SetOverride::Add);
    Echo::from_object(with.unwrap())
}

#[test]
fn a_reply_that_is_not_there_by_its_end_time_is_not_waited_for() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let mut soon = SOON;
    for _ in 0..2 {
        let mut completed = CompletionStatus::No;
        // On a busy machine the request may not even have left by then.
        while completed == CompletionStatus::No {
            let began = Instant::now();
            let end = SystemTime::now() + soon;
            let echo = under(&pair.echo, &[Policy::ReplyEndTime(end)]);
            let error = echo.wait().unwrap_err();
            assert_eq!(error.kind(), Kind::Timeout, "{error}");
            assert!(began.elapsed() >= soon - Duration::from_millis(1));
            completed = error.completed();
            soon *= 2;
            assert!(soon < LIMIT, "the request never leaves");
        }
        assert_eq!(completed, CompletionStatus::Maybe);
    }
    // The earlier of two.
    let end = SystemTime::now() + Duration::from_secs(3600);
    let both = [
        Policy::ReplyEndTime(end),
        Policy::RelativeRoundtripTimeout(SOON),
    ];
    let error = under(&pair.echo, &both).wait().unwrap_err();
    assert_eq!(error.kind(), Kind::Timeout, "{error}");
}

#[test]
fn a_request_whose_end_has_passed_does_not_leave() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let passed = SystemTime::now() - Duration::from_secs(1);
    for policy in [Policy::RequestEndTime(passed), Policy::ReplyEndTime(passed)] {
        let echo = under(&pair.echo, &[policy]);
        for error in [echo.ping().unwrap_err(), echo.long(1).unwrap_err()] {
            assert_eq!(error.kind(), Kind::Timeout, "{error}");
            assert_eq!(error.completed(), CompletionStatus::No);
        }
    }
    assert_eq!(pair.echo.pings().unwrap(), 0);
}

#[test]
fn a_request_that_cannot_leave_in_time_is_given_up() {
    let _watchdog = watchdog(LIMIT);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = Orb::builder().build().unwrap();
    let object = client.string_to_object(&format!("corbaloc::1.2@127.0.0.1:{port}/key"));
    let echo = Echo::from_object(object.unwrap());
    let began = Instant::now();
    let echo = under(&echo, &[Policy::RelativeRequestTimeout(SOON)]);
    // The data is not read, and more than the sockets' buffers hold.
    let error = echo.octets(&vec![0; 32 << 20]).unwrap_err();
    assert_eq!(error.kind(), Kind::Timeout, "{error}");
    assert!(began.elapsed() >= SOON);
    client.shutdown(false).unwrap();
    drop(listener);
}

#[test]
#[cfg(feature = "reliable")]
fn a_connection_that_is_not_set_up_in_time_is_given_up() {
    let _watchdog = watchdog(LIMIT);
    // The socket receives datagrams and answers none.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let place = silent.local_addr().unwrap();
    let client = Orb::builder().configure(|config| config.timeouts.connect = None);
    let client = client.build().unwrap();
    let object = client.string_to_object(&format!("corbaloc:giop+reliable+diop:{place}/key"));
    let echo = Echo::from_object(object.unwrap());
    let began = Instant::now();
    for policy in [
        Policy::ConnectTimeout(SOON),
        Policy::RelativeRoundtripTimeout(SOON),
    ] {
        let error = under(&echo, &[policy]).long(1).unwrap_err();
        assert!(
            matches!(error.kind(), Kind::Transient | Kind::Timeout),
            "{error}"
        );
        assert_eq!(error.completed(), CompletionStatus::No);
    }
    assert!(began.elapsed() >= 2 * SOON);
    client.shutdown(false).unwrap();
}

/// Servant that records the invocation policies in the requests' service contexts.
#[derive(Default)]
struct Recorder(Mutex<Vec<Option<Vec<u8>>>>);

impl Answering for Recorder {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let context_with_end = call.contexts().find(INVOCATION_POLICIES);
        let mut record = self.0.lock().unwrap();
        record.push(context_with_end.map(<[u8]>::to_vec));
        call.reply(|_| Ok(()))
    }
}

/// Returns the end time in a request's invocation policies, in tenths of a microsecond since 1970.
fn end_in(context_with_end: &[u8]) -> u64 {
    assert_eq!(
        context_with_end[4..12],
        [1_u32.to_ne_bytes(), 28_u32.to_ne_bytes()].concat()
    );
    u64::from_ne_bytes(context_with_end[24..32].try_into().unwrap()) - BEFORE_UNIX
}

#[test]
fn servers_are_told_until_when_a_request_may_come() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let recorder = Arc::new(Recorder::default());
    let reference: Echo = pair.poa.activate(recorder.clone()).unwrap();
    let echo = pair.as_client(&reference);
    echo.ping().unwrap();
    let end = SystemTime::now() + LIMIT;
    under(&echo, &[Policy::RequestEndTime(end)]).fail().unwrap();
    let within = under(&echo, &[Policy::RelativeRequestTimeout(LIMIT)]);
    let before = SystemTime::now();
    within.fail().unwrap();
    within.fail().unwrap();
    let after = SystemTime::now();
    let record = recorder.0.lock().unwrap();
    let tenths = |time: SystemTime| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        u64::try_from(since.as_nanos() / 100).unwrap()
    };
    let context_with_end: Vec<Option<u64>> = record
        .iter()
        .map(|one| one.as_deref().map(end_in))
        .collect();
    assert_eq!(context_with_end[..2], [None, Some(tenths(end))]);
    // Each call begins again.
    let (first, second) = (context_with_end[2].unwrap(), context_with_end[3].unwrap());
    assert!(tenths(before + LIMIT) <= first && first < second);
    assert!(second <= tenths(after + LIMIT));
}

/// Service context with invocation policies that the test chooses, independent of the caller's.
#[derive(Debug)]
struct Told(Vec<u8>);

impl RequestContext for Told {
    fn id(&self) -> u32 {
        INVOCATION_POLICIES
    }

    fn length(&self) -> usize {
        self.0.len()
    }

    fn fill(&self, data: &mut [u8]) {
        data.copy_from_slice(&self.0);
    }
}

/// Returns the data of a context of invocation policies with this end time, in tenths of a
/// microsecond since 1582.
fn context_with_end(end: u64) -> Vec<u8> {
    let native = u8::from(cfg!(target_endian = "little"));
    let numbers = [1_u32, 28, 24].map(u32::to_ne_bytes).concat();
    let head = [&[native, 0, 0, 0], &numbers[..]].concat();
    let opened = [native, 0, 0, 0, 0, 0, 0, 0];
    [&head[..], &opened, &end.to_ne_bytes(), &[0; 8]].concat()
}

#[test]
fn a_server_does_not_begin_what_comes_too_late() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let text = pair.client.object_to_string(&pair.echo).unwrap();
    let heard = |context: Vec<u8>| {
        let builder = Orb::builder().request_context(Arc::new(Told(context)));
        let client = builder.build().unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        let heard = [echo.long(1).map(drop), echo.long(1).map(drop)];
        client.shutdown(true).unwrap();
        heard.map(|one| one.map_err(|error| (error.kind(), error.completed())))
    };
    let no = CompletionStatus::No;
    assert_eq!(
        heard(context_with_end(BEFORE_UNIX)),
        [Err((Kind::Timeout, no)); 2]
    );
    assert_eq!(heard(context_with_end(u64::MAX)), [Ok(()); 2]);
    assert_eq!(heard(vec![9; 7]), [Err((Kind::Marshal, no)); 2]);
}
