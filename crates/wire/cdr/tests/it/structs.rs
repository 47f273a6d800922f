//! Tests that structs of plain data are transmitted as they would be number by number, wherever
//! they begin.

#![allow(clippy::unwrap_used)]

use punctual_heap::bytes_of;

use proptest::collection::vec;
use proptest::prelude::*;
use punctual_cdr::{
    Block, ByteOrder, CdrError, Char, CodeSets, Coding, Decoder, Encoder, GiopVersion, Marshal,
    NarrowCodeSet, PlainData, Unmarshal, marshal_each, plain_struct, unmarshal_each,
    unmarshal_slice,
};
use std::fmt::Debug;

/// Declares structs as the IDL compiler generates them, and for each a function that makes a value
/// from random bytes.
macro_rules! shapes {
    ($($name:ident { $($field:ident: $type:ty),+ })*) => {$(
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C)]
        struct $name { $($field: $type),+ }

        plain_struct! { $name { $($field: $type),+ } }

        impl Filled for $name {
            fn filled(source: &mut dyn FnMut() -> u8) -> Self {
                Self { $($field: Filled::filled(source)),+ }
            }
        }
    )*};
}

/// Type whose values can be made from random bytes. The values contain no NaN, and no character
/// beyond ASCII.
trait Filled: Sized {
    fn filled(source: &mut dyn FnMut() -> u8) -> Self;
}

macro_rules! filled {
    ($($number:ty)*) => {$(
        impl Filled for $number {
            fn filled(source: &mut dyn FnMut() -> u8) -> Self {
                <$number>::from_ne_bytes(std::array::from_fn(|_| source()))
            }
        }
    )*};
}

filled!(u8 i8 u16 i16 u32 i32 u64 i64);

impl Filled for f32 {
    fn filled(source: &mut dyn FnMut() -> u8) -> Self {
        f32::from(i16::filled(source)) / 3.0
    }
}

impl Filled for f64 {
    fn filled(source: &mut dyn FnMut() -> u8) -> Self {
        f64::from(i32::filled(source)) / 7.0
    }
}

impl Filled for Char {
    fn filled(source: &mut dyn FnMut() -> u8) -> Self {
        Char(source() & 0x7f)
    }
}

impl<T: Filled, const N: usize> Filled for [T; N] {
    fn filled(source: &mut dyn FnMut() -> u8) -> Self {
        std::array::from_fn(|_| T::filled(source))
    }
}

shapes! {
    Octet { o: u8 }
    Cube { o: u8, l: i32, s: i16 }
    BinStruct { s: i16, c: Char, l: i32, o: u8, d: f64 }
    LeadingDouble { d: f64, s: i16 }
    LeadingLong { l: i32, wide: u64 }
    TrailingOctet { l: u32, o: u8 }
    Wide { a: i64, b: f64, c: u64 }
    Floats { a: f32, b: f32, c: f32 }
    Mixed { a: i8, b: u16, c: u8, d: f64, e: u8 }
    Array { o: u8, several: [i16; 3], d: [f64; 2], text: [Char; 5] }
    Nested { l: i64, inner: BinStruct, o: u8 }
    Askew { o: u8, inner: LeadingLong }
    Several { inner: [TrailingOctet; 3], l: u32 }
    Deep { several: [[BinStruct; 2]; 2], last: Nested }
    Chars { l: i64, text: [Char; 9] }
}

fn values<T: Filled>(count: usize, octets: &[u8]) -> Vec<T> {
    let mut source = octets.iter().copied().cycle();
    let mut next = || source.next().unwrap_or(3);
    (0..count).map(|_| T::filled(&mut next)).collect()
}

/// Writes the values one at a time, without bulk copying.
fn singly<T: Marshal>(values: &[T], order: ByteOrder, before: usize) -> Block {
    let mut out = Encoder::new(
        Block::from_vec(vec![0xaa; before]),
        order,
        Coding::default(),
    );
    marshal_each(values, &mut out, |value, out| value.marshal(out)).unwrap();
    out.put_u8(0xee);
    out.into_block()
}

fn agree<T>(values: &[T], order: ByteOrder, before: usize)
where
    T: PlainData + Filled + Marshal + Unmarshal + Debug + PartialEq,
{
    let single = singly(values, order, before);
    // The destination memory holds other data before.
    let mut memory = vec![0x55; single.len() + 64];
    memory.truncate(before);
    memory.fill(0xaa);
    let mut out = Encoder::new(Block::from_vec(memory), order, Coding::default());
    values.marshal(&mut out).unwrap();
    out.put_u8(0xee);
    assert_eq!(out.block().as_slice(), single.as_slice(), "{values:?}");

    let mut input = Decoder::new(&single, order, Coding::default());
    input.skip(before).unwrap();
    let mut each = input.clone();
    let read = unmarshal_each(&mut each, T::MIN_SIZE, |input| T::unmarshal(input)).unwrap();
    assert_eq!(read, values);
    let (mut whole, mut seen, mut again) = (input.clone(), input.clone(), input.clone());
    assert_eq!(Vec::<T>::unmarshal(&mut whole).unwrap(), values);
    assert_eq!(&*unmarshal_slice::<T>(&mut seen).unwrap(), values);
    let mut place: Vec<T> = self::values(5, &[9]);
    place.unmarshal_into(&mut again).unwrap();
    assert_eq!(place, values);
    for decoder in [each, whole, seen, again] {
        assert_eq!(decoder.rest(), [0xee]);
    }
}

/// Checks that truncated input is refused, in every way of reading.
fn refuse_cut<T>(values: &[T], order: ByteOrder)
where
    T: PlainData + Marshal + Unmarshal + Debug + PartialEq,
{
    let whole = singly(values, order, 0);
    for length in 0..whole.len() - 1 {
        let input = Decoder::new(&whole[..length], order, Coding::default());
        assert!(Vec::<T>::unmarshal(&mut input.clone()).is_err());
        assert!(unmarshal_slice::<T>(&mut input.clone()).is_err());
        let mut elements = input.clone();
        if elements.get_u32().is_ok() {
            let mut place = Vec::new();
            let read = T::unmarshal_vec_into(&mut elements, values.len(), &mut place);
            assert!(read.is_err());
        }
    }
}

/// Checks that in fragments of GIOP 1.1, too, reading whole and one by one gives the same result or
/// fails alike.
fn agree_over_seams<T>(bytes: &[u8], seams: &[usize], order: ByteOrder, skip: usize)
where
    T: PlainData + Unmarshal + Debug,
{
    let coding = Coding {
        version: GiopVersion::V1_1,
        code_sets: CodeSets::UNNEGOTIATED,
        ..Coding::default()
    };
    let mut input = Decoder::with_seams(bytes, seams, order, coding);
    let _ = input.skip(skip);
    let (mut each, mut whole, mut seen) = (input.clone(), input.clone(), input.clone());
    let single = unmarshal_each(&mut each, T::MIN_SIZE, |input| T::unmarshal(input));
    let single = single.map(|values| format!("{values:?}"));
    let read = Vec::<T>::unmarshal(&mut whole).map(|values| format!("{values:?}"));
    let view = unmarshal_slice::<T>(&mut seen).map(|values| format!("{values:?}"));
    assert_eq!(single.as_ref().ok(), read.as_ref().ok());
    assert_eq!(single.as_ref().ok(), view.as_ref().ok());
    if single.is_ok() {
        assert_eq!(each.position(), whole.position());
        assert_eq!(each.position(), seen.position());
    }
}

/// Invokes a macro for each of the test structs.
macro_rules! each_shape {
    ($function:ident!($($argument:tt)*)) => {
        each_shape!(@ $function ($($argument)*) Octet Cube BinStruct LeadingDouble LeadingLong
            TrailingOctet Wide Floats Mixed Array Nested Askew Several Deep Chars)
    };
    (@ $function:ident $arguments:tt $($shape:ident)*) => { $($function!($shape $arguments);)* };
}

macro_rules! agree_each {
    ($shape:ident ($count:expr, $octets:expr, $order:expr, $before:expr)) => {
        agree::<$shape>(&values($count, $octets), $order, $before)
    };
}

macro_rules! agree_over_seams_each {
    ($shape:ident ($bytes:expr, $seams:expr, $order:expr, $skip:expr)) => {
        agree_over_seams::<$shape>($bytes, $seams, $order, $skip)
    };
}

macro_rules! refuse_cut_each {
    ($shape:ident ($order:expr)) => {
        refuse_cut::<$shape>(&values(3, &[1, 2, 3, 4, 5]), $order)
    };
}

macro_rules! bounded_each {
    ($shape:ident ($input:expr)) => {{
        let input = $input;
        let allowed = 4 * input.remaining() + 512;
        let peak = bytes_of(|| Vec::<$shape>::unmarshal(&mut input.clone())).peak;
        assert!(peak <= allowed, "{peak} octets held, {allowed} allowed");
        let peak = bytes_of(|| unmarshal_slice::<$shape>(&mut input.clone()).is_ok()).peak;
        assert!(peak <= allowed, "{peak} octets held, {allowed} allowed");
    }};
}

fn orders() -> impl Strategy<Value = ByteOrder> {
    prop_oneof![Just(ByteOrder::Big), Just(ByteOrder::Little)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 96 }))]

    #[test]
    fn whole_runs_are_what_single_numbers_are(
        order in orders(),
        before in 0usize..17,
        count in 0usize..40,
        octets in vec(any::<u8>(), 1..200),
    ) {
        each_shape!(agree_each!(count, &octets, order, before));
    }

    #[test]
    fn whole_runs_are_what_single_numbers_are_across_seams(
        order in orders(),
        mut bytes in vec(any::<u8>(), 8..400),
        count in 0u8..20,
        lengths in vec(1usize..90, 12),
        skip in 0usize..5,
    ) {
        let at = skip.next_multiple_of(4);
        let length = u32::from(count);
        bytes[at..at + 4].copy_from_slice(&match order {
            ByteOrder::Big => length.to_be_bytes(),
            ByteOrder::Little => length.to_le_bytes(),
        });
        let seams: Vec<_> = lengths
            .iter()
            .scan(8, |end, length| { *end += length; Some(*end) })
            .collect();
        each_shape!(agree_over_seams_each!(&bytes, &seams, order, skip));
        each_shape!(agree_over_seams_each!(&bytes, &[], order, skip));
    }

    #[test]
    fn any_octets_end_in_structs_or_an_error_within_bounded_memory(
        order in orders(),
        bytes in vec(prop_oneof![Just(0u8), Just(4), any::<u8>()], 0..300),
    ) {
        each_shape!(bounded_each!(&Decoder::new(&bytes, order, Coding::default())));
    }
}

#[test]
fn long_runs_are_what_single_numbers_are() {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for before in [0, 4] {
            let (many, fewer) = if cfg!(miri) { (20, 10) } else { (3000, 1500) };
            agree_each!(BinStruct(many, b"0123456789abc", order, before));
            agree_each!(Several(fewer, b"0123456789abc", order, before));
        }
    }
}

#[test]
fn what_is_cut_short_is_refused() {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        each_shape!(refuse_cut_each!(order));
    }
}

#[test]
fn layouts_are_found_that_memory_and_wire_share() {
    let contiguous = [
        BinStruct::LAYOUT,
        LeadingDouble::LAYOUT,
        LeadingLong::LAYOUT,
        TrailingOctet::LAYOUT,
        Wide::LAYOUT,
        Floats::LAYOUT,
        Octet::LAYOUT,
        Nested::LAYOUT,
        Several::LAYOUT,
        Chars::LAYOUT,
    ];
    assert!(contiguous.iter().all(|layout| layout.is_contiguous()));
    // The next struct begins behind the last number and not where the struct's memory ends, or an
    // inner struct begins where memory would not have it.
    let others = [
        Cube::LAYOUT,
        Mixed::LAYOUT,
        Array::LAYOUT,
        Askew::LAYOUT,
        Deep::LAYOUT,
    ];
    for other in others {
        assert!(!other.is_contiguous());
    }
    assert!(BinStruct::LAYOUT.is_padded() && BinStruct::LAYOUT.has_chars());
    assert!(!Wide::LAYOUT.is_padded() && !Wide::LAYOUT.has_chars());
    assert_eq!(TrailingOctet::LAYOUT.trailing(), 3);
    assert_eq!(<[TrailingOctet; 3]>::LAYOUT.trailing(), 3);
    assert!(!<[Cube; 2]>::LAYOUT.is_contiguous());
    assert!(!<[u64; 0]>::LAYOUT.is_contiguous());
}

#[test]
fn a_character_beyond_the_code_set_is_refused_wherever_it_stands() {
    for place in 0..4 {
        let mut values = [BinStruct::default(); 4];
        values[place].c = Char(0xe4);
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        let refused = values[..].marshal(&mut out);
        assert_eq!(refused, Err(CdrError::CharacterNotInCodeSet));

        let latin = Coding {
            code_sets: CodeSets::UNNEGOTIATED,
            ..Coding::default()
        };
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let mut out = Encoder::new(Block::default(), order, latin);
            values[..].marshal(&mut out).unwrap();
            let bytes = out.into_block();
            let mut input = Decoder::new(&bytes, order, latin);
            assert_eq!(Vec::<BinStruct>::unmarshal(&mut input).unwrap(), values);
            let input = Decoder::new(&bytes, order, Coding::default());
            let refused = Vec::<BinStruct>::unmarshal(&mut input.clone());
            assert_eq!(refused, Err(CdrError::BadCharacter));
            let refused = unmarshal_slice::<BinStruct>(&mut input.clone()).map(drop);
            assert_eq!(refused, Err(CdrError::BadCharacter));
        }
    }
}

#[cfg(feature = "code-sets")]
#[test]
fn characters_of_other_code_sets_are_converted_in_structs() {
    // Windows code page 1251, which has a Cyrillic letter where ISO 8859-1 has a currency sign.
    let cyrillic = NarrowCodeSet::all().find(|code_set| code_set.name() == "Windows-1251");
    let cyrillic = Coding {
        code_sets: CodeSets {
            narrow: cyrillic.unwrap(),
            ..CodeSets::NATIVE
        },
        ..Coding::default()
    };
    let mut values = values::<BinStruct>(40, b"0123456789");
    // It has the section sign, at the same place, and not the sign for yen.
    values[39].c = Char(0xa7);
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let mut out = Encoder::new(Block::default(), order, cyrillic);
        values[..].marshal(&mut out).unwrap();
        let bytes = out.into_block();
        let input = Decoder::new(&bytes, order, cyrillic);
        let read = Vec::<BinStruct>::unmarshal(&mut input.clone()).unwrap();
        assert_eq!(read, values);
        let seen = unmarshal_slice::<BinStruct>(&mut input.clone()).unwrap();
        assert_eq!(*seen, values);

        // A letter that ISO 8859-1 lacks is no `char`.
        let mut foreign = bytes.to_vec();
        let place = foreign.iter().rposition(|octet| *octet == 0xa7).unwrap();
        foreign[place] = 0xe4;
        let input = Decoder::new(&foreign, order, cyrillic);
        let refused = Vec::<BinStruct>::unmarshal(&mut input.clone());
        assert_eq!(refused, Err(CdrError::BadCharacter));
        let refused = unmarshal_slice::<BinStruct>(&mut input.clone()).map(drop);
        assert_eq!(refused, Err(CdrError::BadCharacter));
    }
    values[39].c = Char(0xa5);
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, cyrillic);
    let refused = values[..].marshal(&mut out);
    assert_eq!(refused, Err(CdrError::CharacterNotInCodeSet));
}

#[test]
fn what_lies_as_in_memory_is_seen_without_a_copy() {
    let values = values::<Wide>(8, b"0123456789");
    let mut out = Encoder::new(
        Block::from_vec(vec![0; 4]),
        ByteOrder::NATIVE,
        Coding::default(),
    );
    values.marshal(&mut out).unwrap();
    // At an address that is a multiple of 8, and at one that is not.
    let mut memory = vec![0_u64; out.position() / 8 + 2];
    let place: &mut [u8] = as_octets(&mut memory);
    for shift in [0, 1] {
        place[shift..shift + out.position()].copy_from_slice(out.block());
        let received = &place[shift..shift + out.position()];
        let mut input = Decoder::new(received, ByteOrder::NATIVE, Coding::default());
        input.skip(4).unwrap();
        let view = unmarshal_slice::<Wide>(&mut input).unwrap();
        assert_eq!(view.is_borrowed(), shift == 0);
        assert_eq!(*view, *values);
    }
}

#[allow(unsafe_code)]
fn as_octets(memory: &mut [u64]) -> &mut [u8] {
    // SAFETY: any octets are a `u64`, and a `u64` is octets.
    unsafe { memory.align_to_mut().1 }
}

#[test]
fn a_warm_thread_sees_and_reads_structs_without_allocating() {
    let count = if cfg!(miri) { 30 } else { 1024 };
    let values = values::<BinStruct>(count, b"0123456789");
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let bytes = singly(&values, order, 0);
        let input = Decoder::new(&bytes, order, Coding::default());
        let mut place = Vec::new();
        let mut read = || {
            place.unmarshal_into(&mut input.clone()).unwrap();
            assert_eq!(
                *unmarshal_slice::<BinStruct>(&mut input.clone()).unwrap(),
                *place
            );
        };
        read();
        assert_eq!(bytes_of(read).peak, 0);
    }
}
