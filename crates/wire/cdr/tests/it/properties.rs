//! Properties that hold for all values and all bytes.

#![allow(clippy::unwrap_used)]

use punctual_heap::bytes_of;

use proptest::collection::vec;
use proptest::prelude::*;
use punctual_cdr::{
    Block, ByteOrder, CdrError, Char, CodeSets, Coding, Decoder, Encoder, Fixed, GiopVersion,
    LongDouble, Marshal, Unmarshal, marshal_each, unmarshal_each, unmarshal_slice,
};

fn orders() -> impl Strategy<Value = ByteOrder> {
    prop_oneof![Just(ByteOrder::Big), Just(ByteOrder::Little)]
}

fn versions() -> impl Strategy<Value = GiopVersion> {
    prop_oneof![
        Just(GiopVersion::V1_0),
        Just(GiopVersion::V1_1),
        Just(GiopVersion::V1_2)
    ]
}

/// Writes `value` after `before` bytes and reads it back; all bytes have to be used.
fn there_and_back<T: Marshal + Unmarshal>(order: ByteOrder, before: usize, value: &T) -> T {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    out.put_bytes(&vec![0xaa; before]);
    value.marshal(&mut out).unwrap();
    let bytes = out.into_block();
    let mut input = Decoder::new(&bytes, order, Coding::default());
    input.skip(before).unwrap();
    let back = T::unmarshal(&mut input).unwrap();
    assert_eq!(input.remaining(), 0);
    assert!(bytes.len() - before >= T::MIN_SIZE);
    back
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn numbers_survive(order in orders(), before in 0usize..9, a: i16, b: u64, c: i8, d: u32, e: bool) {
        prop_assert_eq!(there_and_back(order, before, &a), a);
        prop_assert_eq!(there_and_back(order, before, &b), b);
        prop_assert_eq!(there_and_back(order, before, &c), c);
        prop_assert_eq!(there_and_back(order, before, &d), d);
        prop_assert_eq!(there_and_back(order, before, &e), e);
    }

    #[test]
    fn sequences_of_numbers_survive(
        order in orders(),
        before in 0usize..9,
        octets: Vec<u8>,
        shorts: Vec<u16>,
        longs in vec(any::<i32>(), 0..300),
        doubles in vec(any::<u64>().prop_map(f64::from_bits), 0..150),
        booleans: Vec<bool>,
    ) {
        prop_assert_eq!(&there_and_back(order, before, &octets), &octets);
        prop_assert_eq!(&there_and_back(order, before, &shorts), &shorts);
        prop_assert_eq!(&there_and_back(order, before, &longs), &longs);
        prop_assert_eq!(bits(&there_and_back(order, before, &doubles)), bits(&doubles));
        prop_assert_eq!(&there_and_back(order, before, &booleans), &booleans);
    }

    #[test]
    fn bulk_writes_what_single_values_write(order in orders(), before in 0usize..9, values: Vec<i64>) {
        let mut bulk = Encoder::new(Block::from_vec(vec![0; before]), order, Coding::default());
        values.marshal(&mut bulk).unwrap();
        let mut single = Encoder::new(Block::from_vec(vec![0; before]), order, Coding::default());
        marshal_each(&values, &mut single, |value, out| { out.put_i64(*value); Ok(()) }).unwrap();
        let (bulk, single) = (bulk.into_block(), single.into_block());
        prop_assert_eq!(bulk.as_slice(), single.as_slice());
        let mut input = Decoder::new(&bulk, order, Coding::default());
        input.skip(before).unwrap();
        let each = unmarshal_each(&mut input.clone(), 8, |input| input.get_i64()).unwrap();
        prop_assert_eq!(&each, &values);
        let view = unmarshal_slice::<i64>(&mut input).unwrap();
        prop_assert_eq!(view.as_ref(), values.as_slice());
        prop_assert_eq!(input.remaining(), 0);
    }

    #[test]
    fn texts_survive(order in orders(), texts in vec("[^\0]{0,20}", 0..8)) {
        prop_assert_eq!(&there_and_back(order, 0, &texts), &texts);
        let mut out = Encoder::new(Block::default(), order, Coding::default());
        for text in &texts {
            out.put_wstring(text).unwrap();
        }
        let bytes = out.into_block();
        let mut input = Decoder::new(&bytes, order, Coding::default());
        for text in &texts {
            prop_assert_eq!(&input.get_wstring().unwrap(), text);
        }
    }

    #[test]
    fn latin_text_survives_its_code_set(order in orders(), text in "[\u{1}-\u{ff}]{0,20}") {
        let coding = Coding { code_sets: CodeSets::UNNEGOTIATED, ..Coding::default() };
        let mut out = Encoder::new(Block::default(), order, coding);
        out.put_string(&text).unwrap();
        let bytes = out.into_block();
        prop_assert_eq!(bytes.len(), 4 + text.chars().count() + 1);
        prop_assert_eq!(Decoder::new(&bytes, order, coding).get_string().unwrap(), text);
    }

    #[test]
    fn wide_text_survives_1_1(order in orders(), text in "[\u{1}-\u{d7ff}]{0,20}") {
        let coding = Coding { version: GiopVersion::V1_1, ..Coding::default() };
        let mut out = Encoder::new(Block::default(), order, coding);
        out.put_wstring(&text).unwrap();
        let bytes = out.into_block();
        prop_assert_eq!(Decoder::new(&bytes, order, coding).get_wstring().unwrap(), text);
    }

    #[test]
    fn composed_values_survive(
        order in orders(),
        before in 0usize..9,
        matrix: [[i16; 3]; 4],
        names: [String; 2],
        nested: Vec<Vec<u32>>,
        wide: Vec<char>,
        quad: u128,
        scaled in -99_999_999i128..=99_999_999,
    ) {
        prop_assert_eq!(there_and_back(order, before, &matrix), matrix);
        let names = names.map(|name| name.replace('\0', ""));
        prop_assert_eq!(&there_and_back(order, before, &names), &names);
        prop_assert_eq!(&there_and_back(order, before, &nested), &nested);
        prop_assert_eq!(&there_and_back(order, before, &wide), &wide);
        let quad = LongDouble::from_bits(quad);
        prop_assert_eq!(there_and_back(order, before, &quad).to_bits(), quad.to_bits());
        let fixed = Fixed::<8, 3>::new(scaled).unwrap();
        prop_assert_eq!(there_and_back(order, before, &fixed), fixed);
        prop_assert_eq!(fixed.to_string().parse::<Fixed<8, 3>>().unwrap(), fixed);
    }

    #[test]
    fn every_f64_is_a_long_double_and_back(bits: u64) {
        let value = f64::from_bits(bits);
        prop_assert_eq!(LongDouble::from(value).to_f64().to_bits(), bits);
    }

    #[test]
    fn rounding_a_long_double_is_monotonous(a: u128, b: u128) {
        let (a, b) = (LongDouble::from_bits(a), LongDouble::from_bits(b));
        if a <= b {
            prop_assert!(a.to_f64() <= b.to_f64());
        }
    }

    #[test]
    fn any_octets_end_in_a_value_or_an_error_within_bounded_memory(
        order in orders(),
        version in versions(),
        latin: bool,
        bytes in vec(prop_oneof![Just(0u8), Just(1), Just(4), any::<u8>()], 0..200),
        skip in 0usize..9,
    ) {
        let code_sets = if latin { CodeSets::UNNEGOTIATED } else { CodeSets::NATIVE };
        let coding = Coding { version, code_sets, ..Coding::default() };
        let mut input = Decoder::new(&bytes, order, coding);
        let _ = input.skip(skip);
        check_all(&input);
        let mut at = input.clone();
        while let Ok(inner) = at.encapsulation() {
            at = inner;
        }
    }

    #[test]
    fn any_octets_in_small_fragments_end_in_a_value_or_an_error_within_bounded_memory(
        order in orders(),
        bytes in vec(prop_oneof![Just(0u8), Just(1), Just(4), any::<u8>()], 0..200),
        lengths in vec(1usize..6, 200),
        skip in 0usize..9,
    ) {
        let seams: Vec<_> = lengths
            .iter()
            .scan(skip, |end, length| { *end += length; Some(*end) })
            .collect();
        let coding = Coding { version: GiopVersion::V1_1, ..Coding::default() };
        let mut input = Decoder::with_seams(&bytes, &seams, order, coding);
        let _ = input.skip(skip);
        check_all(&input);
    }

    #[test]
    fn any_seams_end_in_a_value_or_an_error(
        order in orders(),
        bytes in vec(any::<u8>(), 0..64),
        seams in vec(0usize..80, 0..6),
        steps in vec(0u8..8, 0..40),
    ) {
        let mut input = Decoder::with_seams(&bytes, &seams, order, Coding::default());
        for step in steps {
            let before = input.position();
            let result = match step {
                0 => input.get_u8().map(drop),
                1 => input.get_u16().map(drop),
                2 => input.get_u32().map(drop),
                3 => input.get_u64().map(drop),
                4 => input.skip(5),
                5 => input.align(8),
                6 => <[u32; 2]>::unmarshal(&mut input).map(drop),
                _ => input.get_octets().map(drop),
            };
            prop_assert!(input.position() >= before);
            prop_assert_eq!(input.position() + input.remaining(), bytes.len());
            prop_assert_eq!(input.rest(), &bytes[input.position()..]);
            if result.is_err() {
                break;
            }
        }
    }
}

fn check_all(input: &Decoder<'_>) {
    check::<Vec<u8>>(input);
    check::<Vec<f64>>(input);
    check::<Vec<bool>>(input);
    check::<Vec<String>>(input);
    check::<Vec<Vec<Vec<u16>>>>(input);
    check::<Vec<[u32; 3]>>(input);
    check::<[[u64; 2]; 2]>(input);
    check::<Box<[i16; 9]>>(input);
    check::<Vec<char>>(input);
    check::<Vec<Char>>(input);
    check::<Vec<LongDouble>>(input);
    check::<Vec<Fixed<7, 2>>>(input);
    let peak = bytes_of(|| input.clone().get_wstring()).peak;
    assert!(peak <= 4 * input.remaining());
}

/// Checks that a value takes no more memory than a multiple of the bytes it was read from.
fn check<T: Unmarshal>(input: &Decoder<'_>) {
    let peak = bytes_of(|| -> Result<T, CdrError> { T::unmarshal(&mut input.clone()) }).peak;
    let allowed = 16 * input.remaining() + 256;
    assert!(peak <= allowed, "{peak} octets held, {allowed} allowed");
}

#[test]
fn alignment_starts_anew_behind_each_seam() {
    // Two pieces of 16 bytes, then one of 8; a piece's first byte counts as offset 12.
    let mut bytes = vec![0u8; 40];
    bytes[15] = 1;
    bytes[16..20].copy_from_slice(&[0, 0, 0, 2]);
    bytes[20..28].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 3]);
    bytes[28..40].copy_from_slice(&[0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5]);
    let seams = [16, 32];
    let mut input = Decoder::with_seams(&bytes, &seams, ByteOrder::Big, Coding::default());
    input.skip(12).unwrap();
    assert_eq!(input.get_u32(), Ok(1));
    // At 4 of 8 in the second piece.
    assert_eq!(input.get_u32(), Ok(2));
    assert_eq!(input.get_u64(), Ok(3));
    // A run of bytes goes on across the seam at 32.
    assert_eq!(input.get_bytes(6), Ok(&[0, 0, 0, 4, 0, 0][..]));
    assert_eq!(input.position(), 34);
    assert_eq!(input.remaining(), 6);
    // 34 counts as 14: two bytes of padding, then the value at 36.
    assert_eq!(input.get_u32(), Ok(5));
    assert!(input.get_u8().is_err());
}

#[test]
fn a_value_of_eight_octets_behind_a_seam_is_padded_by_four() {
    let mut bytes = vec![0u8; 28];
    bytes[27] = 9;
    let mut input = Decoder::with_seams(&bytes, &[16], ByteOrder::Big, Coding::default());
    input.skip(16).unwrap();
    assert_eq!(input.get_u64(), Ok(9));
    // The same from just before the seam: only padding is left there.
    let mut input = Decoder::with_seams(&bytes, &[16], ByteOrder::Big, Coding::default());
    input.skip(14).unwrap();
    assert_eq!(input.get_u64(), Ok(9));
}

#[test]
fn a_run_of_numbers_behind_a_seam_is_padded_as_one_number_is() {
    // Cut where the two ways of counting disagree, so that padding before the seam is not needed.
    let mut bytes = vec![0u8; 29];
    bytes[28] = 9;
    for (skip, seam) in [(17, 17), (16, 17), (12, 17)] {
        let seams = [seam];
        let mut input = Decoder::with_seams(&bytes, &seams, ByteOrder::Big, Coding::default());
        input.skip(skip).unwrap();
        // The value at 12 or 16 fits there only in part: it continues across the seam.
        let mut run = input.clone();
        let (one, many) = (input.get_u64(), <[u64; 1]>::unmarshal(&mut run));
        assert_eq!(one.map(|it| [it]), many, "{skip}");
        assert_eq!(input.position(), run.position(), "{skip}");
    }
    let mut input = Decoder::with_seams(&bytes, &[17], ByteOrder::Big, Coding::default());
    input.skip(17).unwrap();
    assert_eq!(<[u64; 1]>::unmarshal(&mut input), Ok([9]));
}

#[test]
fn a_seam_at_every_octet_takes_no_stack() {
    let decode = || {
        let bytes = vec![1u8; 200_012];
        let seams: Vec<_> = (12..bytes.len()).collect();
        let coding = Coding {
            version: GiopVersion::V1_1,
            ..Coding::default()
        };
        let mut start = Decoder::with_seams(&bytes, &seams, ByteOrder::Big, coding);
        start.skip(12).unwrap();
        // No fragment contains a multiple of 8.
        assert!(start.clone().get_u64().is_err());
        assert!(<[u64; 2]>::unmarshal(&mut start.clone()).is_err());
        assert!(LongDouble::unmarshal(&mut start.clone()).is_err());
        assert!(start.clone().align(8).is_err());
        // The first byte of each is at a multiple of 4.
        let mut input = start.clone();
        for _ in 0..50_000 {
            assert_eq!(input.get_u32(), Ok(0x0101_0101));
        }
        assert!(input.get_u8().is_err());
        let mut input = start.clone();
        for _ in 0..200_000 {
            assert_eq!(input.get_bool(), Ok(true));
        }
        let run = unmarshal_each(&mut start.clone(), 4, |input| input.get_u32());
        assert!(run.is_err(), "a length of 0x01010101");
        assert_eq!(start.get_bytes(200_000).map(<[u8]>::len), Ok(200_000));
        assert_eq!(start.remaining(), 0);
    };
    let thread = std::thread::Builder::new().stack_size(128 << 10);
    thread.spawn(decode).unwrap().join().unwrap();
}
