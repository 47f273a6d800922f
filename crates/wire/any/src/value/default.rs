//! Default values of types.

use punctual_cdr::{CdrError, Char, Decimal, LongDouble};

use super::{Elements, UnionValue, Value};
use crate::kind::TypeKind;
use crate::type_code::{Index, Member, Node, Shapes, TypeCode};

/// Upper bound of the elements and members of a default value.
const MOST: u64 = 1 << 20;

impl Value {
    /// Returns the value of a new DynAny of this type: zeroes, empty text and sequences, first
    /// enumerators, the union's first member, nil (CORBA 3.3 part 1, §16.3.1).
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`]; [`CdrError::LengthOverLimit`] for arrays of more than a million
    /// elements in all.
    pub fn default_of(type_code: &TypeCode) -> Result<Self, CdrError> {
        let types = type_code.arena().shapes()?;
        let mut beginning = Beginning {
            left: MOST,
            depth: 0,
        };
        beginning.value(types, type_code.at())
    }
}

/// State of building a default value, which counts its parts, since a type may come from a peer.
struct Beginning {
    left: u64,
    depth: u16,
}

/// Maximum nesting depth of types for which a default value is made.
const DEEPEST: u16 = 128;

impl Beginning {
    fn value(&mut self, types: Shapes<'_>, at: Index) -> Result<Value, CdrError> {
        self.account(1)?;
        Ok(match types.node(at) {
            Node::Primitive(kind) => primitive(*kind),
            Node::Text { .. } => Value::String(String::new()),
            Node::Fixed { scale, .. } => Value::Fixed(zero(*scale)),
            Node::Sequence { element, .. } if types.is_octet(*element) => Value::Octets(Vec::new()),
            Node::Sequence { .. } => Value::Sequence(Elements::default()),
            Node::Array { element, length } => self.array(types, *element, *length)?,
            Node::Alias { .. } => return self.deeper(types, types.shape(at).original),
            Node::Struct { members, .. } | Node::Exception { members, .. } => {
                Value::Struct(self.members(types, members)?)
            }
            Node::Union(union) => {
                // The first member, selected by its label; the default member by a value without a
                // label, unless all have one.
                let mut discriminator = union.labels.first().copied().unwrap_or(0);
                if union.default == Some(0) {
                    let greatest = greatest(types, union.discriminator);
                    let mut values = 0..=greatest;
                    let free = values.find(|one| union.chosen(*one) == Some(0));
                    let second = union.labels.get(1).copied();
                    discriminator = free.or(second).unwrap_or(0);
                }
                let chosen = union.chosen(discriminator).map(|place| place as usize);
                let member = chosen.and_then(|place| union.members.get(place));
                let member = member.map(|member| self.deeper(types, member.at));
                Value::Union(Box::new(UnionValue {
                    discriminator,
                    member: member.transpose()?,
                }))
            }
            Node::Enum { .. } => Value::Enum(0),
            Node::Interface { .. } => Value::Object(None),
            Node::Value(_) | Node::ValueBox { .. } | Node::Recursive { .. } => {
                Value::Valuetype(None)
            }
        })
    }

    fn array(&mut self, types: Shapes<'_>, element: Index, length: u32) -> Result<Value, CdrError> {
        self.account(length.into())?;
        if types.is_octet(element) {
            return Ok(Value::Octets(vec![0; length as usize]));
        }
        let elements: Result<_, _> = (0..length).map(|_| self.deeper(types, element)).collect();
        Ok(Value::Sequence(elements?))
    }

    fn members(&mut self, types: Shapes<'_>, members: &[Member]) -> Result<Vec<Value>, CdrError> {
        let mut members = members.iter();
        let values = members.by_ref().map(|member| self.deeper(types, member.at));
        values.collect()
    }

    fn deeper(&mut self, types: Shapes<'_>, at: Index) -> Result<Value, CdrError> {
        if self.depth >= DEEPEST {
            return Err(CdrError::TooDeep { limit: DEEPEST });
        }
        self.depth += 1;
        let value = self.value(types, at);
        self.depth -= 1;
        value
    }

    fn account(&mut self, count: u64) -> Result<(), CdrError> {
        let left = self.left.checked_sub(count);
        self.left = left.ok_or(CdrError::LengthOverLimit {
            length: u32::try_from(count).unwrap_or(u32::MAX),
            limit: u32::try_from(MOST).unwrap_or(u32::MAX),
        })?;
        Ok(())
    }
}

/// Returns the greatest value that the type of a discriminator can have.
fn greatest(types: Shapes<'_>, at: Index) -> i128 {
    match types.node(types.shape(at).original) {
        Node::Enum { enumerators, .. } => enumerators.len() as i128 - 1,
        node => match node.kind() {
            TypeKind::Boolean => 1,
            TypeKind::Char | TypeKind::Octet => u8::MAX.into(),
            TypeKind::WChar => u32::from(char::MAX).into(),
            TypeKind::Short => i16::MAX.into(),
            TypeKind::UShort => u16::MAX.into(),
            TypeKind::Long => i32::MAX.into(),
            TypeKind::LongLong => i64::MAX.into(),
            TypeKind::ULongLong => u64::MAX.into(),
            _ => u32::MAX.into(),
        },
    }
}

fn zero(scale: i16) -> Decimal {
    Decimal::new(0, scale)
        .unwrap_or_else(|_| Decimal::from(punctual_cdr::Fixed::<1, 0>::literal(0)))
}

fn primitive(kind: TypeKind) -> Value {
    match kind {
        TypeKind::Boolean => Value::Boolean(false),
        TypeKind::Octet => Value::Octet(0),
        TypeKind::Char => Value::Char(Char(0)),
        TypeKind::WChar => Value::WChar('\0'),
        TypeKind::Short => Value::Short(0),
        TypeKind::UShort => Value::UShort(0),
        TypeKind::Long => Value::Long(0),
        TypeKind::ULong => Value::ULong(0),
        TypeKind::LongLong => Value::LongLong(0),
        TypeKind::ULongLong => Value::ULongLong(0),
        TypeKind::Float => Value::Float(0.0),
        TypeKind::Double => Value::Double(0.0),
        TypeKind::LongDouble => Value::LongDouble(LongDouble::default()),
        TypeKind::Any => Value::Any(Box::default()),
        TypeKind::TypeCode => Value::TypeCode(TypeCode::NULL),
        TypeKind::Principal => Value::Octets(Vec::new()),
        _ => Value::Null,
    }
}
