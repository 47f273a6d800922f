//! Facts about the values of a type: their size in memory, their least size on the wire, the
//! existence of a default.
//!
//! Computed once for each declaration and without recursion between declarations, so that neither a
//! long chain of structs nor one that doubles at each step costs more than its length.

mod within;

use punctual_idl::model::{
    DeclId, DeclKind, InterfaceFlavour, Member, Primitive, Specification, Type,
};
use within::{Contents, Within};

use crate::annotations::{self, is_non_nil};
use crate::selection;

/// Size in bytes beyond which arrays are boxed.
const LARGEST_INLINE_ARRAY: u64 = 4096;

/// Length of the longest array for which the standard library implements `Default`.
const LONGEST_DEFAULT_ARRAY: u32 = 32;

/// Upper bound of the members of plain data: larger or deeper nested structs are not treated as
/// such, since the compiler evaluates their layout member by member.
const MOST_PLAIN_MEMBERS: usize = 256;
const DEEPEST_PLAIN_DATA: u8 = 32;

/// Facts about the values of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    /// Size of the Rust value in bytes, accurate enough to decide what is large.
    pub(crate) rust_size: u64,
    /// Least number of octets on the wire, padding not counted.
    pub(crate) least_wire_size: u64,
    /// `true` if the type has a default value.
    pub(crate) has_default: bool,
    /// `true` if a holder of the type cannot use `#[derive(Default)]`.
    pub(crate) default_is_written: bool,
    /// `true` if the type is an array that is boxed.
    pub(crate) is_boxed: bool,
    /// `true` if the Rust type alone determines the encoding of its values.
    pub(crate) is_plain: bool,
    /// Nesting depth, if the value consists only of numbers; any bytes are a value then.
    pub(crate) plain_data: Option<u8>,
    /// Nesting depth of sequences and arrays, those behind typedefs counted.
    pub(crate) depth: u32,
}

/// Facts about all types of a specification.
#[derive(Debug)]
pub(crate) struct Facts {
    of: Vec<Option<Fact>>,
    /// Set of the declarations that keys of maps contain, as a flag for each declaration.
    in_keys: Vec<bool>,
    within: Within,
}

impl Facts {
    pub(crate) fn new(spec: &Specification) -> Facts {
        let mut facts = Facts {
            of: vec![None; spec.declarations.len()],
            in_keys: in_keys(spec),
            within: Within::new(spec),
        };
        for declaration in &spec.declarations {
            let mut pending = vec![declaration.id];
            while let Some(&id) = pending.last() {
                let unknown = facts.unknown_parts(spec, id);
                if facts.of[id.index()].is_some() || unknown.is_empty() {
                    pending.pop();
                    facts.of[id.index()] = Some(facts.declaration(spec, id));
                } else {
                    pending.extend(unknown);
                }
            }
        }
        facts
    }

    /// Returns the facts about a type.
    pub(crate) fn of(&self, ty: &Type) -> Fact {
        match ty {
            Type::Primitive(primitive) => {
                let size = primitive_size(*primitive);
                match primitive {
                    Primitive::WChar => plain(4, 1),
                    Primitive::Boolean | Primitive::LongDouble => plain(size, size),
                    _ => Fact {
                        plain_data: Some(0),
                        ..plain(size, size)
                    },
                }
            }
            Type::Fixed { digits, .. } => plain(32, u64::from(*digits) / 2 + 1),
            Type::Array {
                element,
                dimensions,
            } => self.array(element, dimensions),
            Type::Named(id) => self.of[id.index()].unwrap_or(plain(16, 8)),
            Type::Object => plain(16, 8),
            Type::Void => plain(0, 0),
            // On the wire at least a length, in memory a vector.
            Type::String { bound } => Fact {
                is_plain: bound.is_none(),
                ..plain(24, 4)
            },
            Type::WString { .. } => Fact {
                is_plain: false,
                ..plain(24, 4)
            },
            Type::Sequence { element, bound } => Fact {
                is_plain: bound.is_none() && self.of(element).is_plain,
                depth: self.of(element).depth.saturating_add(1),
                ..plain(24, 4)
            },
            Type::Map { key, value, .. } => Fact {
                is_plain: false,
                depth: self
                    .of(key)
                    .depth
                    .max(self.of(value).depth)
                    .saturating_add(1),
                ..plain(24, 4)
            },
            // At least the kind of its TypeCode.
            Type::Any => plain(64, 4),
            Type::TypeCode => plain(16, 4),
            Type::ValueBase => plain(24, 4),
        }
    }

    /// Returns `true` if each value equals itself and has a hash: it contains no floats, nor values
    /// whose types are known only at run time.
    pub(crate) fn has_total_equality(&self, ty: &Type) -> bool {
        !self.within.of(ty).have(Contents::UNEQUAL)
    }

    /// Returns `true` if values of the type may contain a handle to a value of a valuetype.
    pub(crate) fn holds_values(&self, ty: &Type) -> bool {
        self.within.of(ty).have(Contents::VALUES)
    }

    /// Returns `true` if values of the type may contain a local object or a value of a native type,
    /// and so stay in their process: they can be cloned, but not marshaled, printed or compared.
    pub(crate) fn is_process_local(&self, ty: &Type) -> bool {
        self.within.of(ty).have(Contents::LOCAL)
    }

    /// Returns `true` if a value of the declaration may contain another value of that declaration.
    pub(crate) fn is_recursive(&self, id: DeclId) -> bool {
        self.within.of_declaration(id).have(Contents::ITSELF)
    }

    /// Returns `true` if keys of maps contain the declaration: its values have an order.
    pub(crate) fn is_in_keys(&self, id: DeclId) -> bool {
        self.in_keys[id.index()]
    }

    /// Returns `true` for an array that is boxed.
    pub(crate) fn is_boxed(&self, ty: &Type) -> bool {
        self.of(ty).is_boxed
    }

    /// Returns the facts about a member, and whether it has a default value.
    fn member(&self, spec: &Specification, member: &Member) -> (Fact, bool) {
        let fact = self.of(&member.ty);
        if annotations::is_optional(member) {
            return (plain(fact.rust_size.saturating_add(8), 1), true);
        }
        let has_default = self.has_default(spec, &member.ty, is_non_nil(&member.annotations));
        let is_checked = annotations::is_checked(spec.resolve(&member.ty), member);
        let fact = Fact {
            plain_data: fact.plain_data.filter(|_| !is_checked),
            ..fact
        };
        (fact, has_default)
    }

    /// Returns whether a type has a default value, given whether references in it may be nil.
    pub(crate) fn has_default(&self, spec: &Specification, ty: &Type, non_nil: bool) -> bool {
        let is_reference = match spec.resolve(ty) {
            Type::Object | Type::ValueBase => true,
            Type::Named(id) => matches!(
                spec[*id].kind,
                DeclKind::Interface(_) | DeclKind::ValueType(_) | DeclKind::ValueBox(_)
            ),
            _ => false,
        };
        self.of(ty).has_default && !(is_reference && non_nil)
    }

    fn array(&self, element: &Type, dimensions: &[u32]) -> Fact {
        let one = self.of(element);
        let count = dimensions
            .iter()
            .fold(1, |count: u64, &n| count.saturating_mul(n.into()));
        let size = count.saturating_mul(one.rust_size);
        let is_boxed = size > LARGEST_INLINE_ARRAY;
        Fact {
            rust_size: if is_boxed { 8 } else { size },
            least_wire_size: count.saturating_mul(one.least_wire_size),
            has_default: one.has_default,
            default_is_written: is_boxed
                || one.default_is_written
                || dimensions.iter().any(|&n| n > LONGEST_DEFAULT_ARRAY),
            is_boxed,
            is_plain: one.is_plain,
            plain_data: one.plain_data.filter(|_| !is_boxed && count > 0),
            depth: one.depth.saturating_add(1),
        }
    }

    fn declaration(&self, spec: &Specification, id: DeclId) -> Fact {
        let member_facts: Vec<(Fact, bool)> = spec
            .members(id)
            .into_iter()
            .map(|m| self.member(spec, m))
            .collect();
        let facts = member_facts.iter().map(|(fact, _)| fact);
        match &spec[id].kind {
            DeclKind::Typedef(typedef) => self.of(&typedef.ty),
            DeclKind::Struct(_) | DeclKind::Exception(_) => Fact {
                has_default: member_facts.iter().all(|(_, has_default)| *has_default),
                plain_data: plain_struct(facts.clone())
                    .filter(|_| matches!(spec[id].kind, DeclKind::Struct(_))),
                ..plain(
                    sum(facts.clone().map(|f| f.rust_size.saturating_add(3) & !3)),
                    sum(facts.map(|f| f.least_wire_size)),
                )
            },
            DeclKind::Union(union) => {
                let discriminator = self.of(&union.discriminator).least_wire_size;
                let largest = facts.clone().map(|f| f.rust_size).max().unwrap_or(0);
                let least = facts.map(|f| f.least_wire_size).min();
                let least = least.filter(|_| !union.implicit_default).unwrap_or(0);
                Fact {
                    has_default: selection::first_selected(spec, union)
                        .is_some_and(|case| self.member(spec, &case.member).1),
                    ..plain(
                        largest.saturating_add(8),
                        discriminator.saturating_add(least),
                    )
                }
            }
            DeclKind::Enum(_) => plain(4, 4),
            DeclKind::Bitmask(bitmask) => {
                let size = primitive_size(bitmask.holder());
                plain(size, size)
            }
            DeclKind::Bitset(bitset) => {
                let size = primitive_size(bitset.holder());
                plain(size, size)
            }
            DeclKind::Native => Fact {
                has_default: false,
                is_plain: false,
                ..plain(16, 0)
            },
            // Null is one number.
            DeclKind::ValueType(_) | DeclKind::ValueBox(_) => plain(24, 4),
            DeclKind::Interface(i) if i.flavour == InterfaceFlavour::Abstract => plain(32, 5),
            // A nil reference is an empty type id and no profiles.
            _ => plain(16, 8),
        }
    }

    /// Returns the declarations whose values a value of `holder` contains and whose facts have not
    /// been computed yet.
    fn unknown_parts(&self, spec: &Specification, holder: DeclId) -> Vec<DeclId> {
        let mut types: Vec<&Type> = spec.members(holder).into_iter().map(|m| &m.ty).collect();
        match &spec[holder].kind {
            DeclKind::Typedef(typedef) => types.push(&typedef.ty),
            DeclKind::Union(union) => types.push(&union.discriminator),
            DeclKind::ValueType(_) => types.clear(),
            _ => {}
        }
        let held = types.into_iter().filter_map(|mut ty| {
            let mut in_sequence = false;
            loop {
                match ty {
                    Type::Array { element, .. } => ty = element,
                    Type::Sequence { element, .. } => {
                        in_sequence = true;
                        ty = element;
                    }
                    // A key was complete before, and so is known.
                    Type::Map { value, .. } => {
                        in_sequence = true;
                        ty = value;
                    }
                    // Recursion passes through sequences, but never through typedefs alone.
                    Type::Named(id) => {
                        let is_typedef = matches!(spec[*id].kind, DeclKind::Typedef(_));
                        let is_alias_of_alias =
                            is_typedef && matches!(spec[holder].kind, DeclKind::Typedef(_));
                        return (!in_sequence || is_alias_of_alias).then_some(*id);
                    }
                    _ => return None,
                }
            }
        });
        held.filter(|held| self.of[held.index()].is_none())
            .collect()
    }
}

/// Computes which declarations are contained in keys of maps.
fn in_keys(spec: &Specification) -> Vec<bool> {
    let mut marked = vec![false; spec.declarations.len()];
    let mut keys: Vec<&Type> = Vec::new();
    for declaration in &spec.declarations {
        let mut types: Vec<&Type> = spec.members(declaration.id).iter().map(|m| &m.ty).collect();
        match &declaration.kind {
            DeclKind::Typedef(typedef) => types.push(&typedef.ty),
            DeclKind::ValueBox(boxed) => types.push(&boxed.ty),
            _ => {}
        }
        while let Some(ty) = types.pop() {
            match ty {
                Type::Sequence { element, .. } | Type::Array { element, .. } => types.push(element),
                Type::Map { key, value, .. } => {
                    keys.push(key);
                    types.push(value);
                }
                _ => {}
            }
        }
    }
    for key in keys {
        spec.contains(key, |part| {
            if let Type::Named(id) = part {
                marked[id.index()] = true;
            }
            false
        });
    }
    marked
}

fn plain(rust_size: u64, least_wire_size: u64) -> Fact {
    Fact {
        rust_size,
        least_wire_size,
        has_default: true,
        default_is_written: false,
        is_boxed: false,
        is_plain: true,
        plain_data: None,
        depth: 0,
    }
}

/// Returns the nesting depth of a struct with these members, if it is plain data.
fn plain_struct<'f>(members: impl Iterator<Item = &'f Fact> + Clone) -> Option<u8> {
    let count = members.clone().count();
    let deepest = members
        .map(|member| member.plain_data)
        .try_fold(0, |deepest: u8, depth| Some(deepest.max(depth?)))?;
    let is_small = (1..=MOST_PLAIN_MEMBERS).contains(&count) && deepest < DEEPEST_PLAIN_DATA;
    is_small.then_some(deepest + 1)
}

fn sum(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

fn primitive_size(primitive: Primitive) -> u64 {
    match primitive {
        Primitive::Boolean
        | Primitive::Octet
        | Primitive::Char
        | Primitive::WChar
        | Primitive::Int8
        | Primitive::UInt8 => 1,
        Primitive::Short | Primitive::UShort => 2,
        Primitive::Long | Primitive::ULong | Primitive::Float => 4,
        Primitive::LongLong | Primitive::ULongLong | Primitive::Double => 8,
        Primitive::LongDouble => 16,
    }
}
