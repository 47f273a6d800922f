//! Sequences in bulk between two ORBs: structs that are copied whole, views that servants get, and
//! the `_into` variants that fill buffers of the caller. Stubs are written as the IDL compiler
//! writes them.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use punctual::config::GiopVersion;
use punctual::stub::{
    Arc, DispatchError, Dispatched, Implements, Marshal, Operation, Servant, ServerCall, Unmarshal,
    plain_struct, unmarshal_slice,
};
use punctual::{
    Char, Interface, ListenEndpoint, ObjectRef, Orb, OrbConfig, Poa, RootPoa, SystemException,
    SystemExceptionKind as Kind,
};
use std::any::Any;
use std::sync::Mutex;
use std::time::Duration;
use support::watchdog;

const LIMIT: Duration = Duration::from_secs(60);

/// Struct with an alignment of 8, because of its double, while its first member has an alignment of
/// 2: the start of a sequence decides the padding before its first element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
struct BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64,
}

plain_struct! {
    BinStruct {
        s: i16,
        c: Char,
        l: i32,
        o: u8,
        d: f64,
    }
}

/// Struct whose layout in memory never equals that on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
struct Cube {
    o: u8,
    l: i32,
    s: i16,
}

plain_struct! {
    Cube {
        o: u8,
        l: i32,
        s: i16,
    }
}

/// Reference to a test object whose operations return their arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Carrier(ObjectRef);

impl Interface for Carrier {
    const REPOSITORY_ID: &'static str = "IDL:test/Carrier:1.0";
    const REPOSITORY_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

/// Defines the operation and its `_into` variant for a sequence of each type.
macro_rules! carries {
    ($($operation:ident $twin:ident $element:ty $(, $lending:ident)?;)*) => {
        impl Carrier {$(
            fn $operation(&self, values: &[$element]) -> Result<Vec<$element>, SystemException> {
                const OPERATION: Operation = Operation::two_way(stringify!($operation));
                self.0.invoke(
                    &OPERATION $(.$lending(values))?,
                    |out| values.marshal(out),
                    Vec::<$element>::unmarshal,
                )
            }

            fn $twin(
                &self,
                values: &[$element],
                result: &mut Vec<$element>,
            ) -> Result<(), SystemException> {
                const OPERATION: Operation = Operation::two_way(stringify!($operation));
                self.0.invoke(
                    &OPERATION $(.$lending(values))?,
                    |out| values.marshal(out),
                    |reply| result.unmarshal_into(reply),
                )
            }
        )*}

        impl Servant for CarrierSkeleton {
            fn repository_ids(&self) -> &'static [&'static str] {
                Carrier::REPOSITORY_IDS
            }

            fn implementation(&self) -> &(dyn Any + Send + Sync) {
                &self.0
            }

            fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
                match call.operation() {
                    $(stringify!($operation) => {
                        let values = unmarshal_slice::<$element>(call.arguments())?;
                        self.0.lock().unwrap().push(values.is_borrowed());
                        call.reply(|out| values.marshal(out))
                    })*
                    "text" => {
                        let value = call.arguments().get_string()?;
                        call.reply(|out| out.put_string(&value))
                    }
                    _ => Err(call.bad_operation()),
                }
            }
        }
    };
}

carries! {
    octets octets_into u8, lending;
    shorts shorts_into i16, lending;
    longs longs_into i32, lending;
    doubles doubles_into f64, lending;
    structs structs_into BinStruct;
    cubes cubes_into Cube;
    words words_into String;
}

impl Carrier {
    fn text_into(&self, value: &str, result: &mut String) -> Result<(), SystemException> {
        const OPERATION: Operation = Operation::two_way("text");
        self.0.invoke(
            &OPERATION,
            |out| value.marshal(out),
            |reply| result.unmarshal_into(reply),
        )
    }
}

/// Record of whether each argument was borrowed from the receive buffer.
type Seen = Arc<Mutex<Vec<bool>>>;

struct CarrierSkeleton(Seen);

impl Implements<Seen> for Carrier {
    fn servant(seen: Seen) -> Arc<dyn Servant> {
        Arc::new(CarrierSkeleton(seen))
    }
}

struct Pair {
    server: Orb,
    client: Orb,
    _poa: Poa,
    seen: Seen,
    carrier: Carrier,
}

impl Pair {
    fn over(endpoint: ListenEndpoint, configure: impl Fn(&mut OrbConfig)) -> Self {
        let server = Orb::builder()
            .listen(endpoint)
            .configure(&configure)
            .build()
            .unwrap();
        let client = Orb::builder().configure(&configure).build().unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let seen = Seen::default();
        let reference: Carrier = poa.activate(seen.clone()).unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let carrier = Carrier::narrow(client.string_to_object(&text).unwrap()).unwrap();
        Self {
            server,
            client,
            _poa: poa,
            seen,
            carrier,
        }
    }

    fn new() -> Self {
        Self::over(ListenEndpoint::iiop("127.0.0.1", 0), |_| {})
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

fn numbers(count: usize) -> impl Iterator<Item = i32> {
    (0..count).map(|i| i32::try_from(i).unwrap().wrapping_mul(0x0103_0507))
}

fn low(l: i32) -> u8 {
    l.to_le_bytes()[0]
}

fn bin_structs(count: usize) -> Vec<BinStruct> {
    let one = |l: i32| BinStruct {
        s: i16::from(low(l)) - 99,
        c: Char(low(l) & 0x7f),
        l,
        o: low(l),
        d: f64::from(l) / 3.0,
    };
    numbers(count).map(one).collect()
}

fn cubes(count: usize) -> Vec<Cube> {
    let one = |l: i32| Cube {
        o: low(l),
        l,
        s: i16::from(low(l)),
    };
    numbers(count).map(one).collect()
}

/// Sends sequences of all kinds to the servant and back, and takes the result in both ways: as a
/// new sequence, and in a buffer of the caller.
fn carries_all(carrier: &Carrier, count: usize) {
    let octets: Vec<u8> = numbers(count).map(low).collect();
    let shorts: Vec<i16> = octets.iter().map(|&o| i16::from(o) - 77).collect();
    let longs: Vec<i32> = numbers(count).collect();
    let doubles: Vec<f64> = longs.iter().map(|&l| f64::from(l) / 7.0).collect();
    let words: Vec<String> = longs.iter().take(50).map(i32::to_string).collect();
    macro_rules! carry {
        ($operation:ident $twin:ident $values:expr) => {
            let values = $values;
            assert_eq!(carrier.$operation(&values).unwrap(), values);
            let mut result = values[..count.min(3).min(values.len())].to_vec();
            carrier.$twin(&values, &mut result).unwrap();
            assert_eq!(result, values);
        };
    }
    carry!(octets octets_into octets);
    carry!(shorts shorts_into shorts);
    carry!(longs longs_into longs);
    carry!(doubles doubles_into doubles);
    carry!(structs structs_into bin_structs(count));
    carry!(cubes cubes_into cubes(count));
    carry!(words words_into words);
}

#[test]
fn sequences_of_each_kind_come_back_in_every_version() {
    let _watchdog = watchdog(LIMIT);
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0);
        let pair = Pair::over(endpoint, |config| config.giop_version = version);
        for count in [0, 1, 2, 3, 64, 1024, 9_000] {
            carries_all(&pair.carrier, count);
        }
    }
}

#[test]
fn sequences_come_back_in_fragments() {
    let _watchdog = watchdog(LIMIT);
    for version in [GiopVersion::V1_1, GiopVersion::V1_2] {
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0);
        let pair = Pair::over(endpoint, |config| {
            config.giop_version = version;
            config.fragment_size = 1024;
            config.fragment_giop_1_1 = true;
        });
        for count in [3, 64, 700, 5_000] {
            carries_all(&pair.carrier, count);
        }
    }
}

#[test]
fn sequences_come_back_over_shared_memory() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::over(ListenEndpoint::new("shmiop", ""), |_| {});
    for count in [0, 3, 64, 5_000, 100_000] {
        carries_all(&pair.carrier, count);
    }
}

#[test]
fn a_twin_uses_the_memory_of_its_buffers_again() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let mut structs = bin_structs(2_000);
    let before = structs.as_ptr();
    for count in [2_000, 1, 0, 1_999] {
        let values = bin_structs(count);
        pair.carrier.structs_into(&values, &mut structs).unwrap();
        assert_eq!((structs.as_ptr(), &structs), (before, &values));
    }
    let mut longs = vec![0; 100];
    let before = longs.as_ptr();
    pair.carrier.longs_into(&[1, 2], &mut longs).unwrap();
    assert_eq!((longs.as_ptr(), longs), (before, vec![1, 2]));
    let mut text = "a long text that was there before".to_owned();
    let before = text.as_ptr();
    pair.carrier.text_into("Grüße", &mut text).unwrap();
    assert_eq!((text.as_ptr(), text.as_str()), (before, "Grüße"));
    // The elements of a sequence keep their buffers, too.
    let mut words = vec!["one of the words".to_owned(), String::new()];
    let before = words[0].as_ptr();
    let new = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
    pair.carrier.words_into(&new, &mut words).unwrap();
    assert_eq!((words[0].as_ptr(), words), (before, new.to_vec()));
}

#[test]
fn a_servant_sees_octets_where_they_were_received_and_words_in_a_vector() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    pair.carrier.octets(&[1, 2, 3]).unwrap();
    pair.carrier.words(&["one".to_owned()]).unwrap();
    assert_eq!(*pair.seen.lock().unwrap(), [true, false]);
}

#[test]
fn a_character_that_the_code_set_lacks_fails_the_call_and_not_the_connection() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let mut values = bin_structs(300);
    values[299].c = Char(0xe4);
    let refused = pair.carrier.structs(&values).unwrap_err();
    assert_eq!(refused.kind(), Kind::DataConversion);
    values[299].c = Char(b'a');
    assert_eq!(pair.carrier.structs(&values).unwrap(), values);
}
