//! `struct` to a struct with public fields.

use proc_macro2::TokenStream;
use punctual_idl::model::{DeclKind, Declaration, Primitive, Specification, Type};
use quote::quote;

use crate::docs::doc;
use crate::members::Fields;
use crate::names::ident;
use crate::scope::Scope;

pub(crate) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let name = ident(scope.generator.names.item(declaration.id));
    let doc = doc(&declaration.doc, &format!("`struct {}`.", declaration.name));
    let fields = Fields::new(scope, declaration);
    let derive = fields.derive(scope);
    let layout = has_wire_layout(scope.generator.spec, declaration).then(|| quote!(#[repr(C)]));
    let declarations = fields.declarations(scope);
    let default_impl = fields.default_impl(scope, &name);
    let codec_impls = fields.codec_impls(scope, &name);
    quote! {
        #doc
        #derive
        #layout
        pub struct #name { #declarations }
        #default_impl
        #codec_impls
    }
}

/// True when the struct's octets in memory, in C's layout and the machine's byte order, can be
/// those of its CDR (CORBA 3.3 part 2, §9.3.2.1), the padding at its end left out: all members
/// are numbers, and alignment puts each in the same place.
fn has_wire_layout(spec: &Specification, declaration: &Declaration) -> bool {
    let mut numbers = Numbers { left: 256, wire: 0 };
    numbers.add_struct(spec, declaration).is_some()
}

/// The numbers that a struct is made of, laid out as on the wire.
struct Numbers {
    /// How many more are worth looking at.
    left: u32,
    /// The next position.
    wire: u64,
}

impl Numbers {
    /// The alignment of the struct, if all is where C would have it.
    fn add_struct(&mut self, spec: &Specification, declaration: &Declaration) -> Option<u64> {
        let DeclKind::Struct(structure) = &declaration.kind else {
            return None;
        };
        let start = self.wire;
        let mut alignment = 1;
        for member in &structure.members {
            let (first, of_member) = self.add(spec, &member.ty)?;
            // C aligns an inner struct to its widest member, CDR to its first.
            if !first.is_multiple_of(of_member) {
                return None;
            }
            alignment = alignment.max(of_member);
        }
        // Positions were counted from the beginning of the outermost struct.
        start.is_multiple_of(alignment).then_some(alignment)
    }

    /// Where a member begins and how it is aligned.
    fn add(&mut self, spec: &Specification, ty: &Type) -> Option<(u64, u64)> {
        match spec.resolve(ty) {
            Type::Primitive(primitive) => {
                self.left = self.left.checked_sub(1)?;
                let size = number_size(*primitive)?;
                let start = self.wire.next_multiple_of(size);
                self.wire = start + size;
                Some((start, size))
            }
            Type::Array {
                element,
                dimensions,
            } => {
                let count = dimensions
                    .iter()
                    .try_fold(1, |count: u32, &n| count.checked_mul(n))?;
                let (start, alignment) = self.add(spec, element)?;
                for _ in 1..count {
                    let before = self.wire;
                    let (next, _) = self.add(spec, element)?;
                    // C pads an element to its alignment, CDR does not.
                    if !before.is_multiple_of(alignment) || next != before {
                        return None;
                    }
                }
                Some((start, alignment))
            }
            Type::Named(id) => {
                let first = first_alignment(spec, ty, 64)?;
                let start = self.wire.next_multiple_of(first);
                self.wire = start;
                let alignment = self.add_struct(spec, &spec[*id])?;
                // C would pad the end of an inner struct.
                self.wire
                    .is_multiple_of(alignment)
                    .then_some((start, alignment))
            }
            _ => None,
        }
    }
}

fn first_alignment(spec: &Specification, ty: &Type, depth: u32) -> Option<u64> {
    let depth = depth.checked_sub(1)?;
    match spec.resolve(ty) {
        Type::Primitive(primitive) => number_size(*primitive),
        Type::Array { element, .. } => first_alignment(spec, element, depth),
        Type::Named(id) => match &spec[*id].kind {
            DeclKind::Struct(s) => first_alignment(spec, &s.members.first()?.ty, depth),
            _ => None,
        },
        _ => None,
    }
}

/// The size of a type all of whose bit patterns are values.
fn number_size(primitive: Primitive) -> Option<u64> {
    Some(match primitive {
        Primitive::Octet | Primitive::UInt8 | Primitive::Int8 | Primitive::Char => 1,
        Primitive::Short | Primitive::UShort => 2,
        Primitive::Long | Primitive::ULong | Primitive::Float => 4,
        Primitive::LongLong | Primitive::ULongLong | Primitive::Double => 8,
        Primitive::Boolean | Primitive::WChar | Primitive::LongDouble => return None,
    })
}
