//! Heartbeats of connections on which replies are awaited.

use crate::group::{Server, add, client, group_of, hold, seen_by, through, until};
use crate::process::Process;
use crate::proxy::Proxy;
use punctual::SetOverride;
use punctual::fault_tolerance::HeartbeatPolicy;
use punctual::stub::{Operation, Unmarshal};
use punctual_ior::Component;
use rustix::process::Signal;
use std::time::Duration;

#[test]
fn a_server_that_is_stopped_is_left() {
    let (stopped, second, client) = (Process::server(), Server::new(), client());
    let stated = stopped.ior().profiles[0].components();
    let stated: Vec<Component> = stated.iter().filter_map(|one| one.decode().ok()).collect();
    assert!(stated.contains(&Component::FtHeartbeatEnabled(true)));
    let group = seen_by(&client, &group_of(&[stopped.ior(), second.ior()], 1));
    assert_eq!(add(&group), Ok(1));
    stopped.stop();
    let beats = HeartbeatPolicy::policy(Duration::from_millis(20), Duration::from_millis(200));
    let beating = group.set_policy_overrides(&[beats], SetOverride::Add);
    assert_eq!(add(&beating.unwrap()), Ok(1));
    assert_eq!(second.servant.upcalls(), 1);
    stopped.signal(Signal::CONT);
}

#[test]
fn a_server_that_is_slow_is_asked_for_heartbeats_and_not_left() {
    let (server, other, client) = (Server::beating(), Server::new(), client());
    let proxy = Proxy::to(server.port());
    let members = [through(&server.ior(), proxy.port), other.ior()];
    let group = seen_by(&client, &group_of(&members, 1));
    let beats = HeartbeatPolicy::policy(Duration::from_millis(1), Duration::from_secs(250));
    let group = group.set_policy_overrides(&[beats], SetOverride::Add);
    let call = std::thread::spawn(move || hold(&group.unwrap()));
    let beats = || {
        let requests = proxy.requests();
        let beats = requests.iter().filter(|one| one.operation == "_FT_HB");
        beats.count()
    };
    // A further one is sent only when the last one has been answered, or its time is up.
    until(|| beats() >= 1);
    server.servant.gate.open();
    assert_eq!(call.join().unwrap(), Ok(1));
    assert_eq!((server.servant.upcalls(), other.servant.upcalls()), (1, 0));
}

#[test]
fn a_heartbeat_is_answered_whatever_the_state_of_the_object() {
    let (server, client) = (Server::new(), client());
    let object = seen_by(&client, &server.ior());
    server.member.serve_until(1);
    let beat = |object: &punctual::ObjectRef| {
        object.invoke(&Operation::two_way("_FT_HB"), |_| Ok(()), |_| Ok(()))
    };
    assert_eq!(beat(&object), Ok(()));
    assert_eq!(server.servant.upcalls(), 0);
    let others = object.invoke(&Operation::two_way("_unknown"), |_| Ok(()), u32::unmarshal);
    assert!(others.is_err());
    until(|| server.retained() == 0);
}
