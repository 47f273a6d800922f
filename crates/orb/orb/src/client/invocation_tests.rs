//! Tests of calls that are suspended and resumed, and of lanes that call through one reference,
//! with a scripted peer.

use super::call::{complete_by_waiting, invoke};
use super::invocation::{Call, Invocation, Progress};
use super::outcome::{Body, ReplyOutcome};
use super::remote::{Callee, RemoteObject};
use super::target::Target;
use crate::broker::Broker;
use crate::fixed_context::RequestContext;
use crate::lane::Lane;
use crate::operation::Operation;
use crate::policy::PolicySet;
use crate::profile::Origin;
use punctual_cdr::{Block, ByteOrder, Coding, Encoder, Environment, Marshal, Unmarshal};
use punctual_exec::LockProtocol;
use punctual_ior::{IiopProfile, IiopVersion, Ior};
use std::cell::Cell;
use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

const TWICE: Operation = Operation::two_way("twice");

struct NoEnvironment;

impl Environment for NoEnvironment {
    fn share(&self) -> Arc<dyn Environment> {
        Arc::new(Self)
    }
}

/// Answer of the scripted test server to a request.
enum Answer {
    /// Reply whose result is twice the argument.
    Results,
    Forward(Ior),
    /// CloseConnection, which says that the server has begun none of the unanswered requests.
    Goodbye,
}

type Heard = Arc<Mutex<Vec<(SocketAddr, Vec<u8>)>>>;

/// Scripted test server, which runs until the process ends.
struct Peer {
    reference: Ior,
    /// Connection and content of each request, in order of arrival.
    heard: Heard,
}

impl Peer {
    /// Starts a server that gives `answer(n)` to the n-th request, counted from 0 over all
    /// connections.
    fn start(answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let profile = IiopProfile {
            version: IiopVersion { major: 1, minor: 2 },
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
            object_key: b"key".to_vec(),
            components: Vec::new(),
        };
        let reference = Ior {
            type_id: "IDL:Test/Twice:1.0".to_owned(),
            profiles: vec![profile.to_tagged(ByteOrder::NATIVE).unwrap()],
        };
        let heard = Heard::default();
        let (answer, hears) = (Arc::new(answer), heard.clone());
        thread::spawn(move || {
            for client in listener.incoming() {
                let (answer, heard) = (answer.clone(), hears.clone());
                thread::spawn(move || converse(client.unwrap(), &*answer, &heard));
            }
        });
        Self { reference, heard }
    }
}

fn converse(mut client: TcpStream, answer: &dyn Fn(usize) -> Answer, heard: &Heard) {
    let from = client.peer_addr().unwrap();
    let mut header = [0; 12];
    while client.read_exact(&mut header).is_ok() {
        let size = u32::from_ne_bytes(header[8..12].try_into().unwrap());
        let mut request = vec![0; size as usize];
        client.read_exact(&mut request).unwrap();
        let id = &request[..4];
        let argument = i32::from_ne_bytes(request[request.len() - 4..].try_into().unwrap());
        let number = {
            let mut heard = heard.lock().unwrap();
            heard.push((from, request.clone()));
            heard.len() - 1
        };
        let body = |status: u32, write: &dyn Fn(&mut Encoder<'_>)| {
            let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
            write(&mut out);
            // The id, the status and no contexts: the body is aligned to 8 behind the header.
            let (status, none) = (status.to_ne_bytes(), 0u32.to_ne_bytes());
            [id, &status, &none, &out.into_block()].concat()
        };
        let (kind, reply) = match answer(number) {
            Answer::Results => (1, body(0, &|out| (2 * argument).marshal(out).unwrap())),
            Answer::Forward(to) => (1, body(3, &|out| to.marshal(out).unwrap())),
            Answer::Goodbye => (5, Vec::new()),
        };
        let order = u8::from(ByteOrder::NATIVE == ByteOrder::Little);
        let length = u32::try_from(reply.len()).unwrap().to_ne_bytes();
        let head = [b'G', b'I', b'O', b'P', 1, 2, order, kind];
        let message = [&head[..], &length, &reply].concat();
        if client.write_all(&message).is_err() || kind == 5 {
            return;
        }
    }
}

fn plain_lane() -> Arc<Lane> {
    Arc::new(Lane::new(
        Broker::for_tests(Vec::new()),
        LockProtocol::Plain,
    ))
}

fn object(reference: &Ior) -> Arc<RemoteObject> {
    let target = Arc::new(Target::new(reference.clone(), Origin::ThisHost));
    Arc::new(RemoteObject::new(target, PolicySet::default()))
}

fn callee<'c>(object: &'c RemoteObject, lane: &'c Arc<Lane>) -> Callee<'c> {
    Callee {
        object,
        lane,
        environment: &NoEnvironment,
        environment_elsewhere: &NoEnvironment,
        timeout: None,
    }
}

fn result_of(outcome: Option<ReplyOutcome>, callee: Callee<'_>) -> i32 {
    match outcome {
        Some(ReplyOutcome::Results(reply)) => i32::unmarshal(&mut reply.decoder(callee)).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_are_put_away_and_taken_up_by_other_threads_through_a_forward_and_a_repetition() {
    const CALLS: i32 = 8;
    let home = Peer::start(|_| Answer::Results);
    let forwards = home.reference.clone();
    // The last request on the first connection has not been begun.
    let away = Peer::start(move |number| match number {
        7 => Answer::Goodbye,
        _ => Answer::Forward(forwards.clone()),
    });
    let (lane, object) = (plain_lane(), object(&away.reference));
    let put_away: Vec<(i32, Invocation, Progress)> = (0..CALLS)
        .map(|number| {
            let callee = callee(&object, &lane);
            let argument = |out: &mut Encoder<'_>| number.marshal(out);
            let call = Call::request(&callee, &TWICE, &argument);
            let mut invocation = Invocation::new(&call);
            let progress = invocation.proceed(&call).unwrap();
            // The request was sent, and the calling thread does not wait.
            assert!(matches!(progress, Progress::Awaits(_)));
            (number, invocation, progress)
        })
        .collect();
    let threads = put_away.into_iter().rev();
    let threads: Vec<_> = threads
        .map(|(number, invocation, progress)| {
            let (lane, object) = (lane.clone(), object.clone());
            thread::spawn(move || {
                let callee = callee(&object, &lane);
                let argument = |out: &mut Encoder<'_>| number.marshal(out);
                let call = Call::request(&callee, &TWICE, &argument);
                let outcome = complete_by_waiting(invocation, &call, progress).unwrap();
                assert_eq!(result_of(outcome, callee), 2 * number);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(home.heard.lock().unwrap().len(), CALLS as usize);
    // One call had to ask again, wherever the others had led by then.
    assert!(away.heard.lock().unwrap().len() >= CALLS as usize);
}

thread_local! {
    static OF_THREAD: Cell<[u8; 8]> = const { Cell::new(*b"elsewher") };
}

/// Service context that identifies the thread that makes the call.
#[derive(Debug)]
struct WhoCalls;

impl RequestContext for WhoCalls {
    fn id(&self) -> u32 {
        0x5055_4e00
    }

    fn length(&self) -> usize {
        8
    }

    fn fill(&self, data: &mut [u8]) {
        data.copy_from_slice(&OF_THREAD.get());
    }
}

#[test]
fn a_call_that_another_thread_takes_up_says_whose_it_is_wherever_it_is_forwarded_to() {
    let home = Peer::start(|_| Answer::Results);
    let forwards = home.reference.clone();
    let away = Peer::start(move |_| Answer::Forward(forwards.clone()));
    let broker = Broker::for_tests(vec![Arc::new(WhoCalls)]);
    let lane = Arc::new(Lane::new(broker, LockProtocol::Plain));
    let object = object(&away.reference);
    OF_THREAD.set(*b"made-her");
    let argument = |out: &mut Encoder<'_>| 4.marshal(out);
    let made_here = callee(&object, &lane);
    let call = Call::request(&made_here, &TWICE, &argument);
    let mut invocation = Invocation::new(&call);
    let progress = invocation.proceed(&call).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let argument = |out: &mut Encoder<'_>| 4.marshal(out);
            let callee = callee(&object, &lane);
            let call = Call::request(&callee, &TWICE, &argument);
            let outcome = complete_by_waiting(invocation, &call, progress).unwrap();
            assert_eq!(result_of(outcome, callee), 8);
        });
    });
    for peer in [&away, &home] {
        let heard = peer.heard.lock().unwrap();
        let (_, request) = &heard[0];
        assert!(request.windows(8).any(|octets| octets == b"made-her"));
    }
}

#[test]
fn what_is_dropped_while_it_is_away_leaves_its_connection_to_others() {
    let peer = Peer::start(|_| Answer::Results);
    let (lane, object) = (plain_lane(), object(&peer.reference));
    let callee = callee(&object, &lane);
    let argument = |out: &mut Encoder<'_>| 21.marshal(out);
    let call = Call::request(&callee, &TWICE, &argument);
    let away = |invocation: &mut Invocation| match invocation.proceed(&call).unwrap() {
        Progress::Awaits(awaited) => awaited,
        other => panic!("{other:?}"),
    };
    let dropped = away(&mut Invocation::new(&call));
    let connection = dropped.binding.connection.clone();
    drop(dropped);
    // Its reply is still due, so its id must not be reused.
    assert_eq!(connection.owed(), 1);
    let mut invocation = Invocation::new(&call);
    let awaited = away(&mut invocation);
    assert!(Arc::ptr_eq(&connection, &awaited.binding.connection));
    let outcome = complete_by_waiting(invocation, &call, Progress::Awaits(awaited)).unwrap();
    assert_eq!(result_of(outcome, callee), 42);
    // Replies come in the order of their requests here: the abandoned reply has been read and
    // discarded.
    assert_eq!(connection.owed(), 0);
}

#[test]
fn lanes_that_call_through_one_reference_in_turn_keep_to_connections_and_locks_of_their_own() {
    let peer = Peer::start(|_| Answer::Results);
    let (broker, object) = (Broker::for_tests(Vec::new()), object(&peer.reference));
    let protocols = [LockProtocol::Plain, LockProtocol::InheritPriority];
    let lanes = protocols.map(|locks| Arc::new(Lane::new(broker.clone(), locks)));
    for number in 0..8 {
        for lane in &lanes {
            let mut result = 0;
            invoke(
                &callee(&object, lane),
                &TWICE,
                &|out| number.marshal(out),
                &mut |body, decoder| {
                    assert_eq!(body, Body::Results);
                    result = i32::unmarshal(decoder).unwrap();
                },
            )
            .unwrap();
            assert_eq!(result, 2 * number);
        }
    }
    let connections = lanes.each_ref().map(|lane| {
        let path = callee(&object, lane).path(true).unwrap();
        path.connection().unwrap()
    });
    for (connection, locks) in connections.iter().zip(protocols) {
        assert_eq!(connection.send_lock(), locks);
    }
    let heard = peer.heard.lock().unwrap();
    let of_each = [0, 1].map(|lane| {
        let of_lane = heard.iter().skip(lane).step_by(2);
        let from: HashSet<SocketAddr> = of_lane.map(|(from, _)| *from).collect();
        assert_eq!(from.len(), 1, "{heard:?}");
        from
    });
    assert!(of_each[0].is_disjoint(&of_each[1]), "{heard:?}");
}
