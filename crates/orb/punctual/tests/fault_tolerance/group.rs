//! Servers with a counting object, groups of them, and clients.

use crate::support::{Answering, Echo, Gate};
use punctual::fault_tolerance::{FaultTolerance, FtGroup, GroupMember, HeartbeatEnabledPolicy};
use punctual::poa::{PoaPolicy, ThreadPolicy};
use punctual::stub::{
    DispatchError, Dispatched, Marshal, Operation, ServerCall, Unmarshal, marshal_owned,
};
use punctual::{
    CompletionStatus, Interface, ListenEndpoint, ObjectRef, Orb, OrbBuilder, OrbConfig, RootPoa,
    SystemException, SystemExceptionKind,
};
use punctual_ior::Ior;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Servant that counts its upcalls.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    /// Upcalls so far, of any operation but `count`.
    pub(crate) upcalls: AtomicU32,
    /// Gate at which `hold` waits.
    pub(crate) gate: Gate,
}

impl Counter {
    pub(crate) fn upcalls(&self) -> u32 {
        self.upcalls.load(Ordering::SeqCst)
    }

    pub(crate) fn count(&self) -> u32 {
        self.upcalls.fetch_add(1, Ordering::SeqCst) + 1
    }
}

impl Answering for Counter {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "add" | "is_alive" => {
                let count = self.count();
                call.reply(|out| count.marshal(out))
            }
            "octets" => {
                let length = u32::unmarshal(call.arguments())?;
                self.count();
                call.reply(|out| marshal_owned(vec![7_u8; length as usize], u32::MAX, out))
            }
            "hold" => {
                let count = self.count();
                self.gate.pass();
                call.reply(|out| count.marshal(out))
            }
            "later" => {
                let count = self.count();
                let (pending, dispatched) = call.answer_later()?;
                std::thread::spawn(move || {
                    pending.answer(|call| call.reply(|out| count.marshal(out)))
                });
                Ok(dispatched)
            }
            "refuse" => {
                self.count();
                let kind = SystemExceptionKind::NoPermission;
                Err(SystemException::new(kind, 42, CompletionStatus::Yes).into())
            }
            "busy" => {
                self.count();
                let kind = SystemExceptionKind::Transient;
                Err(SystemException::new(kind, 1, CompletionStatus::No).into())
            }
            "panic" => {
                self.count();
                panic!("on purpose")
            }
            "die" => {
                self.count();
                std::process::abort()
            }
            "bump" => {
                self.count();
                call.reply(|_| Ok(()))
            }
            "count" => {
                let count = self.upcalls();
                call.reply(|out| count.marshal(out))
            }
            _ => Err(call.bad_operation()),
        }
    }
}

/// Server with one counter.
pub(crate) struct Server {
    pub(crate) orb: Orb,
    pub(crate) servant: Arc<Counter>,
    pub(crate) reference: ObjectRef,
    pub(crate) member: Arc<GroupMember>,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(configure: impl FnOnce(&mut OrbConfig)) -> Self {
        Self::at(&[ListenEndpoint::iiop("127.0.0.1", 0)], configure)
    }

    /// Makes a server whose references say that it answers heartbeats.
    pub(crate) fn beating() -> Self {
        let here = [ListenEndpoint::iiop("127.0.0.1", 0)];
        Self::of(
            &here,
            |_| {},
            &[PoaPolicy::of(HeartbeatEnabledPolicy(true))],
        )
    }

    /// Makes a server whose upcalls are made by the thread that calls `run` or `perform_work`.
    pub(crate) fn of_main_thread() -> Self {
        let here = [ListenEndpoint::iiop("127.0.0.1", 0)];
        Self::of(
            &here,
            |_| {},
            &[PoaPolicy::Thread(ThreadPolicy::MainThread)],
        )
    }

    pub(crate) fn at(endpoints: &[ListenEndpoint], configure: impl FnOnce(&mut OrbConfig)) -> Self {
        Self::of(endpoints, configure, &[])
    }

    fn of(
        endpoints: &[ListenEndpoint],
        configure: impl FnOnce(&mut OrbConfig),
        policies: &[PoaPolicy],
    ) -> Self {
        let mut builder = FaultTolerance::extend(Orb::builder()).unwrap();
        for endpoint in endpoints {
            builder = builder.listen(endpoint.clone());
        }
        let orb = builder.configure(configure).build().unwrap();
        let root = orb.root_poa().unwrap();
        let manager = root.manager();
        let poa = root.create_poa("members", Some(manager), policies);
        let poa = poa.unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(Counter::default());
        let echo: Echo = poa.activate(servant.clone()).unwrap();
        let reference = echo.as_object().clone();
        let member = GroupMember::new(DOMAIN, ID);
        let tolerance = FaultTolerance::of(&orb).unwrap();
        tolerance.join(&reference, &member).unwrap();
        Self {
            orb,
            servant,
            reference,
            member,
        }
    }

    pub(crate) fn ior(&self) -> Ior {
        self.reference.ior().clone()
    }

    pub(crate) fn port(&self) -> u16 {
        self.orb.endpoints()[0].port().unwrap()
    }

    pub(crate) fn retained(&self) -> usize {
        FaultTolerance::of(&self.orb).unwrap().retained().requests
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.servant.gate.open();
        let _ = self.orb.shutdown(false);
    }
}

const DOMAIN: &str = "tests";
const ID: u64 = 7;

/// Returns the reference of a group of these members, the first of which is the primary.
pub(crate) fn group_of(members: &[Ior], version: u32) -> Ior {
    let group = FtGroup {
        domain: DOMAIN.to_owned(),
        id: ID,
        version,
    };
    let type_id = &members[0].type_id;
    Ior::of_group(type_id, &group, members, Some(0)).unwrap()
}

/// Returns the reference with another port in its IIOP profiles.
pub(crate) fn through(ior: &Ior, port: u16) -> Ior {
    let profiles = ior.iiop_profiles().map(|profile| {
        let mut profile = profile.unwrap();
        profile.port = port;
        profile.to_tagged(punctual_ior_order()).unwrap()
    });
    Ior {
        type_id: ior.type_id.clone(),
        profiles: profiles.collect(),
    }
}

fn punctual_ior_order() -> punctual::stub::ByteOrder {
    punctual::stub::ByteOrder::Big
}

/// Makes a client ORB with fault tolerance, whose calls last longer than any test takes.
pub(crate) fn client() -> Orb {
    client_of(Duration::from_secs(250))
}

/// Makes a client ORB whose calls last this long.
pub(crate) fn client_of(duration: Duration) -> Orb {
    client_with(|builder| {
        builder.configure(|config| config.fault_tolerance.request_duration = duration)
    })
}

pub(crate) fn client_with(change: impl FnOnce(OrbBuilder) -> OrbBuilder) -> Orb {
    change(FaultTolerance::extend(Orb::builder()).unwrap())
        .build()
        .unwrap()
}

/// Returns a client's reference.
pub(crate) fn seen_by(client: &Orb, ior: &Ior) -> ObjectRef {
    let text = ior.stringify(punctual_ior_order()).unwrap();
    client.string_to_object(&text).unwrap()
}

const ADD: Operation = Operation::two_way("add");
const OCTETS: Operation = Operation::two_way("octets");
const HOLD: Operation = Operation::two_way("hold");
const BUMP: Operation = Operation::one_way("bump");

pub(crate) fn add(object: &ObjectRef) -> Result<u32, SystemException> {
    object.invoke(&ADD, |_| Ok(()), u32::unmarshal)
}

/// Returns so many octets of the servant.
pub(crate) fn octets(object: &ObjectRef, length: u32) -> Result<Vec<u8>, SystemException> {
    object.invoke(&OCTETS, |out| length.marshal(out), Vec::unmarshal)
}

pub(crate) fn hold(object: &ObjectRef) -> Result<u32, SystemException> {
    object.invoke(&HOLD, |_| Ok(()), u32::unmarshal)
}

pub(crate) fn bump(object: &ObjectRef) -> Result<(), SystemException> {
    object.send(&BUMP, |_| Ok(()))
}

/// Calls an operation without arguments whose result is a number.
pub(crate) fn number(object: &ObjectRef, name: &'static str) -> Result<u32, SystemException> {
    object.invoke(&Operation::two_way(name), |_| Ok(()), u32::unmarshal)
}

/// Returns a port at which nothing listens.
pub(crate) fn dead_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until a condition holds.
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
