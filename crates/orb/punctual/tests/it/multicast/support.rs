//! ORBs with groups, and servants that remember what they heard.

use crate::support::{Answering, Echo};
use punctual::multicast::{Goa, GroupInfo, GroupReference, Multicast};
use punctual::stub::{DispatchError, Dispatched, Marshal, Operation, ServerCall, Unmarshal};
use punctual::{
    CompletionStatus, Interface, ListenEndpoint, ObjectId, ObjectRef, Orb, OrbConfig, Poa, RootPoa,
    SystemException, SystemExceptionKind,
};
use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

pub(super) const LIMIT: Duration = Duration::from_secs(120);

/// What the members of a test have heard, in order.
#[derive(Debug, Default)]
pub(super) struct Heard {
    all: Mutex<Vec<String>>,
    changed: Condvar,
}

impl Heard {
    fn add(&self, what: String) {
        self.all.lock().unwrap().push(what);
        self.changed.notify_all();
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.all.lock().unwrap().clone()
    }

    /// Waits until as many things have been heard.
    pub(super) fn wait_for(&self, count: usize) -> Vec<String> {
        let all = self.all.lock().unwrap();
        let all = self.changed.wait_while(all, |all| all.len() < count);
        all.unwrap().clone()
    }

    /// Has `send` send, again from time to time, as datagrams may be lost, until all of these have been heard.
    pub(super) fn wait_for_all(&self, wanted: &[String], send: impl Fn()) {
        let lacks = |all: &mut Vec<String>| wanted.iter().any(|one| !all.contains(one));
        loop {
            send();
            let all = self.all.lock().unwrap();
            let (time, waited) = (Duration::from_secs(1), &self.changed);
            let waited = waited.wait_timeout_while(all, time, lacks).unwrap();
            if !waited.1.timed_out() {
                return;
            }
        }
    }
}

/// Servant that keeps the arguments of its calls.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) heard: Arc<Heard>,
}

impl Answering for Member {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let name = self.name;
        match call.operation() {
            "tell" => {
                let what = String::unmarshal(call.arguments())?;
                self.heard.add(format!("{name} {what}"));
                call.reply(|_| Ok(()))
            }
            "octets" => {
                let octets = call.arguments().get_octets()?;
                let is_pattern = *octets == *pattern(octets.len());
                self.heard
                    .add(format!("{name} {} {is_pattern}", octets.len()));
                call.reply(|_| Ok(()))
            }
            "panic" => {
                self.heard.add(format!("{name} panics"));
                panic!("on purpose")
            }
            "refuse" => {
                self.heard.add(format!("{name} refuses"));
                let kind = SystemExceptionKind::NoPermission;
                Err(SystemException::new(kind, 42, CompletionStatus::Yes).into())
            }
            "ask" => call.reply(|out| name.to_owned().marshal(out)),
            _ => Err(call.bad_operation()),
        }
    }
}

/// Returns octets that tell their places.
pub(super) fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

pub(super) fn tell(to: &ObjectRef, what: &str) -> Result<(), SystemException> {
    const OPERATION: Operation = Operation::one_way("tell");
    to.send(&OPERATION, |out| what.marshal(out))
}

pub(super) fn octets(to: &ObjectRef, length: usize) -> Result<(), SystemException> {
    const OPERATION: Operation = Operation::one_way("octets");
    to.send(&OPERATION, |out| out.put_octets(&pattern(length)))
}

pub(super) fn order(to: &ObjectRef, operation: &'static str) -> Result<(), SystemException> {
    let operation = Operation::one_way(operation);
    to.send(&operation, |_| Ok(()))
}

pub(super) fn ask(of: &ObjectRef) -> Result<String, SystemException> {
    const OPERATION: Operation = Operation::two_way("ask");
    of.invoke(&OPERATION, |_| Ok(()), String::unmarshal)
}

/// Returns the address of a group that no other test uses, of this program or another.
pub(super) fn group_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes();
    let process = std::process::id().to_le_bytes();
    let port = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = port.local_addr().unwrap().port();
    ([239, 192 + next[0] % 64, process[0], process[1]], port).into()
}

/// Prints why a test is skipped, and returns `true`, if the loopback interface has no multicast.
pub(super) fn is_absent() -> bool {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let sent = socket
        .set_multicast_ttl_v4(0)
        .and_then(|()| socket.send_to(b"probe", "239.192.0.1:9"));
    if let Err(error) = &sent {
        println!("skipped: there is no multicast on the loopback interface: {error}");
    }
    sent.is_err()
}

/// Environment variable of other processes: the interface that they use.
pub(super) const INTERFACE: &str = "PUNCTUAL_MULTICAST_INTERFACE";

/// Has the link use the loopback interface, or the one that the environment names.
pub(super) fn on_loopback(config: &mut OrbConfig) {
    let interface = std::env::var(INTERFACE).unwrap_or_else(|_| "127.0.0.1".to_owned());
    let properties = [("interface", interface.as_str()), ("pace_us", "20")];
    let properties = properties.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let properties = BTreeMap::from(properties);
    config.link_properties.insert("miop".to_owned(), properties);
}

pub(super) fn orb() -> Orb {
    Multicast::extend(Orb::builder())
        .configure(on_loopback)
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap()
}

/// ORB that serves members.
pub(super) struct Server {
    pub(super) orb: Orb,
    pub(super) poa: Poa,
    pub(super) goa: Goa,
    pub(super) heard: Arc<Heard>,
}

impl Server {
    pub(super) fn new() -> Self {
        Self::of(orb())
    }

    pub(super) fn of(orb: Orb) -> Self {
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        Self {
            goa: Goa::of(&poa).unwrap(),
            heard: Arc::default(),
            poa,
            orb,
        }
    }

    /// Makes an object.
    pub(super) fn object(&self, name: &'static str) -> (ObjectRef, ObjectId) {
        let heard = self.heard.clone();
        let object: Echo = self.poa.activate(Arc::new(Member { name, heard })).unwrap();
        let id = self.poa.reference_to_id(&object).unwrap();
        (object.as_object().clone(), id)
    }

    /// Makes an object that is a member of a group.
    pub(super) fn member(&self, name: &'static str, group: &ObjectRef) -> ObjectId {
        let (_, id) = self.object(name);
        self.goa.associate_reference_with_id(group, &id).unwrap();
        id
    }

    pub(super) fn multicast(&self) -> Arc<Multicast> {
        Multicast::of(&self.orb).unwrap()
    }
}

/// Returns the reference of a group at an address.
pub(super) fn group_at(orb: &Orb, address: SocketAddr, id: u64) -> ObjectRef {
    let of = GroupReference {
        group: GroupInfo::new("tests", id),
        address,
        type_id: Echo::REPOSITORY_ID,
        gateway: None,
    };
    Multicast::reference(orb, &of).unwrap()
}

/// Returns the same reference in another ORB.
pub(super) fn seen_by(orb: &Orb, reference: &ObjectRef) -> ObjectRef {
    orb.string_to_object(&reference.ior().to_string()).unwrap()
}
