//! Tests of the layout on the wire, octet by octet (CORBA 3.3 part 2, §9.3.1 to §9.3.3). The
//! vectors were computed by hand.

#![allow(clippy::unwrap_used)]

use crate::hex;

use hex::hex;
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Environment, Fixed, GiopVersion, Limits,
    LongDouble, Marshal, Unmarshal,
};
use std::any::Any;
use std::sync::Arc;

fn encode(order: ByteOrder, write: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    write(&mut out);
    out.into_block().into_vec()
}

fn marshal<T: Marshal + ?Sized>(order: ByteOrder, value: &T) -> Vec<u8> {
    encode(order, |out| value.marshal(out).unwrap())
}

fn decoder(bytes: &[u8], order: ByteOrder) -> Decoder<'_> {
    Decoder::new(bytes, order, Coding::default())
}

fn all_primitives(out: &mut Encoder<'_>) {
    out.put_u8(0x11);
    out.put_u16(0x2233);
    out.put_u8(0x44);
    out.put_u32(0x5566_7788);
    out.put_bool(true);
    out.put_u64(0x0102_0304_0506_0708);
    out.put_i8(-1);
    out.put_f32(1.0);
    out.put_f64(-2.0);
    out.put_i16(-2);
    out.put_i32(-3);
    out.put_i64(-4);
}

const BIG: &str = "11 00 2233 44 000000 55667788 01 000000 0102030405060708 ff 000000 3f800000 \
                   c000000000000000 fffe 0000 fffffffd fffffffffffffffc";
const LITTLE: &str = "11 00 3322 44 000000 88776655 01 000000 0807060504030201 ff 000000 0000803f \
                      00000000000000c0 feff 0000 fdffffff fcffffffffffffff";

#[test]
fn each_primitive_is_padded_to_its_size_in_both_orders() {
    assert_eq!(encode(ByteOrder::Big, all_primitives), hex(BIG));
    assert_eq!(encode(ByteOrder::Little, all_primitives), hex(LITTLE));
}

#[test]
fn each_primitive_is_read_back_from_behind_its_padding() {
    for (order, text) in [(ByteOrder::Big, BIG), (ByteOrder::Little, LITTLE)] {
        let bytes = hex(text);
        let mut input = decoder(&bytes, order);
        assert_eq!(input.get_u8().unwrap(), 0x11);
        assert_eq!(input.get_u16().unwrap(), 0x2233);
        assert_eq!(input.get_u8().unwrap(), 0x44);
        assert_eq!(input.get_u32().unwrap(), 0x5566_7788);
        assert!(input.get_bool().unwrap());
        assert_eq!(input.get_u64().unwrap(), 0x0102_0304_0506_0708);
        assert_eq!(input.get_i8().unwrap(), -1);
        assert_eq!(input.get_f32().unwrap(), 1.0);
        assert_eq!(input.get_f64().unwrap(), -2.0);
        assert_eq!(input.get_i16().unwrap(), -2);
        assert_eq!(input.get_i32().unwrap(), -3);
        assert_eq!(input.get_i64().unwrap(), -4);
        assert_eq!(input.remaining(), 0);
    }
}

#[test]
fn padding_may_hold_anything_when_read() {
    let bytes = hex("01 ffffff 00000002");
    let mut input = decoder(&bytes, ByteOrder::Big);
    assert_eq!(input.get_u8().unwrap(), 1);
    assert_eq!(input.get_u32().unwrap(), 2);
}

#[test]
fn a_value_that_ends_beyond_the_octets_is_truncated() {
    let bytes = [0; 7];
    let mut input = decoder(&bytes, ByteOrder::Big);
    input.skip(1).unwrap();
    assert_eq!(
        input.get_u64(),
        Err(CdrError::Truncated {
            needed: 15,
            left: 6
        })
    );
    assert_eq!(
        input.skip(7),
        Err(CdrError::Truncated { needed: 7, left: 6 })
    );
    assert!(input.skip(usize::MAX).is_err());
    assert!(input.skip(6).is_ok());
    assert_eq!(
        input.get_u8(),
        Err(CdrError::Truncated { needed: 1, left: 0 })
    );
}

#[test]
fn sequences_of_primitives_are_aligned_once_and_not_at_all_when_empty() {
    let order = ByteOrder::Big;
    assert_eq!(
        marshal(order, &vec![1.0f64]),
        hex("00000001 00000000 3ff0000000000000")
    );
    assert_eq!(marshal(order, &Vec::<f64>::new()), hex("00000000"));
    assert_eq!(
        marshal(ByteOrder::Little, &[1u16, 2, 3][..]),
        hex("03000000 0100 0200 0300")
    );
    // The empty one has nothing behind its length, and the next value is aligned from there.
    let bytes = encode(order, |out| {
        Vec::<u64>::new().marshal(out).unwrap();
        out.put_u16(7);
    });
    assert_eq!(bytes, hex("00000000 0007"));
    let mut input = decoder(&bytes, order);
    assert!(Vec::<u64>::unmarshal(&mut input).unwrap().is_empty());
    assert_eq!(input.get_u16().unwrap(), 7);
}

#[test]
fn arrays_have_no_length_and_nested_ones_are_flat() {
    let matrix = [[1i16, 2], [3, 4], [5, 6]];
    let bytes = hex("0001 0002 0003 0004 0005 0006");
    assert_eq!(marshal(ByteOrder::Big, &matrix), bytes);
    let mut input = decoder(&bytes, ByteOrder::Big);
    assert_eq!(<[[i16; 2]; 3]>::unmarshal(&mut input).unwrap(), matrix);
    let mut input = decoder(&bytes, ByteOrder::Big);
    let boxed = Box::<[[i16; 2]; 3]>::unmarshal(&mut input).unwrap();
    assert_eq!(*boxed, matrix);
}

#[test]
fn a_large_boxed_array_never_touches_the_stack() {
    const LARGE: usize = 64 << 20;
    let bytes = vec![7; LARGE];
    let mut input = decoder(&bytes, ByteOrder::NATIVE);
    let array = Box::<[u8; LARGE]>::unmarshal(&mut input).unwrap();
    assert_eq!(array.last(), Some(&7));
}

#[test]
fn a_failing_element_ends_an_array() {
    let bytes = [1, 0, 9, 1];
    let read = <[bool; 4]>::unmarshal(&mut decoder(&bytes, ByteOrder::Big));
    assert_eq!(read, Err(CdrError::BadBoolean(9)));
    let read = <[u16; 3]>::unmarshal(&mut decoder(&bytes, ByteOrder::Big));
    assert_eq!(read, Err(CdrError::Truncated { needed: 6, left: 4 }));
}

#[test]
fn an_encapsulation_has_its_own_origin_and_byte_order() {
    let bytes = encode(ByteOrder::Little, |out| {
        out.put_u8(9);
        out.encapsulation(|inner| {
            inner.put_u8(1);
            inner.put_u64(2);
            Ok(())
        })
        .unwrap();
        out.put_u16(3);
    });
    assert_eq!(
        bytes,
        hex("09 000000 10000000 01 01 000000000000 0200000000000000 0300")
    );
    let mut input = decoder(&bytes, ByteOrder::Little);
    assert_eq!(input.get_u8().unwrap(), 9);
    let mut inner = input.encapsulation().unwrap();
    assert_eq!(inner.order(), ByteOrder::Little);
    assert_eq!(inner.get_u8().unwrap(), 1);
    assert_eq!(inner.get_u64().unwrap(), 2);
    assert_eq!(inner.remaining(), 0);
    assert_eq!(input.get_u16().unwrap(), 3);
    // An encapsulation in the other byte order within the same message.
    let bytes = hex("08000000 00 000000 00000005");
    let mut inner = decoder(&bytes, ByteOrder::Little).encapsulation().unwrap();
    assert_eq!(inner.get_u32().unwrap(), 5);
}

#[test]
fn an_encapsulation_without_a_byte_order_is_refused() {
    for text in ["00000000", "00000001 02", "00000001 ff"] {
        let bytes = hex(text);
        let read = decoder(&bytes, ByteOrder::Big).encapsulation();
        assert_eq!(read.err(), Some(CdrError::BadEncapsulation), "{text}");
    }
}

#[test]
fn an_appended_message_is_aligned_from_its_own_start() {
    let block = Block::from_vec(vec![0xee; 3]);
    let mut out = Encoder::append(block, ByteOrder::Big, Coding::default());
    out.put_u8(1);
    out.put_u32(2);
    assert_eq!(out.position(), 11);
    out.patch_u32(7, 3);
    assert_eq!(*out.into_block(), hex("eeeeee 01 000000 00000003"));
}

#[test]
fn alignment_to_more_than_eight_works_too() {
    let bytes = encode(ByteOrder::Big, |out| {
        out.put_u8(1);
        out.align(16);
        out.put_u8(2);
    });
    assert_eq!((bytes.len(), bytes[15], bytes[16]), (17, 0, 2));
}

#[test]
fn long_double_has_sixteen_octets_aligned_to_eight() {
    let one = LongDouble::from(1.0);
    let write = |out: &mut Encoder<'_>| {
        out.put_u8(1);
        one.marshal(out).unwrap();
    };
    let big = hex("01 00000000000000 3fff0000000000000000000000000000");
    let little = hex("01 00000000000000 0000000000000000000000000000ff3f");
    assert_eq!(encode(ByteOrder::Big, write), big);
    assert_eq!(encode(ByteOrder::Little, write), little);
    for (order, bytes) in [(ByteOrder::Big, big), (ByteOrder::Little, little)] {
        let mut input = decoder(&bytes, order);
        input.skip(1).unwrap();
        assert_eq!(LongDouble::unmarshal(&mut input).unwrap(), one);
    }
}

#[test]
fn fixed_is_packed_decimal_with_the_sign_last() {
    let order = ByteOrder::Little;
    let cases: [(Vec<u8>, &str); 5] = [
        (marshal(order, &Fixed::<5, 2>::literal(12345)), "12 34 5c"),
        (marshal(order, &Fixed::<5, 2>::literal(-12345)), "12 34 5d"),
        (marshal(order, &Fixed::<4, 2>::literal(1234)), "01 23 4c"),
        (marshal(order, &Fixed::<1, 0>::literal(0)), "0c"),
        (marshal(order, &Fixed::<2, 0>::literal(-7)), "00 7d"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(bytes, hex(expected));
    }
    let most = Fixed::<31, 0>::literal(-(10i128.pow(31) - 1));
    let bytes = marshal(order, &most);
    assert_eq!(bytes, hex("99999999 99999999 99999999 9999999d"));
    assert_eq!(Fixed::unmarshal(&mut decoder(&bytes, order)), Ok(most));
}

#[test]
fn ill_formed_fixed_is_refused() {
    for text in ["12 34 5a", "12 a4 5c", "12 34 5f", "12 34 50"] {
        let bytes = hex(text);
        let read = Fixed::<5, 2>::unmarshal(&mut decoder(&bytes, ByteOrder::Big));
        assert_eq!(read, Err(CdrError::BadFixed), "{text}");
    }
    // An even number of digits begins with a zero half octet.
    let bytes = hex("11 23 4c");
    let read = Fixed::<4, 2>::unmarshal(&mut decoder(&bytes, ByteOrder::Big));
    assert_eq!(read, Err(CdrError::BadFixed));
}

#[test]
fn nan_payloads_travel_bit_for_bit() {
    let odd = [0x7ff4_0000_dead_beef, 0xfff8_0000_0000_0001u64];
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let values = odd.map(f64::from_bits).to_vec();
        let bytes = marshal(order, &values);
        let back = Vec::<f64>::unmarshal(&mut decoder(&bytes, order)).unwrap();
        assert_eq!(back.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), odd);
        let mut input = decoder(&bytes, order);
        input.skip(8).unwrap();
        assert_eq!(input.get_f64().unwrap().to_bits(), odd[0]);
    }
}

#[test]
fn a_length_is_refused_before_anything_is_allocated_for_it() {
    let bytes = hex("ffffffff 00000000");
    let read = Vec::<u8>::unmarshal(&mut decoder(&bytes, ByteOrder::Big));
    assert!(matches!(read, Err(CdrError::LengthOverLimit { .. })));
    let bytes = hex("00000002 00000000");
    let read = Vec::<u64>::unmarshal(&mut decoder(&bytes, ByteOrder::Big));
    assert_eq!(
        read,
        Err(CdrError::Truncated {
            needed: 16,
            left: 4
        })
    );
    let limits = Limits {
        sequence: 1,
        ..Limits::default()
    };
    let coding = Coding::new(GiopVersion::V1_2, &limits);
    let bytes = hex("00000002 0000");
    let read = Vec::<u8>::unmarshal(&mut Decoder::new(&bytes, ByteOrder::Big, coding));
    assert_eq!(
        read,
        Err(CdrError::LengthOverLimit {
            length: 2,
            limit: 1
        })
    );
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding);
    assert!(vec![1u8, 2].marshal(&mut out).is_err());
}

#[test]
fn nesting_ends_at_its_limit_also_across_encapsulations() {
    fn descend(input: &mut Decoder<'_>) -> Result<u32, CdrError> {
        input.nested(|input| Ok(1 + descend(input)?))
    }
    let limit = Limits::default().nesting;
    assert_eq!(
        descend(&mut decoder(&[], ByteOrder::Big)),
        Err(CdrError::TooDeep { limit })
    );

    let limits = Limits {
        nesting: 1,
        ..Limits::default()
    };
    let bytes = hex("00000001 00");
    let coding = Coding::new(GiopVersion::V1_2, &limits);
    let mut input = Decoder::new(&bytes, ByteOrder::Big, coding);
    let read = input.nested(|input| input.encapsulation()?.nested(|_| Ok(())));
    assert_eq!(read, Err(CdrError::TooDeep { limit: 1 }));
    // The level has been left again.
    assert_eq!(input.nested(|_| Ok(())), Ok(()));
}

#[derive(Clone, Debug, PartialEq)]
struct Somewhere(u32);

impl Environment for Somewhere {
    fn share(&self) -> Arc<dyn Environment> {
        Arc::new(self.clone())
    }
}

#[test]
fn the_environment_is_found_by_its_type_and_may_be_kept() {
    let environment = Somewhere(42);
    let coding = Coding {
        environment: Some(&environment),
        ..Coding::default()
    };
    let input = Decoder::new(&[], ByteOrder::Big, coding);
    assert_eq!(input.environment::<Somewhere>(), Some(&environment));
    assert_eq!(input.environment::<u64>(), None);
    let kept: Arc<dyn Any + Send + Sync> = input.coding().environment.unwrap().share();
    assert_eq!(*kept.downcast::<Somewhere>().unwrap(), environment);
}
