//! Traces that continue from a client to its server, and metrics: for requests, for calls within
//! the process, and for asynchronous calls.

use super::fixture::{Near, Pair, moved};
use super::generated::intercepted::{Account, AccountDepositError, AccountServant};
use super::support::watchdog;
use punctual::dynamic::Request;
use punctual::observe::metrics::Metrics;
use punctual::observe::trace::{TraceContext, Tracing};
use punctual::{Interface, Orb, RootPoa, SystemException};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Servant that records the trace context of its upcalls, and calls another object within them.
struct Notes {
    orb: Orb,
    tracing: Tracing,
    noted: Arc<Mutex<Vec<Option<TraceContext>>>>,
    next: Option<Account>,
}

impl AccountServant for Notes {
    fn deposit(&self, amount: i32) -> Result<i32, AccountDepositError> {
        self.noted
            .lock()
            .unwrap()
            .push(self.tracing.current(&self.orb));
        match &self.next {
            Some(next) => next.deposit(amount),
            None => Ok(amount),
        }
    }

    fn fail(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn panic(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn note(&self, _: &str) -> Result<(), SystemException> {
        Ok(())
    }

    fn slot(&self) -> Result<i32, SystemException> {
        Ok(0)
    }
}

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[test]
fn a_trace_goes_on_from_a_thread_through_two_upcalls() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for near in [Near::ByWire, Near::WithinProcess] {
        let (at_server, at_client) = (Tracing::builder().build(), Tracing::builder().build());
        let server = Orb::builder().initializer(Arc::new(at_server.clone()));
        let client = Orb::builder().initializer(Arc::new(at_client.clone()));
        let pair = Pair::new(near, server, client);
        let noted = Arc::new(Mutex::new(Vec::new()));
        let servant = |next| Notes {
            orb: pair.server.clone(),
            tracing: at_server.clone(),
            noted: noted.clone(),
            next,
        };
        let last: Account = pair.poa.activate(servant(None)).unwrap();
        let first: Account = pair.poa.activate(servant(Some(last))).unwrap();
        let account = Account::from_object(pair.as_client(first.as_object()));
        let parent: TraceContext = PARENT.parse().unwrap();
        let parent = parent.with_state("vendor=1");
        at_client.set_current(&pair.client, Some(&parent)).unwrap();
        account.deposit(1).unwrap();
        account.sendp_deposit(1).wait().unwrap();
        let noted = noted.lock().unwrap();
        assert_eq!(noted.len(), 4);
        let mut spans = vec![parent.span_id()];
        for one in noted.iter().flatten() {
            assert_eq!(one.trace_id(), parent.trace_id(), "{near:?}");
            assert!(one.is_sampled());
            assert_eq!(one.state(), "vendor=1");
            spans.push(one.span_id());
        }
        // Each has a span of its own.
        spans.sort_unstable();
        spans.dedup();
        assert_eq!(spans.len(), 5);
        // The caller's context is unchanged.
        assert_eq!(at_client.current(&pair.client), Some(parent));
        at_client.set_current(&pair.client, None).unwrap();
        assert_eq!(at_client.current(&pair.client), None);
        drop(noted);
        pair.end();
    }
}

#[test]
fn a_server_that_is_told_of_no_trace_begins_one_and_another_library_may_say_which() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let at_server = Tracing::builder().unsampled().build();
    let server = Orb::builder().initializer(Arc::new(at_server.clone()));
    let parent: TraceContext = PARENT.parse().unwrap();
    let (source, told) = (parent.clone(), Arc::new(Mutex::new(Vec::new())));
    let tell = told.clone();
    let at_client = Tracing::builder()
        .from_source(move || Some(source.clone()))
        .to_sink(move |_, parent| tell.lock().unwrap().push(parent.span_id()))
        .build();
    let pair = Pair::new(Near::ByWire, server, Orb::builder());
    let noted = Arc::new(Mutex::new(Vec::new()));
    let servant = Notes {
        orb: pair.server.clone(),
        tracing: at_server,
        noted: noted.clone(),
        next: None,
    };
    let account: Account = pair.poa.activate(servant).unwrap();
    let untraced = Account::from_object(pair.as_client(account.as_object()));
    untraced.deposit(1).unwrap();
    let traced = Orb::builder().initializer(Arc::new(at_client));
    let traced = traced.configure(|config| {
        config.collocation_scope = punctual::policy::CollocationScope::Orb;
    });
    let traced = traced.build().unwrap();
    let by_traced = Account::from_object(moved(account.as_object(), &traced));
    by_traced.deposit(1).unwrap();
    let noted = noted.lock().unwrap();
    let [Some(own), Some(theirs)] = &noted[..] else {
        panic!("{noted:?}");
    };
    assert!(!own.is_sampled());
    assert_ne!(own.trace_id(), parent.trace_id());
    assert_eq!(theirs.trace_id(), parent.trace_id());
    assert_eq!(*told.lock().unwrap(), [parent.span_id()]);
    traced.shutdown(true).unwrap();
    pair.end();
}

/// Log writer that collects the output in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_a_servant_logs_stands_in_the_span_of_its_upcall_and_nothing_after_it_does() {
    let _watchdog = watchdog(Duration::from_secs(120));
    struct Logs;

    impl AccountServant for Logs {
        fn deposit(&self, amount: i32) -> Result<i32, AccountDepositError> {
            tracing::info!("within");
            Ok(amount)
        }

        fn fail(&self) -> Result<(), SystemException> {
            panic!("the servant panics on purpose")
        }

        fn panic(&self) -> Result<(), SystemException> {
            Ok(())
        }

        fn note(&self, _: &str) -> Result<(), SystemException> {
            Ok(())
        }

        fn slot(&self) -> Result<i32, SystemException> {
            Ok(0)
        }
    }

    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // Calls within the process run on this thread, to which the subscriber belongs.
    tracing::subscriber::with_default(subscriber, || {
        let orb = Orb::builder().initializer(Arc::new(Tracing::builder().build()));
        let orb = orb.build().unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let account: Account = poa.activate(Logs).unwrap();
        account.deposit(1).unwrap();
        tracing::info!("after");
        account.fail().unwrap_err();
        tracing::info!("behind");
        orb.shutdown(true).unwrap();
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let line = |text: &str| {
        log.lines()
            .find(|line| line.ends_with(text))
            .unwrap()
            .to_owned()
    };
    let within = line("within");
    assert!(
        within.contains("corba.upcall{operation=\"deposit\""),
        "{within}"
    );
    assert!(within.contains("parent_id="), "{within}");
    for outside in ["after", "behind"] {
        assert!(!line(outside).contains("corba."), "{log}");
    }
}

/// Returns the number at the end of the line that starts with `begin`.
fn number(text: &str, begin: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(begin))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[test]
fn calls_are_counted_with_their_errors_and_times_at_both_ends() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for near in [Near::ByWire, Near::WithinProcess] {
        let (at_client, at_server) = (Metrics::new(), Metrics::new());
        let pair = Pair::new(
            near,
            Orb::builder().initializer(Arc::new(at_server.clone())),
            Orb::builder().initializer(Arc::new(at_client.clone())),
        );
        let account = pair.account();
        for _ in 0..3 {
            account.deposit(1).unwrap();
        }
        account.deposit(-1).unwrap_err();
        account.fail().unwrap_err();
        account.note("one-way").unwrap();
        pair.as_if_elsewhere().sendp_deposit(1).wait().unwrap();
        // This call is served on the same connection, and so after the one-way.
        account.deposit(1).unwrap();
        for (metrics, end, timed) in [(&at_client, "client", 5.0), (&at_server, "server", 6.0)] {
            let text = metrics.render();
            let get = |what: &str, of: &str, more: &str| {
                let begin =
                    format!("punctual_call{what}{{end=\"{end}\",operation=\"{of}\"{more}}}");
                number(&text, &begin)
            };
            assert_eq!(get("s_total", "deposit", ""), Some(6.0), "{near:?} {text}");
            let kind = ",kind=\"user\"";
            assert_eq!(get("_errors_total", "deposit", kind), Some(1.0), "{text}");
            let kind = ",kind=\"system\"";
            assert_eq!(get("_errors_total", "fail", kind), Some(1.0), "{text}");
            assert_eq!(get("s_total", "note", ""), Some(1.0), "{text}");
            let times = get("_duration_seconds_count", "deposit", "");
            assert_eq!(times, Some(timed), "{near:?} {text}");
            let infinite = ",le=\"+Inf\"";
            assert_eq!(
                get("_duration_seconds_bucket", "deposit", infinite),
                Some(timed)
            );
            assert!(get("_duration_seconds_sum", "deposit", "") > Some(0.0));
        }
        pair.end();
    }
}

#[test]
fn metrics_are_served_by_http_as_long_as_the_orb_holds_them() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let metrics = Metrics::served_at("127.0.0.1:0").unwrap();
    let address = metrics.address().unwrap();
    let server = Orb::builder().initializer(Arc::new(metrics));
    let pair = Pair::new(Near::ByWire, server, Orb::builder());
    pair.account().deposit(1).unwrap();
    // Each reply is counted before the next request of its connection is read.
    pair.account().deposit(1).unwrap();
    let counted = get(address, "/metrics");
    assert!(counted.starts_with("HTTP/1.1 200 OK"), "{counted}");
    let sample = "punctual_calls_total{end=\"server\",operation=\"deposit\"} ";
    let count = number(&counted, sample.trim_end());
    assert!(count >= Some(1.0), "{counted}");
    assert!(get(address, "/health").ends_with("\r\n\r\nalive\n"));
    assert!(get(address, "/").starts_with("HTTP/1.1 404"));
    pair.end();
    // The address is free again once the ORB is gone.
    while TcpListener::bind(address).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let refused = Metrics::served_at(&taken.local_addr().unwrap().to_string());
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::AddrInUse);
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut peer = TcpStream::connect(address).unwrap();
    write!(peer, "GET {path} HTTP/1.1\r\n\r\n").unwrap();
    let mut reply = String::new();
    peer.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn names_that_peers_make_up_are_not_kept() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let metrics = Metrics::with_most_operations(4);
    let server = Orb::builder().initializer(Arc::new(metrics.clone()));
    let pair = Pair::new(Near::ByWire, server, Orb::builder());
    let account = pair.account();
    for number in 0..20 {
        Request::new(&account, &format!("made_up_{number}"))
            .invoke()
            .unwrap_err();
    }
    account.deposit(1).unwrap();
    let text = metrics.render();
    assert!(!text.contains("made_up"), "{text}");
    let others = "punctual_calls_total{end=\"server\",operation=\"other\"}";
    assert_eq!(number(&text, others), Some(20.0), "{text}");
    let known = "punctual_calls_total{end=\"server\",operation=\"deposit\"}";
    assert_eq!(number(&text, known), Some(1.0), "{text}");
    pair.end();
}
