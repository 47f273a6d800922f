//! Fuzz target for the octets that a client sends: they are received and dispatched to a servant
//! for every type, which replies.

mod bridge;
mod dynamic;
mod full;
mod later;
mod more;
mod raw;

pub(crate) use full::{decided, flat_priorities, priorities_that_change, watches, with_priorities};

use crate::generated::all_types::{
    Bad, Boxed, BoxedFactory, Choice, Doubles, Either, EitherServant, Empty, Every,
    EverySamePlainError, EverySameTextsError, EveryServant, Grid, Longer, LongerFactory, Longs,
    Node, NodeFactory, Numbered, Octets, Plain, Price, Texts, Tree, Words,
};
use crate::mutate::{self, Bytes};
use crate::wire::{self, SliceConnection, Slices};
use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::policy::Bidirectional;
use punctual::rt::timeline::{Timeline, TimelineLimits};
use punctual::stub::ServerCall;
use punctual::{
    Any, Char, Context, Fixed, Interface, ListenEndpoint, LongDouble, ObjectRef, Orb, Policy,
    RootPoa, SystemException, TypeCode, ValueRef, ValueType,
};
use punctual_cdr::Limits;
use punctual_giop::{Examined, examine};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Time limit of a conversation: one that has not ended by then counts as endless.
const LONG: Duration = Duration::from_secs(30);

/// Protocols under test, over the byte-slice link of the fuzz targets.
pub(crate) const PROTOCOLS: [&str; 3] = ["slice", "giop_lite+slice", "frames+slice"];

/// Server under test, with the objects that fuzz inputs address.
pub(crate) struct Server {
    pub(crate) orb: Orb,
    pub(crate) every: Every,
    /// Object with a servant that follows instructions in the request.
    pub(crate) raw: Every,
}

/// Returns the server. No connections arrive at its endpoints; inputs are passed to it directly.
pub(crate) fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let mut builder = Orb::builder().link(Arc::new(Slices)).configure(|config| {
            config.limits.message = 1 << 16;
            config.limits.nesting = 24;
            // The least size: longer replies go in fragments.
            config.fragment_size = 1024;
            config.fragment_giop_1_1 = true;
        });
        for protocol in PROTOCOLS {
            builder = builder.listen(ListenEndpoint::new(protocol, "here"));
        }
        with_objects(builder.build().expect("the configuration is sound"))
    })
}

/// Activates the objects that inputs address by fixed keys.
pub(crate) fn with_objects(orb: Orb) -> Server {
    with_objects_and(orb, &[])
}

/// Function that a servant runs in each upcall, before it replies without results.
pub(crate) type Deed = fn(&mut ServerCall<'_>);

/// Activates the objects that inputs address by fixed keys, and further objects with the given ids,
/// whose servants run the given functions.
pub(crate) fn with_objects_and(orb: Orb, more: &[(&str, Deed)]) -> Server {
    orb.register_value_factory(NodeFactory);
    orb.register_value_factory(LongerFactory);
    orb.register_value_factory(BoxedFactory);
    let root = orb.root_poa().expect("there is a root");
    // The keys of persistent objects are the same in each process, so that an input can contain
    // them.
    let policies = [
        PoaPolicy::Lifespan(LifespanPolicy::Persistent),
        PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
        // Callbacks may go by the client's connection.
        PoaPolicy::Defined(Policy::Bidirectional(Bidirectional::Both)),
    ];
    let poa = root
        .create_poa("p", Some(root.manager()), &policies)
        .expect("the policies fit");
    root.manager().activate().expect("it is not destroyed");
    let every: Every = poa
        .activate_with_id(&"e".into(), Arc::new(Servant))
        .expect("nothing is active yet");
    let raw: Every = poa
        .activate_with_id(&"r".into(), raw::ByHand(raw::Raw))
        .expect("it is another id");
    let _: Every = poa
        .activate_with_id(&"l".into(), raw::ByHand(later::Later))
        .expect("it is another id");
    let _: Every = poa
        .activate_with_id(&"d".into(), dynamic::Dynamic)
        .expect("it is another id");
    for (id, deed) in more {
        let does: Result<Every, _> =
            poa.activate_with_id(&(*id).into(), raw::ByHand(raw::Does(*deed)));
        does.expect("it is another id");
    }
    let table = orb.ior_table().expect("there is a root");
    table.bind("E", &every).expect("the key is free");
    Server { orb, every, raw }
}

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    let protocol = PROTOCOLS[usize::from(how) % PROTOCOLS.len()];
    let piece = [0, 1, 7, 40][usize::from(how >> 4) % 4];
    // A timeline of the conversation is recorded, too.
    let recording = (how & 0x70 == RECORDED).then(|| {
        Timeline::start(TimelineLimits {
            records: 64,
            threads: THREADS,
            ..TimelineLimits::default()
        })
    });
    let sent = match (how & LENDS, how & THROUGH_BRIDGE) {
        _ if how & MORE == MORE => more::served(how, protocol, octets),
        (0, 0) if how & FULL != 0 => served_by(&full::get().server.orb, protocol, octets, piece),
        (0, 0) => served(protocol, octets, piece),
        (0, _) => bridge::served(how & FULL != 0, protocol, octets, piece),
        (_, 0) => served_lent(&server().orb, protocol, octets),
        _ => bridge::served_lent(protocol, octets),
    };
    if let Some(Ok(recording)) = recording {
        // Other threads may serve meanwhile: the first ones record, up to a limit.
        let threads = recording.stop();
        let record = threads.iter().filter(|one| !one.records.is_empty());
        assert!(record.count() <= THREADS);
    }
    if protocol == "slice" {
        are_messages(&sent);
    }
    for message in [octets, &sent] {
        assert!(!punctual_orb::fuzzing::traced(message).is_empty());
    }
    // Connections that a servant has opened meanwhile, to ask a reference for its type.
    wire::close_opened();
    later::settle();
}

/// Flag in the input's first octet: the request goes to a bridge, which calls the server.
const THROUGH_BRIDGE: u8 = 8;

/// Flag in the input's first octet: the server is that of [`full`], or the bridge gives access to
/// one object alone.
const FULL: u8 = 0x40;

/// Flags in the input's first octet: the server of [`full`] receives 40 bytes at a time, while a
/// timeline is recorded.
const RECORDED: u8 = FULL | 0x30;

/// Maximum number of threads that record a timeline.
const THREADS: usize = 4;

/// Flag in the input's first octet: a run of the received data is lent (kept in separate memory).
/// Two numbers of two octets precede the messages: the run's offset and its length.
const LENDS: u8 = 0x80;

/// Flags in the input's first octet: a server or bridge of [`more`].
const MORE: u8 = LENDS | FULL;

/// Returns the answer of a server for which a run of the received data lies in the peer's memory.
fn served_lent(orb: &Orb, protocol: &str, octets: &[u8]) -> Vec<u8> {
    let Some(([a, b, c, d], octets)) = octets.split_first_chunk() else {
        return Vec::new();
    };
    let begin = usize::from(u16::from_be_bytes([*a, *b])).min(octets.len());
    let length = usize::from(u16::from_be_bytes([*c, *d]));
    let end = begin.saturating_add(length).min(octets.len());
    let connection = SliceConnection::lending(octets, begin..end);
    answered_on(orb, protocol, connection)
}

/// Returns the server's answer to these octets, of which at most `piece` arrive at once (0: all).
///
/// # Panics
/// No endpoint has that protocol, or the connection goes on behind its end.
#[must_use]
pub fn served(protocol: &str, octets: &[u8], piece: usize) -> Vec<u8> {
    served_by(&server().orb, protocol, octets, piece)
}

fn served_by(orb: &Orb, protocol: &str, octets: &[u8], piece: usize) -> Vec<u8> {
    answered_on(orb, protocol, SliceConnection::new(octets, piece))
}

fn answered_on(orb: &Orb, protocol: &str, connection: Arc<SliceConnection>) -> Vec<u8> {
    let is_served = orb.serve_here(protocol, connection.clone());
    assert!(is_served, "nobody listens");
    // Other threads may have taken the connection over while this thread was in an upcall that made
    // a call.
    let began = Instant::now();
    while !connection.is_closed() {
        assert!(began.elapsed() < LONG, "it goes on behind its end");
        std::thread::sleep(Duration::from_millis(1));
    }
    connection.sent()
}

/// Checks that the sent octets consist of complete messages.
pub(crate) fn are_messages(mut sent: &[u8]) {
    let limits = Limits::default();
    while !sent.is_empty() {
        let Ok(Examined::Complete(header)) = examine(sent, &limits) else {
            panic!("no message: {sent:?}");
        };
        sent = &sent[header.message_len()..];
    }
}

/// Servant of the fuzz target, which returns its arguments.
struct Servant;

impl EitherServant for Servant {
    fn weight(&self) -> Result<i32, SystemException> {
        Ok(7)
    }
}

impl EveryServant for Servant {
    fn level(&self) -> Result<i32, SystemException> {
        Ok(1)
    }

    fn set_level(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }

    fn name(&self) -> Result<String, SystemException> {
        Ok("every".to_owned())
    }

    fn ping(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn note(&self, _: &str, _: &[u8]) -> Result<(), SystemException> {
        Ok(())
    }

    fn same_plain(&self, value: &Plain) -> Result<Plain, EverySamePlainError> {
        match value.number {
            13 => Err(Empty {}.into()),
            14 => Err(Bad {
                why: "14".to_owned(),
                code: 14,
                more: Any::default(),
            }
            .into()),
            _ => Ok(value.clone()),
        }
    }

    fn same_texts(
        &self,
        value: &Texts,
        wide: &mut String,
    ) -> Result<(Texts, Char), EverySameTextsError> {
        wide.push_str(&value.wide_text);
        Ok((value.clone(), value.first))
    }

    fn same_choice(&self, value: &Choice, _: &mut Numbered) -> Result<Choice, SystemException> {
        Ok(value.clone())
    }

    fn same_tree(&self, value: &Tree) -> Result<Tree, SystemException> {
        Ok(value.clone())
    }

    fn same_octets(&self, value: &[u8]) -> Result<Octets, SystemException> {
        Ok(value.to_vec())
    }

    fn same_longs(
        &self,
        value: &[i32],
        list: &mut Words,
    ) -> Result<(Longs, Doubles), SystemException> {
        list.pop();
        Ok((value.to_vec(), vec![0.5; list.len().min(8)]))
    }

    fn same_grid(&self, value: &Grid, paid: Price) -> Result<(Grid, Price), SystemException> {
        Ok((*value, paid))
    }

    fn precise(&self, value: LongDouble) -> Result<LongDouble, SystemException> {
        Ok(value)
    }

    fn anything(&self, value: &Any) -> Result<(Any, TypeCode), SystemException> {
        // Reading the contents yields a value, or an error.
        let _ = value.value();
        Ok((value.clone(), value.type_code().clone()))
    }

    fn same_object(
        &self,
        value: Option<&ObjectRef>,
        other: Option<&Every>,
    ) -> Result<Option<ObjectRef>, SystemException> {
        if let Some(other) = other {
            let _ = other.as_object().is_equivalent(other.as_object());
        }
        Ok(value.cloned())
    }

    fn values(
        &self,
        value: Option<&Node>,
        other: &mut Option<Longer>,
        some: Option<&Boxed>,
    ) -> Result<(Option<Node>, Option<ValueRef>), SystemException> {
        if let Some(other) = other {
            other.set_factor(2.0);
        }
        let last = some.map(|some| some.as_value().clone());
        Ok((value.cloned(), last))
    }

    fn same_either(&self, value: Option<&Either>) -> Result<Option<Either>, SystemException> {
        Ok(value.cloned())
    }

    fn setting(&self, context: &Context) -> Result<String, SystemException> {
        let every = context.value("every.thing").unwrap_or_default();
        assert!(
            context
                .iter()
                .all(|(name, value)| context.value(name) == Some(value))
        );
        assert_eq!(context.matching(&["*"]), *context);
        Ok(format!("{context:?} {every}"))
    }
}

/// Returns a fixed-point price as a result for the servant's operations.
pub(crate) fn price() -> Price {
    Fixed::literal(1250)
}

/// Mutates an input so that its messages stay valid in their protocol (see [`crate::mutate`]).
pub fn mutate(data: &mut [u8], size: usize, seed: u32, bytes: Bytes) -> usize {
    const COUNT: usize = PROTOCOLS.len();
    static POOLS: OnceLock<[Vec<Vec<u8>>; COUNT]> = OnceLock::new();
    let pools = POOLS.get_or_init(|| {
        let mut pools: [Vec<Vec<u8>>; COUNT] = std::array::from_fn(|_| Vec::new());
        for input in crate::corpus("server") {
            let (how, messages) = crate::choice(&input);
            pools[usize::from(how) % COUNT].push(messages.to_vec());
        }
        pools
    });
    let protocol = data.first().map_or(0, |how| usize::from(*how) % COUNT);
    mutate::messages(data, size, seed, 1, &pools[protocol], bytes)
}
