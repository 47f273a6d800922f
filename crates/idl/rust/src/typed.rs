//! TypeCodes: run-time descriptions of generated types.
//!
//! Types that TypeCodes of CORBA 3.3 lack are described as types with the same form on the wire: a
//! bitmask and a bitset are aliases of their integer, a map is a sequence of pairs, an optional
//! member a union over a boolean. A typedef is a Rust alias, indistinguishable from the type that
//! it names; so a separate type without values has the TypeCode.

use proc_macro2::{Ident, Literal, TokenStream};
use punctual_idl::model::{
    ConstValue, DeclKind, Declaration, Enum, InterfaceFlavour, Label, Member, Primitive, Type,
    Typedef, Union, ValueFlavour, ValueType,
};
use quote::quote;

use crate::annotations::is_optional;
use crate::layout;
use crate::names::{Companion, ident};
use crate::scope::Scope;
use crate::types::number;
use crate::valuetypes;

/// Generates `impl Typed` for the type of a declaration.
pub(crate) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let generator = scope.generator;
    if !generator.options.type_codes {
        return TokenStream::new();
    }
    let name = ident(generator.names.item(declaration.id));
    let (id, idl_name) = (&declaration.repository_id, &declaration.name);
    let description = match &declaration.kind {
        DeclKind::Struct(_) => {
            let members = members(scope, declaration);
            quote!(types.structure(#id, #idl_name, #members))
        }
        DeclKind::Exception(_) => {
            let members = members(scope, declaration);
            quote!(types.exception(#id, #idl_name, #members))
        }
        DeclKind::Union(union) => {
            let description = union_description(scope, union);
            quote!(types.union_(#id, #idl_name, |types| #description))
        }
        DeclKind::Enum(Enum { enumerators }) => {
            let names = enumerators.iter().map(|enumerator| &enumerator.name);
            quote!(types.enumeration(#id, #idl_name, &[#(#names),*]))
        }
        DeclKind::Bitmask(bitmask) => alias(scope, declaration, &bitmask.holder().into()),
        DeclKind::Bitset(bitset) => alias(scope, declaration, &bitset.holder().into()),
        DeclKind::Interface(interface) if interface.flavour == InterfaceFlavour::Plain => {
            quote!(types.interface(#id, #idl_name))
        }
        DeclKind::Interface(interface) if interface.flavour == InterfaceFlavour::Abstract => {
            quote!(types.abstract_interface(#id, #idl_name))
        }
        DeclKind::ValueBox(boxed) => {
            let of = scope.describer(&boxed.ty);
            quote!(types.value_box(#id, #idl_name, #of))
        }
        DeclKind::ValueType(value) => {
            let modifier = ident(modifier(value));
            let description = value_description(scope, declaration, value);
            let value_modifier = scope.name("ValueModifier");
            quote!(types.value(#id, #idl_name, #value_modifier::#modifier, #description))
        }
        DeclKind::Typedef(typedef) => return typedef_marker(scope, declaration, typedef),
        _ => return TokenStream::new(),
    };
    typed(scope, &name, &description)
}

/// Generates the type that has a typedef's TypeCode.
fn typedef_marker(scope: &Scope<'_>, declaration: &Declaration, typedef: &Typedef) -> TokenStream {
    let names = &scope.generator.names;
    let marker = ident(names.companion(declaration.id, Companion::Alias));
    let doc = format!(
        " Carrier of the TypeCode of `typedef {}`; it has no values.",
        declaration.name
    );
    let description = alias(scope, declaration, &typedef.ty);
    let typed = typed(scope, &marker, &description);
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug)]
        pub enum #marker {}
        #typed
    }
}

fn typed(scope: &Scope<'_>, name: &Ident, description: &TokenStream) -> TokenStream {
    let typed = scope.name("typed");
    layout::item_macro(&typed, &quote!(#name, |types| #description))
}

fn alias(scope: &Scope<'_>, declaration: &Declaration, ty: &Type) -> TokenStream {
    let (id, name) = (&declaration.repository_id, &declaration.name);
    let of = scope.describer(ty);
    quote!(types.alias(#id, #name, #of))
}

fn members(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let members = scope.generator.spec.members(declaration.id);
    if members.is_empty() {
        let vec = scope.name("Vec");
        return quote!(|_| #vec::<(&str, _)>::new());
    }
    let members = members.into_iter().map(|member| {
        let (name, ty) = (&member.name, scope.describe_member(member));
        quote!((#name, #ty))
    });
    let vec = scope.name("Vec");
    quote!(|types| #vec::from([#(#members),*]))
}

fn union_description(scope: &Scope<'_>, union: &Union) -> TokenStream {
    let [description, label, vec] =
        ["UnionDescription", "Label", "Vec"].map(|name| scope.name(name));
    let discriminator = scope.describe(&union.discriminator);
    let members = union.cases.iter().flat_map(|case| {
        let (name, ty) = (&case.member.name, scope.describe(&case.member.ty));
        let label = &label;
        case.labels.iter().map(move |of| {
            let value = match of {
                Label::Default => quote!(#label::Default),
                Label::Value(value) => {
                    let value = label_value(value);
                    quote!(#label::Value(#value))
                }
            };
            quote!((#value, #name, #ty))
        })
    });
    quote! {
        #description {
            discriminator: #discriminator,
            members: #vec::from([#(#members),*]),
        }
    }
}

fn modifier(value: &ValueType) -> &'static str {
    match value.flavour {
        ValueFlavour::Abstract => "Abstract",
        ValueFlavour::Custom => "Custom",
        ValueFlavour::Plain if value.truncatable => "Truncatable",
        ValueFlavour::Plain => "None",
    }
}

fn value_description(
    scope: &Scope<'_>,
    declaration: &Declaration,
    value: &ValueType,
) -> TokenStream {
    let spec = scope.generator.spec;
    let [description, vec] = ["ValueDescription", "Vec"].map(|name| scope.name(name));
    let base = valuetypes::concrete_base(spec, declaration.id);
    let has_base = base.is_some();
    let base = match base {
        Some(base) => {
            let base = scope.path(&spec[base]);
            let [some, typed] = ["Some", "Typed"].map(|name| scope.name(name));
            quote!(#some(<#base as #typed>::describe(types)))
        }
        None => scope.name("None"),
    };
    if value.state.is_empty() {
        let types = if has_base { quote!(types) } else { quote!(_) };
        return quote!(|#types| #description {
            concrete_base: #base,
            members: #vec::<(&str, _, _)>::new(),
        });
    }
    let visibility = scope.name("Visibility");
    let members = value.state.iter().map(|state| {
        let (name, ty) = (&state.member.name, scope.describe_member(&state.member));
        let seen = ident(if state.public { "Public" } else { "Private" });
        quote!((#name, #ty, #visibility::#seen))
    });
    quote! {
        |types| #description { concrete_base: #base, members: #vec::from([#(#members),*]) }
    }
}

/// Returns a label as its number on the wire.
fn label_value(value: &ConstValue) -> TokenStream {
    let value = match value {
        ConstValue::Integer(value) => *value,
        ConstValue::Boolean(value) => i128::from(*value),
        ConstValue::Char(value) => i128::from(*value),
        ConstValue::WChar(value) => i128::from(u32::from(*value)),
        ConstValue::Enumerator(_, index) => i128::try_from(*index).unwrap_or(i128::MAX),
        _ => 0,
    };
    let magnitude = Literal::u128_unsuffixed(value.unsigned_abs());
    if value < 0 {
        quote!(-#magnitude)
    } else {
        quote!(#magnitude)
    }
}

impl Scope<'_> {
    /// Generates an expression of the `TypeIndex` of a member's type, in the builder `types`.
    fn describe_member(&self, member: &Member) -> TokenStream {
        let ty = self.describe(&member.ty);
        if !is_optional(member) {
            return ty;
        }
        let [description, label, kind, vec] =
            ["UnionDescription", "Label", "TypeKind", "Vec"].map(|name| self.name(name));
        quote! {
            types.union_("", "", |types| #description {
                discriminator: types.primitive(#kind::Boolean),
                members: #vec::from([(#label::Value(1), "value", #ty)]),
            })
        }
    }

    /// Generates an expression of the `TypeIndex` of a type, in the builder `types`.
    pub(crate) fn describe(&self, ty: &Type) -> TokenStream {
        match ty {
            Type::Primitive(primitive) => self.describe_primitive(*primitive),
            Type::Void => self.describe_kind("Void"),
            Type::Any => self.describe_kind("Any"),
            Type::TypeCode => self.describe_kind("TypeCode"),
            Type::String { bound } => {
                let bound = number(bound.unwrap_or(0));
                quote!(types.string(#bound))
            }
            Type::WString { bound } => {
                let bound = number(bound.unwrap_or(0));
                quote!(types.wstring(#bound))
            }
            Type::Fixed { digits, scale } => {
                let (digits, scale) = (number(*digits), number(*scale));
                quote!(types.fixed(#digits, #scale))
            }
            Type::Sequence { element, bound } => {
                let (element, bound) = (self.describe(element), number(bound.unwrap_or(0)));
                quote!({ let element = #element; types.sequence(element, #bound) })
            }
            Type::Map { key, value, bound } => {
                let (key, value) = (self.describe(key), self.describe(value));
                let bound = number(bound.unwrap_or(0));
                let vec = self.name("Vec");
                quote!({
                    let pair = types.structure("", "", |types| {
                        #vec::from([("key", #key), ("value", #value)])
                    });
                    types.sequence(pair, #bound)
                })
            }
            Type::Array {
                element,
                dimensions,
            } => {
                let mut array = self.describe(element);
                for &length in dimensions.iter().rev() {
                    let length = number(length);
                    array = quote!({ let element = #array; types.array(element, #length) });
                }
                array
            }
            Type::Object => quote!(types.interface("IDL:omg.org/CORBA/Object:1.0", "Object")),
            Type::ValueBase => {
                let typed = self.name("Typed");
                let value = self.bare(ty);
                quote!(<#value as #typed>::describe(types))
            }
            Type::Named(id) => self.describe_named(&self.generator.spec[*id]),
        }
    }

    /// Generates a type's entry in a table: a function of a Rust type with exactly that
    /// description, or a closure.
    pub(crate) fn describing(&self, ty: &Type) -> TokenStream {
        let rust = match ty {
            Type::Void => quote!(()),
            Type::Any => self.name("Any"),
            Type::TypeCode => self.name("TypeCode"),
            Type::String { bound: None } => self.name("String"),
            Type::ValueBase => self.bare(ty),
            Type::Primitive(primitive) => match primitive {
                Primitive::Boolean => quote!(bool),
                Primitive::Octet | Primitive::UInt8 => quote!(u8),
                Primitive::Short => quote!(i16),
                Primitive::UShort => quote!(u16),
                Primitive::Long => quote!(i32),
                Primitive::ULong => quote!(u32),
                Primitive::LongLong => quote!(i64),
                Primitive::ULongLong => quote!(u64),
                Primitive::Float => quote!(f32),
                Primitive::Double => quote!(f64),
                Primitive::Char | Primitive::WChar | Primitive::Int8 | Primitive::LongDouble => {
                    return self.describer(ty);
                }
            },
            _ => return self.describer(ty),
        };
        let typed = self.name("Typed");
        quote!(<#rust as #typed>::describe)
    }

    /// Generates a function or closure that describes a type.
    fn describer(&self, ty: &Type) -> TokenStream {
        let function = match ty {
            Type::Named(id) => self.describing_function(&self.generator.spec[*id]),
            _ => None,
        };
        function.unwrap_or_else(|| {
            let description = self.describe(ty);
            quote!(|types| #description)
        })
    }

    fn describe_named(&self, declaration: &Declaration) -> TokenStream {
        let (id, name) = (&declaration.repository_id, &declaration.name);
        if let Some(function) = self.describing_function(declaration) {
            return quote!(#function(types));
        }
        match &declaration.kind {
            DeclKind::Native => quote!(types.native(#id, #name)),
            _ => quote!(types.local_interface(#id, #name)),
        }
    }

    /// Generates the path of the function that describes a declared type; `None` for one without a
    /// Rust type of its own.
    fn describing_function(&self, declaration: &Declaration) -> Option<TokenStream> {
        match &declaration.kind {
            DeclKind::Native => None,
            DeclKind::Interface(i) if i.flavour == InterfaceFlavour::Local => None,
            DeclKind::Typedef(_) => {
                let marker = self.companion(declaration, Companion::Alias);
                {
                    let typed = self.name("Typed");
                    Some(quote!(<#marker as #typed>::describe))
                }
            }
            // An interface may have an operation of the same name as the function.
            _ => {
                let (path, typed) = (self.path(declaration), self.name("Typed"));
                Some(quote!(<#path as #typed>::describe))
            }
        }
    }

    fn describe_primitive(&self, primitive: Primitive) -> TokenStream {
        self.describe_kind(match primitive {
            Primitive::Boolean => "Boolean",
            Primitive::Octet | Primitive::UInt8 => "Octet",
            Primitive::Char => "Char",
            Primitive::WChar => "WChar",
            Primitive::Short => "Short",
            Primitive::UShort => "UShort",
            Primitive::Long => "Long",
            Primitive::ULong => "ULong",
            Primitive::LongLong => "LongLong",
            Primitive::ULongLong => "ULongLong",
            // It has no kind of its own; the runtime describes it.
            Primitive::Int8 => {
                let typed = self.name("Typed");
                return quote!(<i8 as #typed>::describe(types));
            }
            Primitive::Float => "Float",
            Primitive::Double => "Double",
            Primitive::LongDouble => "LongDouble",
        })
    }

    fn describe_kind(&self, kind: &str) -> TokenStream {
        let (type_kind, kind) = (self.name("TypeKind"), ident(kind));
        quote!(types.primitive(#type_kind::#kind))
    }
}
