//! Cursors: parts of encoded values.

use punctual_any::{
    Any, Cursor, Label, Scalar, TypeBuilder, TypeCode, TypeKind, UnionDescription, Value,
};
use punctual_cdr::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};

/// Returns an Any as it arrives in a byte order, behind some bytes.
fn received(any: &Any, order: ByteOrder, lead: usize) -> Any {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    out.put_bytes(&vec![0; lead]);
    any.marshal(&mut out).unwrap();
    let bytes = out.into_block().into_vec();
    Any::unmarshal(&mut Decoder::at(&bytes, lead, order, Coding::default())).unwrap()
}

/// Calls `look` with an Any as it was made, and as it arrives.
fn each_way(any: &Any, look: impl Fn(&Any)) {
    look(any);
    for lead in 0..8 {
        look(&received(any, ByteOrder::Big, lead));
        look(&received(any, ByteOrder::Little, lead));
    }
}

fn whole_type() -> TypeCode {
    let mut types = TypeBuilder::default();
    let root = types.structure("IDL:Whole:1.0", "Whole", |types| {
        let octet = types.primitive(TypeKind::Octet);
        let text = types.string(0);
        let double = types.primitive(TypeKind::Double);
        let doubles = types.sequence(double, 0);
        let texts = types.array(text, 3);
        let any = types.primitive(TypeKind::Any);
        let alias = types.alias("IDL:Number:1.0", "Number", |types| {
            types.primitive(TypeKind::Long)
        });
        vec![
            ("octet", octet),
            ("text", text),
            ("doubles", doubles),
            ("texts", texts),
            ("any", any),
            ("alias", alias),
        ]
    });
    types.finish(root)
}

fn whole() -> Any {
    Any::written(&whole_type(), |out| {
        out.put_u8(7);
        out.put_string("odd")?;
        out.put_u32(3);
        [1.0, 2.0, 3.0]
            .into_iter()
            .for_each(|number| out.put_f64(number));
        ["a", "bc", "def"]
            .iter()
            .try_for_each(|text| out.put_string(text))?;
        Any::new(&Any::new("inner")?)?.marshal(out)?;
        out.put_i32(-5);
        Ok(())
    })
    .unwrap()
}

/// Returns the cursor at a member of this name.
fn member<'a>(any: &'a Any, name: &str) -> Cursor<'a> {
    let mut cursor = any.cursor().unwrap();
    let at = cursor.member_named(name).unwrap();
    assert!(cursor.enter_member(at).unwrap());
    cursor
}

#[test]
fn members_are_reached_past_others_of_any_size() {
    each_way(&whole(), |any| {
        assert_eq!(member(any, "octet").scalar(), Ok(Some(Scalar::Integer(7))));
        assert_eq!(
            member(any, "text").scalar(),
            Ok(Some(Scalar::Text("odd".into())))
        );
        assert_eq!(member(any, "alias").scalar(), Ok(Some(Scalar::Integer(-5))));
        assert_eq!(member(any, "alias").declared_type().name(), Ok("Number"));
        assert_eq!(member(any, "alias").kind(), TypeKind::Long);
        assert_eq!(member(any, "doubles").scalar(), Ok(None));
        let mut cursor = any.cursor().unwrap();
        assert_eq!(
            (cursor.kind(), cursor.member_count()),
            (TypeKind::Struct, 6)
        );
        assert_eq!(cursor.member_named("none"), None);
        assert!(!cursor.enter_member(6).unwrap());
    });
}

#[test]
fn elements_are_reached_past_others() {
    each_way(&whole(), |any| {
        let mut doubles = member(any, "doubles");
        assert_eq!(doubles.enter_elements(), Ok(Some(3)));
        doubles.pass(2).unwrap();
        assert_eq!(doubles.scalar(), Ok(Some(Scalar::Real(3.0))));
        let mut texts = member(any, "texts");
        assert_eq!(texts.enter_elements(), Ok(Some(3)));
        assert_eq!(texts.scalar(), Ok(Some(Scalar::Text("a".into()))));
        texts.pass(1).unwrap();
        assert_eq!(texts.scalar(), Ok(Some(Scalar::Text("def".into()))));
        assert_eq!(member(any, "octet").enter_elements(), Ok(None));
    });
}

#[test]
fn anys_are_entered_one_after_the_other() {
    each_way(&whole(), |any| {
        let mut cursor = member(any, "any");
        cursor.enter_any().unwrap();
        assert_eq!(cursor.kind(), TypeKind::Any);
        cursor.enter_any().unwrap();
        assert_eq!(*cursor.type_code(), TypeCode::STRING);
        assert_eq!(cursor.scalar(), Ok(Some(Scalar::Text("inner".into()))));
    });
}

#[test]
fn the_selected_member_of_a_union_alone_is_entered() {
    let mut types = TypeBuilder::default();
    let root = types.union_("IDL:U:1.0", "U", |types| {
        let discriminator = types.primitive(TypeKind::Short);
        let (text, long) = (types.string(0), types.primitive(TypeKind::Long));
        let members = vec![
            (Label::Value(1), "text", text),
            (Label::Default, "other", long),
        ];
        UnionDescription {
            discriminator,
            members,
        }
    });
    let union = Any::written(&types.finish(root), |out| {
        out.put_i16(1);
        out.put_string("x")
    });
    each_way(&union.unwrap(), |any| {
        let mut cursor = any.cursor().unwrap();
        assert_eq!(cursor.chosen(), Ok(Some((1, Some(0)))));
        assert!(!cursor.clone().enter_member(1).unwrap());
        let mut discriminator = cursor.clone();
        assert!(discriminator.enter_discriminator().unwrap());
        assert_eq!(discriminator.scalar(), Ok(Some(Scalar::Integer(1))));
        assert!(cursor.enter_member(0).unwrap());
        assert_eq!(cursor.scalar(), Ok(Some(Scalar::Text("x".into()))));
        assert!(!cursor.enter_discriminator().unwrap());
        assert_eq!(cursor.chosen(), Ok(None));
    });
}

#[test]
fn the_id_of_an_exception_is_passed() {
    let mut types = TypeBuilder::default();
    let root = types.exception("IDL:E:1.0", "E", |types| {
        vec![
            ("a", types.primitive(TypeKind::Long)),
            ("b", types.primitive(TypeKind::Long)),
        ]
    });
    let exception = Any::of_value(
        &types.finish(root),
        &Value::Struct(vec![Value::Long(1), Value::Long(2)]),
    );
    each_way(&exception.unwrap(), |any| {
        assert_eq!(member(any, "b").scalar(), Ok(Some(Scalar::Integer(2))));
    });
}

#[test]
fn a_value_without_parts_is_read_at_once() {
    for (any, scalar) in [
        (Any::new(&true), Scalar::Boolean(true)),
        (Any::new(&u64::MAX), Scalar::Integer(u64::MAX.into())),
        (Any::new(&0.5f32), Scalar::Real(0.5)),
        (Any::new("text"), Scalar::Text("text".into())),
        (Any::of_wide("wide"), Scalar::Text("wide".into())),
    ] {
        each_way(&any.unwrap(), |any| {
            assert_eq!(any.scalar(), Ok(Some(scalar.clone())))
        });
    }
    assert_eq!(whole().scalar(), Ok(None));
    assert_eq!(Any::default().scalar(), Ok(None));
}
