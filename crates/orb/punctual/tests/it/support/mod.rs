//! Interface written by hand as the IDL compiler would generate it, and two ORBs for testing it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod alone;
pub mod noting;

use punctual::protocol::{FrameArrival, frame_arrival};
use punctual::stub::{
    Arc, DispatchError, Dispatched, Identity, Implements, Marshal, Nilable, Operation, Servant,
    ServerCall, Unmarshal, unmarshal_slice,
};
use punctual::{
    CompletionStatus, Interface, ListenEndpoint, ObjectRef, Orb, OrbConfig, Poa, RootPoa,
    SystemException, SystemExceptionKind, about_to_block,
};
use std::any::Any;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Reference to an object with the test interface `Echo`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Echo(ObjectRef);

impl Interface for Echo {
    const REPOSITORY_ID: &'static str = "IDL:test/Echo:1.0";
    const REPOSITORY_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

impl Echo {
    pub fn long(&self, value: i32) -> Result<i32, SystemException> {
        const OPERATION: Operation = Operation::two_way("long");
        self.0
            .invoke(&OPERATION, |out| value.marshal(out), i32::unmarshal)
    }

    pub fn text(&self, value: &str) -> Result<String, SystemException> {
        const OPERATION: Operation = Operation::two_way("text");
        self.0
            .invoke(&OPERATION, |out| value.marshal(out), String::unmarshal)
    }

    pub fn wide(&self, value: char) -> Result<char, SystemException> {
        const OPERATION: Operation = Operation::two_way("wide");
        self.0
            .invoke(&OPERATION, |out| value.marshal(out), char::unmarshal)
    }

    pub fn octets(&self, value: &[u8]) -> Result<Vec<u8>, SystemException> {
        const OPERATION: Operation = Operation::two_way("octets");
        self.0.invoke(
            &OPERATION.lending(value),
            |out| value.marshal(out),
            Vec::unmarshal,
        )
    }

    /// Returns the sum of the octets, which the servant reads in the receive buffer.
    pub fn sum(&self, value: &[u8]) -> Result<u64, SystemException> {
        const OPERATION: Operation = Operation::two_way("sum");
        self.0.invoke(
            &OPERATION.lending(value),
            |out| value.marshal(out),
            u64::unmarshal,
        )
    }

    /// Returns the sum of the octets, once the servant's gate is opened.
    pub fn sum_behind_gate(&self, value: &[u8]) -> Result<u64, SystemException> {
        const OPERATION: Operation = Operation::two_way("sum_behind_gate");
        self.0.invoke(
            &OPERATION.lending(value),
            |out| value.marshal(out),
            u64::unmarshal,
        )
    }

    /// Returns `length` octets, which the servant writes into a buffer that the link lends.
    pub fn filled(&self, length: u32) -> Result<Vec<u8>, SystemException> {
        const OPERATION: Operation = Operation::two_way("filled");
        self.0
            .invoke(&OPERATION, |out| length.marshal(out), Vec::unmarshal)
    }

    pub fn ping(&self) -> Result<(), SystemException> {
        const OPERATION: Operation = Operation::one_way("ping");
        self.0.send(&OPERATION, |_| Ok(()))
    }

    pub fn pings(&self) -> Result<u32, SystemException> {
        const OPERATION: Operation = Operation::two_way("pings");
        self.0.invoke(&OPERATION, |_| Ok(()), u32::unmarshal)
    }

    /// Calls the operation that raises the servant's configured exception.
    pub fn fail(&self) -> Result<(), SystemException> {
        const OPERATION: Operation = Operation::two_way("fail");
        self.0.invoke(&OPERATION, |_| Ok(()), |_| Ok(()))
    }

    pub fn panic(&self) -> Result<(), SystemException> {
        const OPERATION: Operation = Operation::two_way("panic");
        self.0.invoke(&OPERATION, |_| Ok(()), |_| Ok(()))
    }

    /// Calls the operation that returns when the servant's gate is opened.
    pub fn wait(&self) -> Result<(), SystemException> {
        const OPERATION: Operation = Operation::two_way("wait");
        self.0.invoke(&OPERATION, |_| Ok(()), |_| Ok(()))
    }

    /// Makes the servant call `target.bounce(this, depth - 1)` while it serves this call.
    pub fn bounce(&self, target: &Echo, depth: u32) -> Result<u32, SystemException> {
        const OPERATION: Operation = Operation::two_way("bounce");
        self.0.invoke(
            &OPERATION,
            |out| {
                Marshal::marshal(&target.0, out)?;
                depth.marshal(out)
            },
            u32::unmarshal,
        )
    }

    pub fn same(&self, object: Option<&ObjectRef>) -> Result<Option<ObjectRef>, SystemException> {
        const OPERATION: Operation = Operation::two_way("same");
        self.0.invoke(
            &OPERATION,
            |out| ObjectRef::marshal_nilable(object, out),
            ObjectRef::unmarshal_nilable,
        )
    }

    pub fn unknown(&self) -> Result<(), SystemException> {
        const OPERATION: Operation = Operation::two_way("no_such_operation");
        self.0.invoke(&OPERATION, |_| Ok(()), |_| Ok(()))
    }
}

/// Servant for the test interface of [`Echo`].
#[derive(Debug, Default)]
pub struct EchoImpl {
    pub pings: Mutex<u32>,
    /// Frame numbers and times of the pings that arrived in numbered frames.
    pub arrivals: Mutex<Vec<FrameArrival>>,
    /// Sums computed by calls that have passed the gate.
    pub sums: Mutex<Vec<u64>>,
    pub gate: Gate,
}

/// Gate at which calls wait until the test opens it.
#[derive(Debug, Default)]
pub struct Gate {
    /// Number of waiters so far, and whether the gate is open.
    state: Mutex<(u32, bool)>,
    changed: Condvar,
}

impl Gate {
    pub fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |state| !state.1).unwrap());
    }

    pub fn open(&self) {
        self.state.lock().unwrap().1 = true;
        self.changed.notify_all();
    }

    pub fn wait_for_waiters(&self, count: u32) {
        let state = self.state.lock().unwrap();
        drop(
            self.changed
                .wait_while(state, |state| state.0 < count)
                .unwrap(),
        );
    }
}

impl Implements<Arc<EchoImpl>> for Echo {
    fn servant(servant: Arc<EchoImpl>) -> Arc<dyn Servant> {
        EchoSkeleton::of::<Self>(servant)
    }
}

/// Reference to a second interface, which the same implementation has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Second(ObjectRef);

impl Interface for Second {
    const REPOSITORY_ID: &'static str = "IDL:test/Second:1.0";
    const REPOSITORY_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

/// Test servant that answers requests itself, without a generated skeleton.
pub trait Answering: Send + Sync + 'static {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError>;
}

struct ByHand<A>(Arc<A>);

impl<A: Answering> Implements<Arc<A>> for Echo {
    fn servant(servant: Arc<A>) -> Arc<dyn Servant> {
        Arc::new(ByHand(servant))
    }
}

impl<A: Answering> Servant for ByHand<A> {
    fn repository_ids(&self) -> &'static [&'static str] {
        Echo::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        &self.0
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        self.0.answer(call)
    }
}

impl Implements<Arc<EchoImpl>> for Second {
    fn servant(servant: Arc<EchoImpl>) -> Arc<dyn Servant> {
        EchoSkeleton::of::<Self>(servant)
    }
}

struct EchoSkeleton {
    servant: Arc<EchoImpl>,
    identity: Identity,
}

impl EchoSkeleton {
    fn of<I: Interface + 'static>(servant: Arc<EchoImpl>) -> Arc<dyn Servant> {
        let identity = Identity::of::<I, _>(&*servant);
        Arc::new(Self { servant, identity })
    }
}

/// Returns the sum of the octets. For equal octets it is a multiplication: without optimisation,
/// adding up a megabyte takes longer than another thread waits before it serves the next request.
fn sum(octets: &[u8]) -> u64 {
    match octets.first() {
        Some(&first) if octets == vec![first; octets.len()] => {
            u64::from(first) * octets.len() as u64
        }
        _ => octets.iter().map(|&octet| u64::from(octet)).sum(),
    }
}

impl Servant for EchoSkeleton {
    fn repository_ids(&self) -> &'static [&'static str] {
        Echo::REPOSITORY_IDS
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        &self.servant
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "long" => {
                let value = i32::unmarshal(call.arguments())?;
                call.reply(|out| value.marshal(out))
            }
            "text" => {
                let value = call.arguments().get_string()?;
                call.reply(|out| out.put_string(&value))
            }
            "wide" => {
                let value = char::unmarshal(call.arguments())?;
                call.reply(|out| value.marshal(out))
            }
            "octets" => {
                let value = call.arguments().get_octets()?;
                call.reply(|out| out.put_octets(value))
            }
            "sum" => {
                let value = unmarshal_slice::<u8>(call.arguments())?;
                let sum: u64 = value.iter().map(|&octet| u64::from(octet)).sum();
                call.reply(|out| sum.marshal(out))
            }
            "sum_behind_gate" => {
                let value = call.arguments().get_octets()?;
                self.servant.gate.pass();
                let sum = sum(value);
                self.servant.sums.lock().unwrap().push(sum);
                call.reply(|out| sum.marshal(out))
            }
            "filled" => {
                let length = u32::unmarshal(call.arguments())?;
                let mut loan = call.loan(length as usize);
                loan.fill(7);
                call.reply(|out| out.put_octets(&loan))
            }
            "filled_after_blocking" => {
                let length = u32::unmarshal(call.arguments())?;
                *self.servant.pings.lock().unwrap() += 1;
                about_to_block();
                call.reply(|out| out.put_octets(&vec![7; length as usize]))
            }
            "ping" => {
                *self.servant.pings.lock().unwrap() += 1;
                self.servant
                    .arrivals
                    .lock()
                    .unwrap()
                    .extend(frame_arrival());
                call.reply(|_| Ok(()))
            }
            "pings" => {
                let pings = *self.servant.pings.lock().unwrap();
                call.reply(|out| pings.marshal(out))
            }
            "fail" => Err(SystemException::new(
                SystemExceptionKind::NoPermission,
                42,
                CompletionStatus::Yes,
            )
            .into()),
            "panic" => panic!("on purpose"),
            "wait" => {
                self.servant.gate.pass();
                call.reply(|_| Ok(()))
            }
            "bounce" => {
                let target = Echo(ObjectRef::unmarshal(call.arguments())?);
                let depth = u32::unmarshal(call.arguments())?;
                let result = match depth.checked_sub(1) {
                    Some(rest) => target.bounce(&target, rest)? + 1,
                    None => 0,
                };
                call.reply(|out| result.marshal(out))
            }
            "same" => {
                let object = ObjectRef::unmarshal_nilable(call.arguments())?;
                call.reply(|out| ObjectRef::marshal_nilable(object.as_ref(), out))
            }
            _ => Err(call.bad_operation()),
        }
    }
}

/// Server with one [`EchoImpl`], and a client ORB that holds a reference to it.
pub struct Pair {
    pub server: Orb,
    pub client: Orb,
    pub poa: Poa,
    pub servant: Arc<EchoImpl>,
    /// Client's reference to the object of the test servant.
    pub echo: Echo,
    pub port: u16,
}

impl Pair {
    pub fn new() -> Self {
        Self::with(|_| {}, |_| {})
    }

    /// Makes a pair whose server executes the requests of a connection one after the other, however long each takes: on a
    /// busy machine even short upcalls last longer than the time after which another thread serves the next requests.
    pub fn in_order(client: impl FnOnce(&mut OrbConfig)) -> Self {
        Self::with(|config| config.timeouts.hand_over = None, client)
    }

    pub fn with(server: impl FnOnce(&mut OrbConfig), client: impl FnOnce(&mut OrbConfig)) -> Self {
        let server = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(server)
            .build()
            .unwrap();
        let client = Orb::builder().configure(client).build().unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(EchoImpl::default());
        let reference: Echo = poa.activate(servant.clone()).unwrap();
        let echo = seen_by(&client, &server, &reference);
        let port = server.endpoints()[0].port().unwrap();
        Self {
            server,
            client,
            poa,
            servant,
            echo,
            port,
        }
    }
}

impl Pair {
    /// Returns the client's reference to an object of the server.
    pub fn as_client(&self, reference: &Echo) -> Echo {
        seen_by(&self.client, &self.server, reference)
    }
}

fn seen_by(client: &Orb, server: &Orb, reference: &Echo) -> Echo {
    let text = server.object_to_string(reference).unwrap();
    Echo::narrow(client.string_to_object(&text).unwrap()).unwrap()
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.servant.gate.open();
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

/// Ends the process with a message if a test takes longer than the limit, so that a hang is
/// reported.
pub fn watchdog(limit: Duration) -> Watchdog {
    let (alive, ended) = std::sync::mpsc::channel::<()>();
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    std::thread::spawn(move || {
        if ended.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            eprintln!("`{name}` hangs: it took longer than {limit:?}");
            std::process::abort();
        }
    });
    Watchdog(alive)
}

/// Guard that cancels the time limit set by [`watchdog`] when it is dropped.
pub struct Watchdog(#[allow(dead_code)] std::sync::mpsc::Sender<()>);

/// Returns the object key in the client's reference to the test servant.
pub fn object_key(pair: &Pair) -> Vec<u8> {
    pair.echo
        .as_object()
        .ior()
        .iiop_profiles()
        .next()
        .unwrap()
        .unwrap()
        .object_key
}

/// Returns so many octets, no two runs of which are alike for a while.
pub fn octets(length: usize) -> Vec<u8> {
    (0..length)
        .map(|at| at.to_le_bytes()[0] ^ at.to_le_bytes()[1])
        .collect()
}

/// Pseudo-random numbers by xorshift64*: repeatable, and good enough for fuzzing.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit).unwrap()).unwrap()
    }

    pub fn octet(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }

    pub fn mutate(&mut self, message: &mut Vec<u8>) {
        let at = self.below(message.len());
        match self.below(7) {
            0 => message[at] ^= 1 << self.below(8),
            1 => message[at] = self.octet(),
            2 => message[at] = [0, 1, 0x7f, 0x80, 0xff][self.below(5)],
            3 => message.truncate(at.max(1)),
            4 => message.insert(at, self.octet()),
            5 => {
                let end = message.len().min(at + 4);
                message[at..end].fill([0xff, 0x00, 0x7f][self.below(3)]);
            }
            _ => {
                let to = self.below(message.len());
                message.swap(at, to);
            }
        }
    }
}

/// Waits a millisecond before a condition is checked again: yielding would burn the processor that
/// others need.
pub(crate) fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(1));
}
