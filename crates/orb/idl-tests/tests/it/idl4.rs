//! IDL 4 constructs, and values in Anys, as generated code marshals and describes them.
#![allow(clippy::unwrap_used)]

/// Rust that the IDL compiler generates from `idl/idl4.idl`.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/idl4.rs"));
}

use generated::idl4::{
    Access, Choice, GridAlias, Key, Level, Longer, NamesAlias, Record, Target, Tree,
};
use punctual::any::TypeKind;
use punctual::stub::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual::{Any, TypeCode, Typed};

fn marshaled<T: Marshal>(value: &T) -> Result<Vec<u8>, CdrError> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    value.marshal(&mut out)?;
    Ok(out.into_block().to_vec())
}

fn unmarshaled<T: Unmarshal>(octets: &[u8]) -> Result<T, CdrError> {
    T::unmarshal(&mut Decoder::new(octets, ByteOrder::Big, Coding::default()))
}

#[test]
fn a_bitmask_travels_as_its_integer_and_keeps_bits_that_no_flag_has() {
    let access = Access::READ | Access::WRITE;
    assert_eq!(marshaled(&access), Ok(vec![0x02, 0x01]));
    let strange: Access = unmarshaled(&[0x80, 0x01]).unwrap();
    assert!(strange.contains(Access::READ) && !strange.contains(Access::WRITE));
    assert_eq!(strange.bits(), 0x8001);
    let mut none = access;
    none.remove(Access::ALL);
    assert!(none.is_empty());
}

#[test]
fn fields_of_a_bitset_do_not_touch_each_other() {
    let mut longer = Longer::default();
    longer.set_version(0xff);
    longer.set_x(-2);
    longer.set_last(true);
    longer.set_rest(u64::MAX);
    longer.set_x(-5);
    assert_eq!((longer.version(), longer.last(), longer.x()), (7, true, -5));
    assert_eq!(longer.rest(), (1 << 44) - 1);
    longer.set_rest(0);
    assert_eq!(longer.bits(), 0b1111_1111_1011 << 8 | 0b1111);
    assert_eq!(marshaled(&longer).unwrap().len(), 8);
}

#[test]
fn members_start_from_what_annotations_say() {
    let record = Record::default();
    assert_eq!((record.nick, record.die, record.small), (None, None, 7));
    assert_eq!((record.text.as_str(), record.rights.bits()), ("none", 3));
    assert_eq!(record.rank, Level::Middle);
    assert_eq!([Level::Low.value(), Level::Middle.value()], [10, 11]);
}

#[test]
fn optional_members_and_maps_come_back_as_they_were() {
    let key = |major| Key {
        major,
        name: "k".to_owned(),
    };
    let record = Record {
        nick: Some("abc".to_owned()),
        die: Some(6),
        by_key: [(key(2), "zwei".to_owned()), (key(1), String::new())].into(),
        blobs: [(0, vec![1, 2]), (255, vec![])].into(),
        signed_one: -1,
        ..Record::default()
    };
    let octets = marshaled(&record).unwrap();
    assert_eq!(unmarshaled::<Record>(&octets), Ok(record.clone()));
    let mut buffer = Record::default();
    let mut input = Decoder::new(&octets, ByteOrder::Big, Coding::default());
    buffer.unmarshal_into(&mut input).unwrap();
    assert_eq!(buffer, record);
}

#[test]
fn what_annotations_and_bounds_exclude_is_not_sent() {
    let refused = |record: Record| marshaled(&record).is_err();
    let record = Record::default();
    assert!(!refused(record.clone()));
    assert!(refused(Record {
        die: Some(7),
        ..record.clone()
    }));
    assert!(refused(Record {
        warmth: f32::NAN,
        ..record.clone()
    }));
    let key = |major| Key {
        major,
        name: String::new(),
    };
    assert!(refused(Record {
        by_key: (0..4).map(|n| (key(n), String::new())).collect(),
        ..record
    }));
}

#[test]
fn a_typedef_has_a_type_code_of_its_own() {
    let names = NamesAlias::type_code();
    assert_eq!(names.kind(), TypeKind::Alias);
    assert_eq!(names.id(), Ok("IDL:idl4/Names:1.0"));
    let sequence = names.content_type().unwrap();
    assert_eq!(
        (sequence.kind(), sequence.length()),
        (TypeKind::Sequence, Ok(3))
    );
    let pair = sequence.content_type().unwrap();
    assert_eq!(pair.member_name(1), Ok("value"));
    let rows = GridAlias::type_code().content_type().unwrap();
    assert_eq!(rows.length(), Ok(2));
    let row = rows.content_type().unwrap();
    assert_eq!(
        (row.length(), row.content_type()),
        (Ok(3), Ok(Record::type_code()))
    );
}

#[test]
fn type_codes_of_generated_types_are_made_once_and_describe_their_values() {
    let tree = Tree::type_code();
    assert_eq!(tree.member_count(), Ok(3));
    let children = tree.member_type(1).unwrap();
    assert_eq!(children.content_type(), Ok(tree.clone()));
    assert_eq!(Target::type_code().kind(), TypeKind::Objref);
    let choice = Choice::type_code();
    assert_eq!(
        (choice.member_count(), choice.default_index()),
        (Ok(3), Ok(Some(2)))
    );
    let octets = marshaled(&tree).unwrap();
    assert_eq!(unmarshaled::<TypeCode>(&octets), Ok(tree));
}

#[test]
fn values_of_generated_types_go_into_an_any_and_come_out_again() {
    let leaf = Tree {
        value: Any::new(&Record::default()).unwrap(),
        children: Vec::new(),
        r#type: Record::type_code(),
    };
    let tree = Tree {
        value: Any::new(&leaf).unwrap(),
        children: vec![leaf],
        r#type: Tree::type_code(),
    };
    let any = Any::new(&tree).unwrap();
    let octets = marshaled(&any).unwrap();
    let back: Tree = unmarshaled::<Any>(&octets).unwrap().extract().unwrap();
    let inner: Tree = back.value.extract().unwrap();
    let record: Record = inner.value.extract().unwrap();
    assert_eq!(record, Record::default());
    assert_eq!(back.children.len(), 1);
    assert!(back.value.extract::<Record>().is_err());
}
