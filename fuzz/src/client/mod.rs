//! Fuzz target for replies to a client: results of every type, exceptions, LOCATION_FORWARD,
//! fragments, CloseConnection.

mod full;
mod later;

use crate::generated::all_types::{
    Boxed, BoxedFactory, Choice, Color, Either, Every, Longer, LongerFactory, LongerState, Node,
    NodeFactory, NodeState, Numbered, Plain, Texts, Tree,
};
use crate::mutate::{self, Bytes};
use crate::server::{self, PROTOCOLS};
use crate::wire::{self, Slices};
use punctual::config::GiopVersion;
use punctual::policy::{Buffering, CollocationScope};
use punctual::{
    Any, Char, Context, Interface, LongDouble, Orb, OrbConfig, SystemException, Typed, ValueType,
};
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Maximum number of connections that one call may open: one to the server, and further ones after
/// forwards.
const CONNECTIONS: usize = 3;

/// Returns a reference for each protocol that has replies.
fn references() -> &'static [Every; 2] {
    static REFERENCES: OnceLock<[Every; 2]> = OnceLock::new();
    REFERENCES.get_or_init(|| [PROTOCOLS[0], PROTOCOLS[1]].map(reference))
}

fn reference(protocol: &str) -> Every {
    reference_by(protocol, |_| {})
}

fn reference_by(protocol: &str, configure: impl FnOnce(&mut OrbConfig)) -> Every {
    let orb = Orb::builder()
        .link(Arc::new(Slices))
        .configure(|config| {
            config.client_protocols = vec![protocol.to_owned()];
            config.collocation_scope = CollocationScope::Orb;
            config.limits.message = 1 << 16;
            config.limits.nesting = 24;
            configure(config);
        })
        .build()
        .expect("the configuration is sound");
    orb.register_value_factory(NodeFactory);
    orb.register_value_factory(LongerFactory);
    orb.register_value_factory(BoxedFactory);
    let text = server::server()
        .orb
        .object_to_string(&server::server().every);
    let object = text.and_then(|text| orb.string_to_object(&text));
    Every::from_object(object.expect("it is a reference"))
}

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    let (which, octets) = crate::choice(octets);
    if which >= SENDS {
        return sends(usize::from(which - SENDS), octets);
    }
    let is_full = how & FULL != 0;
    let every = match is_full {
        true => &full::get().every,
        false => &references()[usize::from(how & 1)],
    };
    let piece = [0, 1, 7, 40][usize::from(how >> 1) % 4];
    let inputs = (0..CONNECTIONS).map(|_| octets.to_vec());
    wire::opens(inputs, piece);
    let calls = || {
        if how & (FULL | IN_SEGMENT | LATER) == LATER {
            return later::calls(every, which);
        }
        for call in 0..1 + usize::from(how >> 6) {
            let calls = CALLS.len();
            if let Err(error) = CALLS[(usize::from(which) + call) % calls](every) {
                assert!(!error.to_string().is_empty());
            }
        }
    };
    match is_full && how & IN_SEGMENT != 0 {
        true => full::get().in_segment(calls),
        false => calls(),
    }
    wire::opens([], 0);
    wire::close_opened();
}

/// Flag in the input's first octet: the call is made by the client of [`full`].
const FULL: u8 = 0x20;
/// Flag in the input's first octet: the client of [`full`] makes the call within a scheduling
/// segment.
const IN_SEGMENT: u8 = 0x10;
/// Flag in the input's first octet: asynchronous calls, made by a client other than that of
/// [`full`].
const LATER: u8 = 0x08;

/// Repeats the recorded call `one` with `answer` as the server's octets, of which at most `piece`
/// arrive at once (0: all).
///
/// # Errors
/// The exception that the call raised.
pub fn called(one: &Conversation, answer: Vec<u8>, piece: usize) -> Result<(), String> {
    wire::opens([answer], piece);
    let outcome = match (references().get(one.protocol), CALLS.get(one.number)) {
        (Some(every), Some(call)) => call(every).map_err(|error| error.to_string()),
        _ => Err("there is no such call".to_owned()),
    };
    wire::opens([], 0);
    wire::close_opened();
    outcome
}

/// First of the call numbers that select a test of sending; see [`WAYS`].
const SENDS: u8 = 249;
/// Time within which the coarse clock is certain to advance.
const TICK: Duration = Duration::from_millis(5);

/// Configurations of a sending client: a protocol (as an index), a GIOP version, and the number of
/// one-ways that are buffered.
const WAYS: [(usize, GiopVersion, usize); 7] = [
    (0, GiopVersion::V1_2, 1),
    (2, GiopVersion::V1_2, 1),
    (2, GiopVersion::V1_2, 3),
    (1, GiopVersion::V1_2, 3),
    (0, GiopVersion::V1_2, 3),
    (0, GiopVersion::V1_0, 1),
    (0, GiopVersion::V1_1, 1),
];

/// Index of the configuration whose client checks a connection for data before it reuses it.
const QUIET: usize = 0;

/// Sends one-ways and a call in the given configuration; checks that the call ends, and that the
/// server can read what was sent.
fn sends(way: usize, octets: &[u8]) {
    static WAY: OnceLock<Vec<Every>> = OnceLock::new();
    let ways = WAY.get_or_init(|| {
        let all = WAYS.into_iter().enumerate();
        let all = all.map(|(number, (protocol, version, together))| {
            reference_by(PROTOCOLS[protocol], |config| {
                if number == QUIET {
                    config.timeouts.quiet = Some(Duration::ZERO);
                }
                config.giop_version = version;
                config.one_way_buffering = (together > 1).then_some(Buffering {
                    messages: together,
                    octets: 1 << 30,
                    delay: None,
                });
            })
        });
        all.collect()
    });
    let way = way % ways.len();
    wire::opens((0..CONNECTIONS).map(|_| octets.to_vec()), 0);
    for _ in 0..WAYS[way].2 {
        // Text that the protocol cannot represent is an error.
        let _ = ways[way].note("to whom it may concern", octets);
    }
    if way == QUIET {
        std::thread::sleep(TICK);
    }
    if let Err(error) = ways[way].ping() {
        assert!(!error.to_string().is_empty());
    }
    wire::opens([], 0);
    let protocol = PROTOCOLS[WAYS[way].0];
    for sent in wire::close_opened() {
        if protocol == PROTOCOLS[0] {
            server::are_messages(&sent);
        }
        let _answers = server::served(protocol, &sent, 0);
    }
}

/// Returns the recorded requests and replies of successful calls, of each operation and protocol;
/// they serve as seeds.
#[must_use]
pub fn conversations() -> Vec<Conversation> {
    let mut all = Vec::new();
    // The references are new: others remember the servers that inputs have led them to.
    let references = [PROTOCOLS[0], PROTOCOLS[1]].map(reference);
    for (protocol, every) in references.iter().enumerate() {
        for (number, call) in CALLS.iter().enumerate() {
            wire::opens_answered(match protocol {
                0 => |asked| server::served(PROTOCOLS[0], asked, 0),
                _ => |asked| server::served(PROTOCOLS[1], asked, 0),
            });
            let outcome = call(every).map_err(|error| error.to_string());
            let asked = wire::close_opened().concat();
            let answered = server::served(PROTOCOLS[protocol], &asked, 0);
            all.push(Conversation {
                protocol,
                number,
                asked,
                answered,
                outcome,
            });
        }
    }
    wire::opens([], 0);
    all
}

/// Recorded call of a fuzz target, with the bytes that client and server sent.
#[derive(Debug)]
pub struct Conversation {
    /// Index of the protocol in the list of tested protocols.
    pub protocol: usize,
    /// Index of the call in the list of recorded calls.
    pub number: usize,
    /// Bytes that the client sent for the call.
    pub asked: Vec<u8>,
    /// Bytes that the server sent in response to the call.
    pub answered: Vec<u8>,
    /// Result of the call, or its error as text.
    pub outcome: Result<(), String>,
}

type Called = Result<(), Box<dyn Error>>;

/// Calls of each operation of the interface, and of the operations that every object has.
const CALLS: &[fn(&Every) -> Called] = &[
    |every| Ok(every.ping()?),
    |every| Ok(every.note("to whom it may concern", &[1, 2, 3])?),
    |every| done(every.level()),
    |every| Ok(every.set_level(3)?),
    |every| done(every.name()),
    |every| Ok(every.same_plain(&plain(1)).map(drop)?),
    |every| Ok(every.same_plain(&plain(13)).map(drop)?),
    |every| Ok(every.same_plain(&plain(14)).map(drop)?),
    |every| {
        Ok(every
            .same_texts(&texts(), &mut "weit".to_owned())
            .map(drop)?)
    },
    |every| {
        let mut other = Numbered::All(vec![Choice::Code(3)]);
        done(every.same_choice(&Choice::Several(texts()), &mut other))
    },
    |every| {
        let mut other = Numbered::Paid(server::price());
        let value = Choice::Others(Color::Blue, vec![1, 2]);
        done(every.same_choice(&value, &mut other))
    },
    |every| {
        let leaf = |name: &str| Tree {
            name: name.to_owned(),
            branches: Vec::new(),
        };
        done(every.same_tree(&Tree {
            branches: vec![leaf("a"), leaf("b")],
            ..leaf("root")
        }))
    },
    |every| done(every.same_octets(&[9; 40])),
    |every| {
        let mut list = vec!["one".to_owned(), "two".to_owned()];
        done(every.same_longs(&[1, -1], &mut list))
    },
    |every| done(every.same_grid(&[[1, 2, 3], [4, 5, 6]], server::price())),
    |every| done(every.precise(LongDouble::default())),
    |every| done(every.anything(&any(&texts()))),
    |every| done(every.anything(&any(&plain(4)))),
    |every| done(every.same_object(Some(every.as_object()), Some(every))),
    |every| {
        let mut longer = Some(Longer::new(LongerState {
            base: NodeState::default(),
            factor: 0.5,
            extra: Any::default(),
        }));
        let boxed = Boxed::new(vec![1, 2]);
        done(every.values(Some(&ring()), &mut longer, Some(&boxed)))
    },
    |every| done(every.same_either(Some(&Either::Value(ring().as_value().clone())))),
    |every| {
        let mut context = Context::default();
        context.set("every.thing", "much");
        done(every.setting(&context))
    },
    |every| done(every.weight()),
    |every| done(every.as_object().is_a("IDL:other:1.0")),
    |every| done(every.as_object().non_existent()),
];

fn done<T>(outcome: Result<T, SystemException>) -> Called {
    outcome.map(drop).map_err(Into::into)
}

fn plain(number: i32) -> Plain {
    Plain {
        flag: true,
        tiny: 1,
        number,
        ratio: 0.5,
        ..Plain::default()
    }
}

fn texts() -> Texts {
    Texts {
        first: Char::default(),
        wide_letter: 'ß',
        text: "text".to_owned(),
        wide_text: "weit".to_owned(),
        bounded: "eight".to_owned(),
        letters: vec!['a', 'ß'],
    }
}

fn any<T: Typed + punctual::stub::Marshal>(value: &T) -> Any {
    Any::new(value).expect("it can be marshaled")
}

/// Returns two valuetype nodes that refer to each other.
fn ring() -> Node {
    let first = Node::new(NodeState {
        number: 1,
        text: "first".to_owned(),
        ..NodeState::default()
    });
    let second = Node::new_beside(
        &first,
        NodeState {
            number: 2,
            next: Some(first.clone()),
            others: vec![Some(first.clone()), None],
            ..NodeState::default()
        },
    );
    first.set_next(Some(second));
    first
}

/// Mutates an input so that its messages stay valid in their protocol (see [`crate::mutate`]).
pub fn mutate(data: &mut [u8], size: usize, seed: u32, bytes: Bytes) -> usize {
    const COUNT: usize = 2;
    static POOLS: OnceLock<[Vec<Vec<u8>>; COUNT]> = OnceLock::new();
    let pools = POOLS.get_or_init(|| {
        let mut pools: [Vec<Vec<u8>>; COUNT] = std::array::from_fn(|_| Vec::new());
        for input in crate::corpus("client") {
            if let [how, _, messages @ ..] = &*input {
                pools[usize::from(*how) % COUNT].push(messages.to_vec());
            }
        }
        pools
    });
    let protocol = data.first().map_or(0, |how| usize::from(*how) % COUNT);
    mutate::messages(data, size, seed, 2, &pools[protocol], bytes)
}
