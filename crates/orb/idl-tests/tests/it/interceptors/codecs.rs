//! Codecs (CORBA 3.3 part 1, §16.6).

use super::generated::intercepted::Refused;
use punctual::interceptor::{Codec, CodecError, ENCODING_CDR_ENCAPS, Encoding};
use punctual::{Any, Orb, TypeCode, Typed};

fn encoding(major_version: u8, minor_version: u8) -> Encoding {
    Encoding {
        format: ENCODING_CDR_ENCAPS,
        major_version,
        minor_version,
    }
}

fn codec(orb: &Orb, minor_version: u8) -> Codec {
    let factory = orb.codec_factory();
    factory.create_codec(encoding(1, minor_version)).unwrap()
}

#[test]
fn there_are_codecs_of_the_three_versions_of_cdr_and_no_others() {
    let orb = Orb::builder().build().unwrap();
    let factory = orb.codec_factory();
    for minor in 0..3 {
        factory.create_codec(encoding(1, minor)).unwrap();
    }
    let other = Encoding {
        format: 7,
        ..encoding(1, 2)
    };
    for unknown in [encoding(1, 3), encoding(2, 0), other] {
        assert_eq!(factory.create_codec(unknown).unwrap_err().0, unknown);
    }
    orb.shutdown(true).unwrap();
}

#[test]
fn what_is_encoded_is_decoded_with_its_type_or_by_it() {
    let orb = Orb::builder().build().unwrap();
    let why = "größer".to_owned();
    let refused = Any::new(&Refused { why }).unwrap();
    for any in [
        Any::new(&7_i32).unwrap(),
        refused,
        Any::new("text").unwrap(),
        Any::default(),
    ] {
        for minor in 0..3 {
            let codec = codec(&orb, minor);
            let octets = codec.encode(&any).unwrap();
            assert_eq!(codec.decode(&octets).unwrap(), any);
            let octets = codec.encode_value(&any).unwrap();
            let value = codec.decode_value(&octets, any.type_code()).unwrap();
            assert_eq!(value, any);
        }
    }
    orb.shutdown(true).unwrap();
}

#[test]
fn octets_are_an_encapsulation_whose_alignment_begins_at_its_byte_order() {
    let orb = Orb::builder().build().unwrap();
    let octets = codec(&orb, 2)
        .encode_value(&Any::new(&1.5_f64).unwrap())
        .unwrap();
    let mut wanted = vec![
        u8::from(cfg!(target_endian = "little")),
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    wanted.extend_from_slice(&1.5_f64.to_ne_bytes());
    assert_eq!(octets, wanted);
    // From a machine of the other byte order.
    let big = [0, 0, 0, 0, 0, 0, 1, 44];
    let value = codec(&orb, 2).decode_value(&big, &TypeCode::LONG).unwrap();
    assert_eq!(value.extract::<i32>().unwrap(), 300);
    orb.shutdown(true).unwrap();
}

#[test]
fn what_a_codec_cannot_do_it_says() {
    let orb = Orb::builder().build().unwrap();
    let wide = Any::new(&'w').unwrap();
    let (old, new) = (codec(&orb, 0), codec(&orb, 2));
    let is_invalid = |error| matches!(error, CodecError::InvalidTypeForEncoding(_));
    assert!(is_invalid(old.encode(&wide).unwrap_err()));
    assert!(is_invalid(old.encode_value(&wide).unwrap_err()));
    assert!(new.encode(&wide).is_ok());
    let is_format = |error| matches!(error, CodecError::FormatMismatch(_));
    for bad in [
        &[][..],
        &[9, 0, 0, 0],
        &[1, 0, 0, 0, 0xff, 0xff, 0, 0],
        &[0; 64],
    ] {
        assert!(is_format(new.decode(bad).unwrap_err()), "{bad:?}");
    }
    assert!(is_format(
        new.decode_value(&[], &TypeCode::LONG).unwrap_err()
    ));
    let is_type = |error| matches!(error, CodecError::TypeMismatch(_));
    let short = [0, 0, 0, 0, 1];
    assert!(is_type(
        new.decode_value(&short, &TypeCode::LONG).unwrap_err()
    ));
    let long = [0; 40];
    assert!(is_type(
        new.decode_value(&long, &TypeCode::LONG).unwrap_err()
    ));
    let text = new.encode_value(&Any::new(&-1_i64).unwrap()).unwrap();
    assert!(is_type(
        new.decode_value(&text, &Refused::type_code()).unwrap_err()
    ));
    orb.shutdown(true).unwrap();
}
