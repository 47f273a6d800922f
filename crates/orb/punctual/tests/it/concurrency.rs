//! Threads that serve: one for each connection, one for all, a pool; and callers that serve other
//! requests while they wait.
#![allow(clippy::unwrap_used, missing_docs)]

mod strategies {
    use crate::support::{Echo, Pair, object_key, watchdog};
    use punctual::config::{Concurrency, PoolSize};
    use punctual::stub::{Block, ByteOrder, Coding, Encoder};
    use punctual::{Interface, ListenEndpoint, Orb, RootPoa, SystemExceptionKind as Kind, minor};
    use punctual_giop::{LocateRequestHeader, MessageKind, Target, begin_message, finish_message};
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    const LIMIT: Duration = Duration::from_secs(60);

    fn pool(threads: usize, most: usize, reserve: bool) -> Concurrency {
        Concurrency::LeaderFollowers(PoolSize {
            threads,
            most,
            reserve,
        })
    }

    fn served(concurrency: Concurrency) -> Pair {
        Pair::with(
            |config| config.concurrency = concurrency,
            |config| config.connections_per_endpoint = 1,
        )
    }

    const ALL: [Concurrency; 3] = [
        Concurrency::ThreadPerConnection,
        Concurrency::Reactive,
        Concurrency::LeaderFollowers(PoolSize {
            threads: 2,
            most: 4,
            reserve: true,
        }),
    ];

    #[test]
    fn calls_of_all_kinds_are_answered() {
        let _watchdog = watchdog(LIMIT);
        for concurrency in ALL {
            let pair = served(concurrency);
            for number in 0..100 {
                assert_eq!(pair.echo.long(number).unwrap(), number);
            }
            assert_eq!(pair.echo.text("text").unwrap(), "text");
            for length in [0, 1, 5000, 1 << 20, 9 << 20] {
                let octets = vec![7; length];
                assert!(pair.echo.octets(&octets).unwrap() == octets, "{length}");
            }
            pair.echo.ping().unwrap();
            assert_eq!(pair.echo.pings().unwrap(), 1);
            assert_eq!(pair.echo.fail().unwrap_err().kind(), Kind::NoPermission);
            assert_eq!(pair.echo.panic().unwrap_err().kind(), Kind::Unknown);
            assert_eq!(pair.echo.unknown().unwrap_err().kind(), Kind::BadOperation);
            pair.server.shutdown(true).unwrap();
        }
    }

    #[test]
    fn many_threads_share_a_connection() {
        let _watchdog = watchdog(LIMIT);
        for concurrency in ALL {
            let pair = served(concurrency);
            std::thread::scope(|scope| {
                for thread in 0..8 {
                    let echo = &pair.echo;
                    scope.spawn(move || {
                        for number in 0..500 {
                            let value = thread * 1000 + number;
                            assert_eq!(echo.long(value).unwrap(), value);
                        }
                    });
                }
            });
            assert_eq!(pair.server.client_connections(), 1);
        }
    }

    #[test]
    fn shutting_down_waits_for_the_call_in_progress_and_ends_every_thread() {
        let _watchdog = watchdog(LIMIT);
        for concurrency in ALL {
            let pair = served(concurrency);
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| pair.echo.wait());
                pair.servant.gate.wait_for_waiters(1);
                let ending = scope.spawn(|| pair.server.shutdown(true));
                while !pair.server.is_shut_down() {
                    crate::support::pause();
                }
                assert!(!ending.is_finished());
                pair.servant.gate.open();
                waiting.join().unwrap().unwrap();
                ending.join().unwrap().unwrap();
            });
            assert_eq!(pair.server.client_connections(), 0);
        }
    }

    #[test]
    fn an_upcall_that_takes_long_does_not_keep_its_connection_from_being_served() {
        let _watchdog = watchdog(LIMIT);
        for concurrency in [ALL[0], ALL[2]] {
            let pair = served(concurrency);
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| pair.echo.wait());
                pair.servant.gate.wait_for_waiters(1);
                // Over the same connection, while the first call is in its upcall.
                assert_eq!(pair.echo.long(5).unwrap(), 5);
                pair.servant.gate.open();
                waiting.join().unwrap().unwrap();
            });
            assert_eq!(pair.server.client_connections(), 1);
        }
    }

    #[test]
    fn a_pool_whose_threads_are_all_held_up_refuses_and_then_serves_again() {
        let _watchdog = watchdog(LIMIT);
        let pair = served(pool(1, 2, true));
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..2).map(|_| scope.spawn(|| pair.echo.wait())).collect();
            pair.servant.gate.wait_for_waiters(2);
            let refused = pair.echo.long(1).unwrap_err();
            assert_eq!(
                (refused.kind(), refused.minor()),
                (Kind::Transient, minor::POOL_EXHAUSTED)
            );
            pair.servant.gate.open();
            for waiting in waiting {
                waiting.join().unwrap().unwrap();
            }
        });
        // The reserve thread may still be serving for a moment.
        while let Err(refused) = pair.echo.long(2) {
            assert_eq!(refused.minor(), minor::POOL_EXHAUSTED);
        }
    }

    #[test]
    fn without_a_reserve_requests_wait_for_a_thread() {
        let _watchdog = watchdog(LIMIT);
        let pair = served(pool(1, 1, false));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| pair.echo.wait());
            pair.servant.gate.wait_for_waiters(1);
            let behind = scope.spawn(|| pair.echo.long(1));
            pair.servant.gate.open();
            waiting.join().unwrap().unwrap();
            assert_eq!(behind.join().unwrap().unwrap(), 1);
        });
    }

    #[test]
    fn each_endpoint_has_a_strategy_of_its_own() {
        let _watchdog = watchdog(LIMIT);
        let pair = Pair::with(
            |config| {
                let uiop = ListenEndpoint::new("uiop", "").option("concurrency", "reactive");
                let pool = ListenEndpoint::new("uiop", "")
                    .option("concurrency", "leader_followers")
                    .option("threads", 3);
                config.listen.extend([uiop, pool]);
            },
            |_| {},
        );
        assert_eq!(pair.server.endpoints().len(), 3);
        assert_eq!(pair.echo.long(1).unwrap(), 1);
    }

    #[test]
    fn a_link_that_needs_a_thread_for_each_connection_is_refused_another_strategy() {
        let server = Orb::builder()
            .listen(ListenEndpoint::new("shmiop", "").option("concurrency", "reactive"))
            .build()
            .unwrap();
        let refused = server.root_poa().unwrap_err().to_string();
        assert!(
            refused.contains("a thread each") && refused.contains("shmiop"),
            "{refused}"
        );
        // By default the object is served in any possible way.
        let server = Orb::builder()
            .listen(ListenEndpoint::new("shmiop", ""))
            .configure(|config| config.concurrency = Concurrency::Reactive)
            .build()
            .unwrap();
        server.root_poa().unwrap();
        server.shutdown(true).unwrap();
    }

    /// Returns a message that asks whether the object of a pair is here, from a client without an ORB.
    fn locate_request(pair: &Pair) -> Vec<u8> {
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        begin_message(&mut out, MessageKind::LocateRequest);
        let key = object_key(pair);
        let header = LocateRequestHeader {
            request_id: 2,
            target: Target::ObjectKey(&key),
        };
        header.encode(&mut out).unwrap();
        let mut block = out.into_block();
        finish_message(&mut block).unwrap();
        block.into_vec()
    }

    #[test]
    fn clients_that_send_a_byte_now_and_then_keep_nobody_from_being_served() {
        let _watchdog = watchdog(LIMIT);
        for concurrency in ALL {
            let pair = served(concurrency);
            let request = locate_request(&pair);
            let connect = |_| TcpStream::connect(("127.0.0.1", pair.port)).unwrap();
            // More than a pool has threads.
            let mut slow: Vec<TcpStream> = (0..24).map(connect).collect();
            for (number, byte) in (0..).zip(&request) {
                for stream in &mut slow {
                    stream.write_all(&[*byte]).unwrap();
                }
                assert_eq!(pair.echo.long(number).unwrap(), number, "{concurrency:?}");
            }
            for stream in &mut slow {
                let mut header = [0; 12];
                stream.read_exact(&mut header).unwrap();
                assert_eq!(&header[..4], b"GIOP");
            }
            pair.server.shutdown(true).unwrap();
        }
    }

    #[test]
    fn connections_of_busy_clients_are_served_beside_each_other_and_long_upcalls() {
        let _watchdog = watchdog(LIMIT);
        for concurrency in ALL {
            let pair = served(concurrency);
            let text = pair.client.object_to_string(&pair.echo).unwrap();
            let holds = concurrency != Concurrency::Reactive;
            std::thread::scope(|scope| {
                let waiting = holds.then(|| scope.spawn(|| pair.echo.wait()));
                if holds {
                    pair.servant.gate.wait_for_waiters(1);
                }
                // More connections than the pool has threads, each with one request after the other.
                let busy: Vec<_> = (0..8)
                    .map(|_| {
                        scope.spawn(|| {
                            let client = Orb::builder().build().unwrap();
                            let echo = client.string_to_object(&text).unwrap();
                            let echo = Echo::narrow(echo).unwrap();
                            for number in 0..300 {
                                assert_eq!(echo.long(number).unwrap(), number);
                            }
                        })
                    })
                    .collect();
                for client in busy {
                    client.join().unwrap();
                }
                pair.servant.gate.open();
                if let Some(waiting) = waiting {
                    waiting.join().unwrap().unwrap();
                }
            });
            pair.server.shutdown(true).unwrap();
        }
    }

    /// Makes a pair whose server's threads poll for the next request of the connection that they have just served.
    fn staying(concurrency: Concurrency) -> Pair {
        Pair::with(
            |config| {
                config.concurrency = concurrency;
                config.iiop.spin.budget = Duration::from_millis(1);
                config.iiop.spin.always = true;
            },
            |config| config.connections_per_endpoint = 1,
        )
    }

    #[test]
    fn a_thread_that_stays_with_a_connection_leaves_it_to_others_during_a_long_upcall() {
        let _watchdog = watchdog(LIMIT);
        for concurrency in [pool(2, 2, true), pool(3, 4, false)] {
            let pair = staying(concurrency);
            let call = || {
                for number in 0..200 {
                    assert_eq!(pair.echo.long(number).unwrap(), number);
                }
            };
            call();
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| pair.echo.wait());
                pair.servant.gate.wait_for_waiters(1);
                // Over the same connection, which the thread in the upcall has given away.
                call();
                pair.servant.gate.open();
                waiting.join().unwrap().unwrap();
            });
            call();
            assert_eq!(pair.server.client_connections(), 1);
            pair.server.shutdown(true).unwrap();
        }
    }

    #[test]
    fn threads_that_stay_with_busy_connections_keep_no_other_from_being_served() {
        let _watchdog = watchdog(LIMIT);
        let pair = staying(pool(2, 2, true));
        let text = pair.client.object_to_string(&pair.echo).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let client = Orb::builder().build().unwrap();
                    let echo = client.string_to_object(&text).unwrap();
                    let echo = Echo::narrow(echo).unwrap();
                    while !over.load(Ordering::Relaxed) {
                        echo.long(1).unwrap();
                    }
                });
            }
            // A connection each time, and large replies, of which the socket takes a part at once.
            for number in 0..20 {
                let client = Orb::builder().build().unwrap();
                let echo = client.string_to_object(&text).unwrap();
                let echo = Echo::narrow(echo).unwrap();
                assert_eq!(echo.long(number).unwrap(), number);
                let octets = vec![7; 3 << 20];
                assert!(echo.octets(&octets).unwrap() == octets);
                assert_eq!(echo.long(number).unwrap(), number);
                client.shutdown(true).unwrap();
            }
            over.store(true, Ordering::Relaxed);
        });
        pair.server.shutdown(true).unwrap();
        assert_eq!(pair.server.client_connections(), 0);
    }

    #[test]
    fn more_connections_than_there_may_be_are_turned_away() {
        let _watchdog = watchdog(LIMIT);
        for concurrency in ALL {
            let pair = Pair::with(
                |config| {
                    config.concurrency = concurrency;
                    config.max_connections = 1;
                },
                |_| {},
            );
            assert_eq!(pair.echo.long(1).unwrap(), 1);
            let other = Orb::builder().build().unwrap();
            let text = pair.client.object_to_string(&pair.echo).unwrap();
            let object = other.string_to_object(&text).unwrap();
            assert!(object.non_existent().is_err());
            assert_eq!(pair.echo.long(2).unwrap(), 2);
        }
    }
}

mod nesting {
    use crate::support::{Echo, EchoImpl, watchdog};
    use punctual::config::{Concurrency, PoolSize};
    use punctual::policy::Wait;
    use punctual::{
        Interface, ListenEndpoint, Orb, OrbConfig, RootPoa, SystemExceptionKind as Kind, minor,
    };
    use std::sync::Arc;
    use std::time::Duration;

    const LIMIT: Duration = Duration::from_secs(60);

    /// Makes an ORB with an object that calls other objects; it stands for a process.
    fn party(configure: impl FnOnce(&mut OrbConfig)) -> (Orb, Echo) {
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(configure)
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
        (orb, echo)
    }

    /// Returns the reference that another ORB has to an object.
    fn seen_by(orb: &Orb, from: &Orb, echo: &Echo) -> Echo {
        let text = from.object_to_string(echo).unwrap();
        Echo::narrow(orb.string_to_object(&text).unwrap()).unwrap()
    }

    fn one_pool(threads: usize) -> Concurrency {
        Concurrency::LeaderFollowers(PoolSize {
            threads,
            most: threads,
            reserve: true,
        })
    }

    #[test]
    fn a_thread_that_waits_serves_the_calls_that_its_own_leads_to() {
        let _watchdog = watchdog(LIMIT);
        for (concurrency, wait) in [
            (Concurrency::Reactive, Wait::Reactor),
            (one_pool(1), Wait::LeaderFollowers),
            (one_pool(2), Wait::LeaderFollowers),
        ] {
            let (server, echo) = party(|config| {
                config.concurrency = concurrency;
                config.wait = wait;
            });
            let client = Orb::builder().build().unwrap();
            let echo = seen_by(&client, &server, &echo);
            // The object calls itself through the ORB, nested.
            assert_eq!(echo.bounce(&echo, 8).unwrap(), 8, "{concurrency:?}");
            client.shutdown(true).unwrap();
            server.shutdown(true).unwrap();
        }
    }

    #[test]
    fn upcalls_that_nest_too_deep_are_refused() {
        let _watchdog = watchdog(LIMIT);
        let (server, echo) = party(|config| {
            config.concurrency = Concurrency::Reactive;
            config.wait = Wait::Reactor;
            config.max_nesting = 4;
        });
        let client = Orb::builder().build().unwrap();
        let echo = seen_by(&client, &server, &echo);
        assert_eq!(echo.bounce(&echo, 4).unwrap(), 4);
        let refused = echo.bounce(&echo, 5).unwrap_err();
        assert_eq!(
            (refused.kind(), refused.minor()),
            (Kind::Transient, minor::TOO_DEEP)
        );
        assert_eq!(echo.long(3).unwrap(), 3);
    }

    #[test]
    fn a_thread_that_only_reads_ends_a_call_that_needs_it_in_time() {
        let _watchdog = watchdog(LIMIT);
        let (server, echo) = party(|config| {
            config.concurrency = Concurrency::Reactive;
            config.timeouts.nested_call = Some(Duration::from_millis(200));
        });
        let client = Orb::builder().build().unwrap();
        let echo = seen_by(&client, &server, &echo);
        let ended = echo.bounce(&echo, 1).unwrap_err();
        assert_eq!(ended.kind(), Kind::Timeout, "{ended}");
        assert_eq!(echo.long(3).unwrap(), 3);
    }

    #[test]
    fn a_pool_that_waits_for_itself_is_told_so() {
        let _watchdog = watchdog(LIMIT);
        let (server, echo) = party(|config| config.concurrency = one_pool(2));
        let client = Orb::builder().build().unwrap();
        let echo = seen_by(&client, &server, &echo);
        assert_eq!(echo.bounce(&echo, 1).unwrap(), 1);
        let refused = echo.bounce(&echo, 3).unwrap_err();
        assert_eq!(refused.minor(), minor::POOL_EXHAUSTED, "{refused}");
    }

    #[test]
    fn two_servers_of_one_thread_each_call_each_other() {
        let _watchdog = watchdog(LIMIT);
        let reactive = |config: &mut OrbConfig| {
            config.concurrency = Concurrency::Reactive;
            config.wait = Wait::Reactor;
        };
        let ((one, first), (other, second)) = (party(reactive), party(reactive));
        let client = Orb::builder().build().unwrap();
        let first = seen_by(&client, &one, &first);
        let second = seen_by(&client, &other, &second);
        // The first calls the second, which calls itself; and from several threads at once.
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        assert_eq!(first.bounce(&second, 3).unwrap(), 3);
                        assert_eq!(second.bounce(&first, 2).unwrap(), 2);
                    }
                });
            }
        });
    }

    #[test]
    fn threads_that_wait_by_the_reactor_without_a_server_read_for_each_other() {
        let _watchdog = watchdog(LIMIT);
        let (server, echo) = party(|_| {});
        for wait in [Wait::Reactor, Wait::LeaderFollowers] {
            let client = Orb::builder()
                .configure(|config| config.wait = wait)
                .build()
                .unwrap();
            let echo = seen_by(&client, &server, &echo);
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let echo = &echo;
                    scope.spawn(move || {
                        for number in 0..300 {
                            assert_eq!(echo.long(thread * 1000 + number).unwrap() % 1000, number);
                        }
                    });
                }
            });
            let in_time = echo
                .with_timeout(Duration::from_millis(50))
                .wait()
                .unwrap_err();
            assert_eq!(in_time.kind(), Kind::Timeout);
            assert_eq!(echo.long(1).unwrap(), 1);
            client.shutdown(true).unwrap();
        }
        server.shutdown(false).unwrap();
    }
}
