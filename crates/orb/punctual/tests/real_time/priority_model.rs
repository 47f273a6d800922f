//! Priorities of servants by priority model, and their encoding in requests, replies and
//! references.

use crate::setting::{
    LIMIT, Seen, Server, at, client, echo, fifo, on_a_thread, ordinary, scheduled,
};
use crate::support::watchdog;
use punctual::interceptor::RequestContext;
use punctual::poa::PoaPolicy;
use punctual::rt::{
    AboveHighest, Mapping, Priority, PriorityModelPolicy, Propagated, RealTime, RtConfig, RtOrb,
};
use punctual::stub::Arc;
use punctual::{Orb, RootPoa, SystemException, SystemExceptionKind as Kind, minor};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Id of Real-time CORBA's service context RTCorbaPriority.
const PRIORITY: u32 = 10;

#[test]
fn a_clients_priority_is_its_servants_and_only_for_the_upcall() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    let server = Server::new(&rt);
    let model = PriorityModelPolicy::client_propagated(at(5));
    let (with_model, plain) = (server.object(model), server.plain());
    on_a_thread(|| {
        let client = client(&rt);
        let (with_model, plain) = (echo(&client, &with_model), echo(&client, &plain));
        let current = rt.current();
        for priority in [40, 7, 7, 99] {
            current.set_the_priority(at(priority)).unwrap();
            assert_eq!(scheduled(), (1, u32::from(priority.cast_unsigned())));
            assert_eq!(with_model.long(3).unwrap(), 3);
            let [low, high] = priority.to_le_bytes();
            let little = cfg!(target_endian = "little");
            let octets = if little {
                [1, 0, low, high]
            } else {
                [0, 0, high, low]
            };
            let expected = Seen {
                corba: Some(priority),
                scheduled: (1, u32::from(priority.cast_unsigned())),
                carried: Some(octets.to_vec()),
            };
            assert_eq!(server.noting.last(), expected);
            // The next request on the same connection, by the same thread: it has its own priority
            // again. Requests to a reference without a model carry none.
            assert_eq!(plain.long(4).unwrap(), 4);
            let expected = Seen {
                corba: None,
                scheduled: (0, 0),
                carried: None,
            };
            assert_eq!(server.noting.last(), expected);
        }
        // Whatever the end of the upcall.
        with_model.panic().unwrap_err();
        assert_eq!(server.noting.last().scheduled, (1, 99));
        plain.long(1).unwrap();
        assert_eq!(server.noting.last().scheduled, (0, 0));
    });
}

#[test]
fn a_declared_priority_holds_whatever_the_clients_is() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    let server = Server::new(&rt);
    let reference = server.object(PriorityModelPolicy::server_declared(at(12)));
    on_a_thread(|| {
        rt.current().set_the_priority(at(80)).unwrap();
        let echo = echo(&client(&rt), &reference);
        echo.long(1).unwrap();
        let expected = Seen {
            corba: Some(12),
            scheduled: (1, 12),
            carried: None,
        };
        assert_eq!(server.noting.last(), expected);
        // By a client without Real-time CORBA.
        let foreign = Orb::builder().build().unwrap();
        self::echo(&foreign, &reference).long(1).unwrap();
        assert_eq!(server.noting.last(), expected);
    });
}

#[test]
fn who_carries_no_priority_is_served_at_the_servers() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::new(&rt);
    let reference = server.object(PriorityModelPolicy::client_propagated(at(321)));
    let foreign = Orb::builder().build().unwrap();
    echo(&foreign, &reference).long(1).unwrap();
    let seen = server.noting.last();
    assert_eq!((seen.corba, seen.carried), (Some(321), None));
    // A thread of a Real-time ORB without a priority of its own carries the one of its native
    // priority: the lowest.
    on_a_thread(|| {
        echo(&client(&rt), &reference).long(1).unwrap();
        let seen = server.noting.last();
        assert_eq!(seen.corba, Some(0));
        assert_eq!(seen.carried.unwrap()[2..], [0, 0]);
    });
}

#[test]
fn a_thread_without_a_lane_takes_each_priority_and_gives_it_back() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    let server = Server::new(&rt);
    let reference = server.object(PriorityModelPolicy::server_declared(at(30)));
    on_a_thread(|| {
        let echo = echo(&client(&rt), &reference);
        echo.long(1).unwrap();
        let before = rt.native_changes();
        for _ in 0..100 {
            echo.long(1).unwrap();
        }
        // The server's thread may not have finished after its last reply yet.
        let changes = rt.native_changes() - before;
        assert!((199..=201).contains(&changes), "{changes}");
        // A client's thread that has the priority already makes no system call for it.
        rt.current().set_the_priority(at(40)).unwrap();
        let before = rt.native_changes();
        rt.current().set_the_priority(at(40)).unwrap();
        assert_eq!(rt.native_changes(), before);
    });
}

/// Service context RTCorbaPriority whose data the test chooses.
#[derive(Debug)]
struct Says(Vec<u8>);

impl RequestContext for Says {
    fn id(&self) -> u32 {
        PRIORITY
    }

    fn length(&self) -> usize {
        self.0.len()
    }

    fn fill(&self, data: &mut [u8]) {
        data.copy_from_slice(&self.0);
    }
}

/// Makes a call whose priority context has these octets; returns the state of the upcall.
fn answer(server: &Server, reference: &str, octets: &[u8]) -> Result<Seen, SystemException> {
    let context = Arc::new(Says(octets.to_vec()));
    let client = Orb::builder().request_context(context).build().unwrap();
    echo(&client, reference).long(1)?;
    Ok(server.noting.last())
}

#[test]
fn no_client_is_obeyed_beyond_what_the_server_allows() {
    let _watchdog = watchdog(LIMIT);
    for above in [AboveHighest::Cap, AboveHighest::Refuse] {
        let rt = ordinary(Propagated {
            highest: at(1000),
            above,
        });
        let server = Server::new(&rt);
        let reference = server.object(PriorityModelPolicy::client_propagated(at(5)));
        let of = |octets: &[u8]| answer(&server, &reference, octets);
        assert_eq!(of(&[0, 0, 0x03, 0xe8]).unwrap().corba, Some(1000));
        let too_high = of(&[1, 0, 0xe9, 0x03]);
        match above {
            AboveHighest::Cap => assert_eq!(too_high.unwrap().corba, Some(1000)),
            AboveHighest::Refuse => {
                assert_eq!(too_high.unwrap_err().kind(), Kind::NoPermission);
            }
        }
        // Data that is no priority, and data that is no encapsulation of one.
        let negative = of(&[0, 0, 0xff, 0xff]).unwrap_err();
        assert_eq!(
            (negative.kind(), negative.minor()),
            (Kind::DataConversion, minor::omg(2))
        );
        for short in [&[][..], &[0], &[0, 0, 1]] {
            assert_eq!(of(short).unwrap_err().kind(), Kind::Marshal, "{short:?}");
        }
        // No other call was affected.
        assert_eq!(of(&[0, 0, 0, 7]).unwrap().corba, Some(7));
    }
}

/// Sends a request for `long` that carries priority 7, big-endian, as TAO writes it; returns the
/// reply.
fn by_hand(host: &str, port: u16, key: &[u8]) -> Vec<u8> {
    let length = |octets: &[u8]| u32::try_from(octets.len()).unwrap().to_be_bytes();
    let mut message = b"GIOP\x01\x02\0\0\0\0\0\0".to_vec();
    message.extend([0, 0, 0, 9, 3, 0, 0, 0, 0, 0, 0, 0]);
    message.extend(length(key));
    message.extend(key);
    message.resize(message.len().next_multiple_of(4), 0);
    message.extend([0, 0, 0, 5]);
    message.extend(b"long\0\0\0\0");
    message.extend([0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 0, 7]);
    message.resize(message.len().next_multiple_of(8), 0);
    message.extend([0, 0, 0, 5]);
    let size = length(&message[12..]);
    message[8..12].copy_from_slice(&size);
    let mut stream = TcpStream::connect((host, port)).unwrap();
    stream.write_all(&message).unwrap();
    let mut header = [0; 12];
    stream.read_exact(&mut header).unwrap();
    let size = header[8..].try_into().unwrap();
    let is_little = header[6] & 1 == 1;
    let size = if is_little {
        u32::from_le_bytes(size)
    } else {
        u32::from_be_bytes(size)
    };
    let mut rest = vec![0; size as usize];
    stream.read_exact(&mut rest).unwrap();
    rest
}

#[test]
fn the_reference_and_the_reply_say_what_taos_do() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::new(&rt);
    let reference = server.object(PriorityModelPolicy::client_propagated(at(0x1234)));
    let ior: punctual_ior::Ior = reference.parse().unwrap();
    let iiop = ior.iiop_profiles().next().unwrap().unwrap();
    let policies = iiop.components.iter().find_map(|one| match one.decode() {
        Ok(punctual_ior::Component::Policies(policies)) => Some(policies),
        _ => None,
    });
    let model = policies
        .unwrap()
        .into_iter()
        .find(|one| one.kind == 40)
        .unwrap();
    let expected = match cfg!(target_endian = "little") {
        true => [1, 0, 0, 0, 0, 0, 0, 0, 0x34, 0x12],
        false => [0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34],
    };
    assert_eq!(model.data, expected);

    let reply = by_hand(&iiop.host, iiop.port, &iiop.object_key);
    assert_eq!(server.noting.last().corba, Some(7));
    let number = u32::to_ne_bytes;
    // To request 9, without an exception, with one context of four octets: the priority it was
    // served at.
    let head = [9, 0, 1, 10, 4].map(number).concat();
    assert_eq!(reply[..20], head[..]);
    let priority = match cfg!(target_endian = "little") {
        true => [1, 0, 7, 0],
        false => [0, 0, 0, 7],
    };
    assert_eq!(reply[20..24], priority);
}

#[test]
fn the_current_priority_is_the_threads_own() {
    let rt = ordinary(Propagated::default());
    on_a_thread(|| {
        let current = rt.current();
        let unset = current.the_priority().unwrap_err();
        assert_eq!(unset.kind(), Kind::Initialize);
        current.set_the_priority(at(9)).unwrap();
        assert_eq!(current.the_priority().unwrap(), at(9));
        on_a_thread(|| {
            rt.current().the_priority().unwrap_err();
        });
    });
    assert!(Priority::new(-1).is_err());
    assert!(Priority::try_from(32_768).is_err());
}

#[test]
fn a_priority_without_a_native_one_is_refused_where_it_is_set() {
    let config = RtConfig {
        mapping: Mapping::Direct,
        real_time: RealTime::BestEffort,
        ..RtConfig::default()
    };
    let rt = RtOrb::new(config).unwrap();
    on_a_thread(|| {
        let refused = rt.current().set_the_priority(at(100)).unwrap_err();
        assert_eq!(
            (refused.kind(), refused.minor()),
            (Kind::DataConversion, minor::omg(2))
        );
        rt.current().the_priority().unwrap_err();
    });
    let server = Server::new(&rt);
    for model in [
        PriorityModelPolicy::client_propagated(at(100)),
        PriorityModelPolicy::server_declared(at(100)),
    ] {
        let refused = server.poa("model", &[PoaPolicy::of(model)]).err().unwrap();
        assert!(
            refused.to_string().contains("no native priority for 100"),
            "{refused}"
        );
    }
    // By an ORB that knows the policy, without code that cannot apply the policy.
    let plain = Orb::builder().policy_type::<PriorityModelPolicy>().unwrap();
    let plain = plain.build().unwrap();
    let model = PoaPolicy::of(PriorityModelPolicy::server_declared(at(1)));
    let root = plain.root_poa().unwrap();
    let refused = root.create_poa("model", None, &[model]).err().unwrap();
    assert!(
        refused.to_string().contains("cannot apply the policy"),
        "{refused}"
    );
}

#[test]
fn a_mutex_is_had_by_one_at_a_time() {
    let _watchdog = watchdog(LIMIT);
    let mutex = ordinary(Propagated::default()).create_mutex();
    let held = mutex.lock().unwrap();
    assert_eq!(mutex.lock().unwrap_err().kind(), Kind::BadInvOrder);
    on_a_thread(|| {
        assert!(mutex.try_lock(Duration::ZERO).unwrap().is_none());
        assert!(mutex.try_lock(Duration::from_millis(20)).unwrap().is_none());
    });
    drop(held);
    on_a_thread(|| {
        assert!(mutex.try_lock(Duration::from_secs(30)).unwrap().is_some());
    });
}
