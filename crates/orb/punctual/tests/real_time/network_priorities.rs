//! DSCP of packets by CORBA priority, read back from the sockets of both ends of each connection.

use crate::bands::{BIND, Range, range};
use crate::lanes::{propagated, with};
use crate::setting::{LIMIT, Noting, Server, at, client, echo, on_a_thread};
use crate::support::{Answering, Echo, watchdog};
use punctual::poa::PoaPolicy;
use punctual::policy::{Bidirectional, Collocation};
use punctual::rt::{
    Dscp, NativePolicy, NetworkPriorities, PriorityBandedConnectionPolicy, RtConfig, RtOrb,
};
use punctual::stub::{Arc, DispatchError, Dispatched, Marshal, Operation, ServerCall, Unmarshal};
use punctual::{
    Interface, ListenEndpoint, ObjectRef, Orb, OrbConfig, Policy, RootPoa, SetOverride,
};
use rustix::net::{SocketAddrAny, getpeername, getsockname};
use rustix::process::{ForeignRawFd, PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Mutex;

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
    let dscp = |socket: &OwnedFd| Dscp::of(socket).unwrap().unwrap().get();
    of_ends(port, |client, server| (dscp(client), dscp(server)))
}

/// Returns what `look` returns of both ends of each connection of this process to a port, in ascending order.
pub(crate) fn of_ends<T: Ord>(port: u16, look: impl Fn(&OwnedFd, &OwnedFd) -> T) -> Vec<T> {
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
    let clients = sockets.iter().filter(|(_, _, peer)| peer.port() == port);
    // Another test's thread may look at the same time, and have copies.
    let by_address: BTreeMap<SocketAddr, T> = clients
        .filter_map(|(client, own, peer)| {
            let server = sockets
                .iter()
                .find(|(_, local, from)| local == peer && from == own)?;
            Some((*own, look(client, &server.0)))
        })
        .collect();
    let mut seen: Vec<T> = by_address.into_values().collect();
    seen.sort_unstable();
    seen
}

fn ip(address: SocketAddrAny) -> Option<SocketAddr> {
    address.try_into().ok()
}

pub(crate) fn port_of(echo: &Echo) -> u16 {
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

/// Returns a client that announces bands as the test chooses, and the band that it announces next.
fn announcing(configure: impl FnOnce(&mut OrbConfig)) -> (Orb, Arc<Range>) {
    let context = Arc::new(Range(Mutex::new(range(0, 0)), 6));
    let orb = Orb::builder()
        .request_context(context.clone())
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(configure);
    (orb.build().unwrap(), context)
}

#[test]
fn a_band_below_the_first_step_has_the_dscp_of_the_endpoint_again() {
    let _watchdog = watchdog(LIMIT);
    let rt = marking();
    for (option, before) in [("", 0), ("/dscp=CS3", 24)] {
        let server = Server::at(&rt, &[&format!("iiop://127.0.0.1:0{option}")]);
        let (client, band) = announcing(|_| {});
        let object = echo(&client, &server.object(propagated()));
        let port = port_of(&object);
        let object = object.as_object();
        for (low, high, reply) in [(90, 99, 40), (1, 5, before), (20, 30, 20), (0, 9, before)] {
            *band.0.lock().unwrap() = range(low, high);
            object.invoke(&BIND, |_| Ok(()), |_| Ok(())).unwrap();
            // The announcement has been acted upon when the next request is answered.
            object.invoke(&BIND, |_| Ok(()), |_| Ok(())).unwrap();
            assert_eq!(marks(port), [(0, reply)], "{low}");
        }
    }
}

/// Servant that keeps the reference that it receives.
#[derive(Default)]
struct Keeper(Mutex<Option<ObjectRef>>);

impl Answering for Keeper {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        *self.0.lock().unwrap() = Some(ObjectRef::unmarshal(call.arguments())?);
        call.reply(|_| Ok(()))
    }
}

#[test]
fn a_band_that_a_server_announces_over_its_clients_connection_does_not_mark_the_requests() {
    let _watchdog = watchdog(LIMIT);
    let both = |config: &mut OrbConfig| {
        config.bidirectional = Bidirectional::Both;
        config.collocation = Collocation::None;
    };
    let (server, band) = announcing(both);
    let root = server.root_poa().unwrap();
    root.manager().activate().unwrap();
    let keeper = Arc::new(Keeper::default());
    let kept: Echo = root.activate(keeper.clone()).unwrap();
    let reference = server.object_to_string(&kept).unwrap();

    let rt = marking();
    // Nothing listens at the published port.
    let unreachable = ListenEndpoint::iiop("127.0.0.1", 0).option("port_in_ior", 1);
    let listening = Orb::builder().listen(unreachable).configure(both);
    let client = Server::of(&rt, listening);
    let policy = PoaPolicy::Defined(Policy::Bidirectional(Bidirectional::Both));
    let poa = client.poa("callbacks", &[policy]).unwrap();
    let noting: Arc<Noting> = client.noting.clone();
    let own: Echo = poa.activate(noting).unwrap();
    let own = own.as_object().clone();
    let object = echo(&client.orb, &reference);
    let port = port_of(&object);
    on_a_thread(|| {
        rt.current().set_the_priority(at(95)).unwrap();
        let keep = Operation::two_way("keep");
        let object = object.as_object();
        object
            .invoke(&keep, |out| own.marshal(out), |_| Ok(()))
            .unwrap();
        assert_eq!(marks(port), [(46, 0)]);
        let back = keeper.0.lock().unwrap().clone().unwrap();
        for (low, high) in [(20, 30), (0, 9), (20, 30)] {
            *band.0.lock().unwrap() = range(low, high);
            // The client answers itself, and over the connection that it has opened.
            back.invoke(&BIND, |_| Ok(()), |_| Ok(())).unwrap();
            back.invoke(&BIND, |_| Ok(()), |_| Ok(())).unwrap();
            assert_eq!(marks(port), [(46, 0)], "{low}");
        }
    });
    assert_eq!(client.orb.client_connections(), 0);
}
