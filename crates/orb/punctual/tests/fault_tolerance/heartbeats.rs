//! Heartbeats of connections on which replies are awaited.

use crate::group::{Server, add, client, group_of, hold, seen_by, until};
use crate::process::Process;
use punctual::SetOverride;
use punctual::fault_tolerance::{HeartbeatPolicy, RequestDurationPolicy};
use punctual::stub::{Operation, Unmarshal};
use punctual_ior::Component;
use rustix::process::Signal;
use std::time::Duration;

#[test]
fn a_server_that_is_stopped_is_left_and_one_that_is_slow_is_not() {
    let (stopped, second, client) = (Process::server(), Server::new(), client());
    let stated = stopped.ior().profiles[0].components();
    let stated = stated.iter().filter_map(|one| one.decode().ok());
    assert!(
        stated
            .into_iter()
            .any(|one| one == Component::FtHeartbeatEnabled(true))
    );
    let group = seen_by(&client, &group_of(&[stopped.ior(), second.ior()], 1));
    let policies = [
        HeartbeatPolicy::policy(Duration::from_millis(50), Duration::from_secs(2)),
        RequestDurationPolicy::policy(Duration::from_secs(250)),
    ];
    let group = group
        .set_policy_overrides(&policies, SetOverride::Add)
        .unwrap();
    assert_eq!(add(&group), Ok(1));
    // A process that runs answers heartbeats, so that the call is not repeated.
    let slow = seen_by(&client, &group_of(&[stopped.ior()], 1));
    let slow = std::thread::spawn(move || {
        let timed = slow.with_timeout(Duration::from_millis(400));
        hold(&timed).unwrap_err().kind()
    });
    assert_eq!(slow.join().unwrap(), punctual::SystemExceptionKind::Timeout);
    assert_eq!(second.servant.upcalls(), 0);
    stopped.signal(Signal::STOP);
    assert_eq!(add(&group), Ok(1));
    assert_eq!(second.servant.upcalls(), 1);
    stopped.signal(Signal::CONT);
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
