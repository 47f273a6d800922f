//! DSCP of packets by CORBA priority, read back from the sockets of both ends of each connection.

use crate::lanes::{propagated, with};
use crate::setting::{LIMIT, Server, at, client, echo, on_a_thread};
use crate::support::{Echo, watchdog};
use punctual::rt::{
    Dscp, NativePolicy, NetworkPriorities, PriorityBandedConnectionPolicy, RtConfig, RtOrb,
};
use punctual::stub::Arc;
use punctual::{Interface, Policy, SetOverride};
use rustix::net::{SocketAddrAny, getpeername, getsockname};
use rustix::process::{ForeignRawFd, PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

fn marking() -> Arc<RtOrb> {
    let config = RtConfig {
        policy: NativePolicy::Other,
        network: NetworkPriorities {
            requests: "0=CS1,20=AF21,90=EF".parse().unwrap(),
            replies: "20=AF22,90=CS5".parse().unwrap(),
        },
        ..RtConfig::default()
    };
    RtOrb::new(config).unwrap()
}

/// Returns the DSCP of both ends of each connection of this process to a port: the client's and the server's.
fn marks(port: u16) -> Vec<(u8, u8)> {
    let this = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
    let sockets: Vec<(OwnedFd, SocketAddr, SocketAddr)> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| {
            let number: ForeignRawFd = entry.ok()?.file_name().to_str()?.parse().ok()?;
            // Another thread may have closed it.
            let socket = pidfd_getfd(&this, number, PidfdGetfdFlags::empty()).ok()?;
            let own = ip(getsockname(&socket).ok()?)?;
            let peer = ip(getpeername(&socket).ok().flatten()?)?;
            Some((socket, own, peer))
        })
        .collect();
    let dscp = |socket: &OwnedFd| Dscp::of(socket).unwrap().unwrap().get();
    let clients = sockets.iter().filter(|(_, _, peer)| peer.port() == port);
    // Another test's thread may look at the same time, and have copies.
    let by_address: BTreeMap<SocketAddr, (u8, u8)> = clients
        .filter_map(|(client, own, peer)| {
            let server = sockets
                .iter()
                .find(|(_, local, from)| local == peer && from == own)?;
            Some((*own, (dscp(client), dscp(&server.0))))
        })
        .collect();
    let mut marks: Vec<(u8, u8)> = by_address.into_values().collect();
    marks.sort_unstable();
    marks
}

fn ip(address: SocketAddrAny) -> Option<SocketAddr> {
    address.try_into().ok()
}

fn port_of(echo: &Echo) -> u16 {
    let profile = echo.as_object().ior().iiop_profiles().next();
    profile.unwrap().unwrap().port
}

#[test]
fn each_priority_of_a_clients_threads_has_a_connection_with_its_dscp() {
    let _watchdog = watchdog(LIMIT);
    let rt = marking();
    let server = Server::new(&rt);
    let reference = server.object(propagated());
    let client = client(&rt);
    let object = echo(&client, &reference);
    let port = port_of(&object);
    // A thread without a priority leaves the packets as they are.
    object.long(1).unwrap();
    assert_eq!(marks(port), [(0, 0)]);
    for priority in [5, 25, 95] {
        on_a_thread(|| {
            rt.current().set_the_priority(at(priority)).unwrap();
            object.long(1).unwrap();
        });
    }
    // The endpoint has no priority, and so have replies.
    let requests: Vec<u8> = marks(port)
        .into_iter()
        .map(|(request, _)| request)
        .collect();
    assert_eq!(requests, [0, 8, 18, 46]);
}

#[test]
fn replies_have_the_dscp_of_the_endpoints_lane() {
    let _watchdog = watchdog(LIMIT);
    let rt = marking();
    for (priority, request, reply) in [(10, 8, 0), (30, 18, 20), (99, 46, 40)] {
        let endpoint = format!("iiop://127.0.0.1:0/priority={priority}");
        let server = Server::at(&rt, &[&endpoint]);
        let client = client(&rt);
        let object = echo(&client, &server.object(propagated()));
        on_a_thread(|| {
            rt.current().set_the_priority(at(priority)).unwrap();
            object.long(1).unwrap();
        });
        assert_eq!(marks(port_of(&object)), [(request, reply)]);
    }
}

#[test]
fn each_band_of_a_reference_has_its_dscp_in_both_directions() {
    let _watchdog = watchdog(LIMIT);
    let rt = marking();
    let server = Server::new(&rt);
    let client = client(&rt);
    let object = echo(&client, &server.object(propagated()));
    let bands = [at(0)..=at(19), at(20)..=at(89), at(90)..=at(200)];
    let banded = with(&object, PriorityBandedConnectionPolicy::new(bands));
    for priority in [150, 40, 12] {
        on_a_thread(|| {
            rt.current().set_the_priority(at(priority)).unwrap();
            banded.long(1).unwrap();
        });
    }
    assert_eq!(marks(port_of(&object)), [(8, 0), (18, 20), (46, 40)]);
}

#[test]
fn a_policys_own_dscp_goes_before() {
    let _watchdog = watchdog(LIMIT);
    let rt = marking();
    let server = Server::new(&rt);
    let client = client(&rt);
    let object = echo(&client, &server.object(propagated()));
    let own = Policy::link_property("iiop", "dscp", "CS3");
    let object: Echo = {
        let set = object
            .as_object()
            .set_policy_overrides(&[own], SetOverride::Add);
        Echo::from_object(set.unwrap())
    };
    on_a_thread(|| {
        rt.current().set_the_priority(at(95)).unwrap();
        object.long(1).unwrap();
    });
    assert_eq!(marks(port_of(&object)), [(24, 0)]);
}
