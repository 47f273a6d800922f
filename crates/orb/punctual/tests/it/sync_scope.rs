//! Progress of a one-way request when its call returns, for each SyncScope, and one-ways that are
//! buffered.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::poa::{PoaPolicy, RequestProcessingPolicy, ServantActivator, ServantManager};
use punctual::policy::{Buffering, SyncScope};
use punctual::stub::{Arc, DispatchError, Operation};
use punctual::{
    Interface, ObjectId, ObjectRef, Orb, Poa, Policy, Servant, SetOverride, SystemException,
    SystemExceptionKind as Kind,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;
use support::{Echo, EchoImpl, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);
const ALL: [SyncScope; 4] = [
    SyncScope::None,
    SyncScope::WithTransport,
    SyncScope::WithServer,
    SyncScope::WithTarget,
];

fn under(echo: &Echo, policies: &[Policy]) -> ObjectRef {
    let object = echo.as_object();
    let with = object.set_policy_overrides(policies, SetOverride::Add);
    with.unwrap()
}

fn sent(echo: &Echo, scope: SyncScope, operation: &'static str) -> Result<(), SystemException> {
    let object = under(echo, &[Policy::SyncScope(scope)]);
    object.send(&Operation::one_way(operation), |_| Ok(()))
}

#[test]
fn only_the_target_s_scope_waits_for_the_servant() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    for (held, scope) in (1..).zip([
        SyncScope::None,
        SyncScope::WithTransport,
        SyncScope::WithServer,
    ]) {
        sent(&pair.echo, scope, "wait").unwrap();
        pair.servant.gate.wait_for_waiters(held);
    }
    std::thread::scope(|scope| {
        let (say, heard) = mpsc::channel();
        let echo = &pair.echo;
        scope.spawn(move || say.send(sent(echo, SyncScope::WithTarget, "wait")));
        pair.servant.gate.wait_for_waiters(4);
        let yet = heard.try_recv();
        assert_eq!(yet.unwrap_err(), mpsc::TryRecvError::Empty);
        pair.servant.gate.open();
        heard.recv().unwrap().unwrap();
    });
}

#[test]
fn who_waits_for_the_target_hears_what_it_raises() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    for scope in ALL {
        for _ in 0..3 {
            let heard = sent(&pair.echo, scope, "fail").map_err(|error| error.kind());
            match scope {
                SyncScope::WithTarget => assert_eq!(heard, Err(Kind::NoPermission)),
                _ => assert_eq!(heard, Ok(()), "{scope:?}"),
            }
        }
    }
    assert_eq!(pair.echo.long(5).unwrap(), 5);
}

#[test]
fn who_waits_for_the_server_hears_that_there_is_no_object() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let gone = pair.poa.activate(Arc::new(EchoImpl::default()));
    let gone: Echo = gone.unwrap();
    let echo = pair.as_client(&gone);
    let id = pair.poa.reference_to_id(&gone).unwrap();
    pair.poa.deactivate_object(&id).unwrap();
    for scope in ALL {
        let heard = sent(&echo, scope, "ping").map_err(|error| error.kind());
        match scope {
            SyncScope::None | SyncScope::WithTransport => assert_eq!(heard, Ok(())),
            _ => assert_eq!(heard, Err(Kind::ObjectNotExist), "{scope:?}"),
        }
    }
}

/// Servant activator that forwards each request to another object.
struct Elsewhere(ObjectRef);

impl ServantActivator for Elsewhere {
    fn incarnate(&self, _: &ObjectId, _: &Poa) -> Result<Arc<dyn Servant>, DispatchError> {
        Err(DispatchError::forward(&self.0))
    }
}

#[test]
fn the_server_answers_behind_its_servant_manager_whose_forward_is_followed() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let policies = [PoaPolicy::RequestProcessing(
        RequestProcessingPolicy::ServantManager,
    )];
    let manager = pair.poa.manager();
    let poa = pair.poa.create_poa("managed", Some(manager), &policies);
    let poa = poa.unwrap();
    let made: Echo = pair.poa.servant_to_reference(&pair.servant).unwrap();
    let elsewhere = Elsewhere(made.as_object().clone());
    poa.set_servant_manager(ServantManager::Activator(Arc::new(elsewhere)))
        .unwrap();
    let forwarding: Echo = poa.create_reference().unwrap();
    let echo = pair.as_client(&forwarding);
    for pings in 1..4 {
        sent(&echo, SyncScope::WithServer, "ping").unwrap();
        while pair.echo.pings().unwrap() < pings {
            crate::support::pause();
        }
    }
}

/// Makes a hand-written server that answers two-way requests with no results, and sends the octets
/// of each request to a channel.
fn recorder() -> (u16, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (say, heard) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        while let Some(request) = next(&mut stream) {
            let answers = request[16] & 1 != 0;
            let id: [u8; 4] = request[12..16].try_into().unwrap();
            if say.send(request).is_err() {
                return;
            }
            if answers {
                let flags = u8::from(cfg!(target_endian = "little"));
                let size = 12_u32.to_ne_bytes();
                let head = [b"GIOP\x01\x02", &[flags, 1][..], &size, &id, &[0; 8]].concat();
                stream.write_all(&head).unwrap();
            }
        }
    });
    (port, heard)
}

/// Reads the next message, which must be in this machine's byte order.
fn next(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut message = vec![0; 12];
    stream.read_exact(&mut message).ok()?;
    let size = u32::from_ne_bytes(message[8..12].try_into().unwrap());
    message.resize(12 + size as usize, 0);
    stream.read_exact(&mut message[12..]).unwrap();
    Some(message)
}

#[test]
fn response_flags_are_those_of_the_scope() {
    let _watchdog = watchdog(LIMIT);
    let (port, heard) = recorder();
    let client = Orb::builder().build().unwrap();
    let object = client.string_to_object(&format!("corbaloc::1.2@127.0.0.1:{port}/key"));
    let echo = Echo::from_object(object.unwrap());
    for _ in 0..2 {
        for (scope, flags) in ALL.into_iter().zip([0, 0, 1, 3]) {
            sent(&echo, scope, "ping").unwrap();
            assert_eq!(heard.recv().unwrap()[16], flags, "{scope:?}");
        }
        echo.ping().unwrap();
        assert_eq!(heard.recv().unwrap()[16], 0);
    }
    client.shutdown(true).unwrap();
}

#[test]
fn which_one_ways_wait_for_others_a_policy_says() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let three = Policy::Buffering(Some(Buffering {
        messages: 3,
        octets: 1 << 20,
        delay: None,
    }));
    let ping = |object: &ObjectRef| {
        object
            .send(&Operation::one_way("ping"), |_| Ok(()))
            .unwrap()
    };
    let waiting = under(&pair.echo, std::slice::from_ref(&three));
    let both = [three, Policy::SyncScope(SyncScope::WithTransport)];
    let at_once = under(&pair.echo, &both);
    let pings = || *pair.servant.pings.lock().unwrap();
    let wait_for = |most: u32| {
        while pings() < most {
            crate::support::pause();
        }
    };
    ping(&waiting);
    ping(&waiting);
    // A third completes them.
    ping(&waiting);
    wait_for(3);
    ping(&waiting);
    waiting.flush();
    wait_for(4);
    for count in 5..8 {
        ping(&at_once);
        wait_for(count);
    }
    let none = Policy::Buffering(Some(Buffering {
        messages: 0,
        ..Buffering::default()
    }));
    let refused = pair
        .echo
        .as_object()
        .set_policy_overrides(&[none], SetOverride::Add);
    assert_eq!(refused.unwrap_err().kind(), Kind::InvPolicy);
}
