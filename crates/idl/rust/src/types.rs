//! Rust types of IDL types, as values and as parameters, and the handling of their values.

use proc_macro2::{Literal, TokenStream};
use punctual_idl::model::{
    DeclKind, Declaration, InterfaceFlavour, Primitive, Specification, Type,
};
use quote::quote;

use crate::scope::{Scope, parse};

/// Form of a type's values behind typedefs, which decides their handling.
#[derive(Clone, Copy)]
pub(crate) enum Form<'a> {
    /// Small and `Copy`: passed by value.
    Scalar,
    /// `string`, `wstring`
    Text,
    Sequence(&'a Type),
    Array,
    /// Struct, union, exception, map, any, TypeCode.
    Aggregate,
    /// Object reference or value of a valuetype, which may be nil.
    Reference,
    /// Reference to an object of a local interface, which may be nil.
    Local,
    Native,
}

/// Returns the form of a type.
pub(crate) fn form<'a>(spec: &'a Specification, ty: &'a Type) -> Form<'a> {
    match spec.resolve(ty) {
        Type::String { .. } | Type::WString { .. } => Form::Text,
        Type::Sequence { element, .. } => Form::Sequence(element),
        Type::Array { .. } => Form::Array,
        Type::Map { .. } | Type::Any | Type::TypeCode => Form::Aggregate,
        Type::Object | Type::ValueBase => Form::Reference,
        Type::Named(id) => match &spec[*id].kind {
            DeclKind::Enum(_) | DeclKind::Bitmask(_) | DeclKind::Bitset(_) => Form::Scalar,
            DeclKind::Interface(i) if i.flavour == InterfaceFlavour::Local => Form::Local,
            DeclKind::Interface(_) | DeclKind::ValueType(_) | DeclKind::ValueBox(_) => {
                Form::Reference
            }
            DeclKind::Native => Form::Native,
            _ => Form::Aggregate,
        },
        _ => Form::Scalar,
    }
}

impl Scope<'_> {
    /// Generates the type of an owned value. References are optional unless `non_nil`.
    pub(crate) fn owned(&self, ty: &Type, non_nil: bool) -> TokenStream {
        let spec = self.generator.spec;
        let bare = self.bare(ty);
        match form(spec, ty) {
            Form::Reference if non_nil => bare,
            Form::Reference => {
                let option = self.name("Option");
                quote!(#option<#bare>)
            }
            Form::Local => {
                let arc = self.name("Arc");
                if non_nil {
                    quote!(#arc<#bare>)
                } else {
                    let option = self.name("Option");
                    quote!(#option<#arc<#bare>>)
                }
            }
            _ => bare,
        }
    }

    /// Generates the type as a typedef names it: a reference's without its `Option`.
    pub(crate) fn bare(&self, ty: &Type) -> TokenStream {
        match ty {
            Type::Void => quote!(()),
            Type::Primitive(primitive) => self.primitive(*primitive),
            Type::String { .. } | Type::WString { .. } => self.name("String"),
            Type::Sequence { element, .. } => {
                let (vec, element) = (self.name("Vec"), self.owned(element, false));
                quote!(#vec<#element>)
            }
            Type::Array { .. } => {
                let array = self.inline_array(ty);
                if self.generator.facts.is_boxed(ty) {
                    let boxed = self.name("Box");
                    quote!(#boxed<#array>)
                } else {
                    array
                }
            }
            Type::Map { key, value, .. } => {
                let map = self.name("BTreeMap");
                let (key, value) = (self.owned(key, false), self.owned(value, false));
                quote!(#map<#key, #value>)
            }
            Type::Fixed { digits, scale } => {
                let fixed = self.name("Fixed");
                let (digits, scale) = (number(*digits), number(*scale));
                quote!(#fixed<#digits, #scale>)
            }
            Type::Named(id) => self.named(&self.generator.spec[*id]),
            Type::Any => self.name("Any"),
            Type::TypeCode => self.name("TypeCode"),
            Type::Object => self.name("ObjectRef"),
            Type::ValueBase => self.name("ValueRef"),
        }
    }

    /// Generates the type of an `in` parameter.
    pub(crate) fn parameter(&self, ty: &Type, non_nil: bool) -> TokenStream {
        match form(self.generator.spec, ty) {
            Form::Scalar => self.owned(ty, non_nil),
            Form::Text => quote!(&str),
            Form::Sequence(element) => {
                let element = self.owned(element, false);
                quote!(&[#element])
            }
            Form::Array if self.generator.facts.is_boxed(ty) => {
                let array = self.inline_array(self.generator.spec.resolve(ty));
                quote!(&#array)
            }
            Form::Array | Form::Aggregate | Form::Native => {
                let owned = self.owned(ty, non_nil);
                quote!(&#owned)
            }
            Form::Reference | Form::Local => {
                let one = self.owned(ty, true);
                if non_nil {
                    quote!(&#one)
                } else {
                    let option = self.name("Option");
                    quote!(#option<&#one>)
                }
            }
        }
    }

    /// Generates the type in a form that `::function` may follow.
    pub(crate) fn callable(&self, ty: &Type, non_nil: bool) -> TokenStream {
        let owned = self.owned(ty, non_nil);
        let plain = matches!(
            ty,
            Type::Primitive(_) | Type::String { .. } | Type::Any | Type::TypeCode
        ) || matches!(ty, Type::Named(_))
            && !matches!(form(self.generator.spec, ty), Form::Reference);
        if plain {
            return owned;
        }
        match ty {
            Type::Sequence { element, .. } => {
                let (vec, element) = (self.name("Vec"), self.owned(element, false));
                quote!(#vec::<#element>)
            }
            Type::Fixed { digits, scale } => {
                let fixed = self.name("Fixed");
                let (digits, scale) = (number(*digits), number(*scale));
                quote!(#fixed::<#digits, #scale>)
            }
            Type::Object | Type::ValueBase | Type::Named(_) if !non_nil => {
                let (option, one) = (self.name("Option"), self.bare(ty));
                quote!(#option::<#one>)
            }
            Type::Object | Type::ValueBase => owned,
            // An interface may have an operation of the same name as the function.
            Type::Named(_) => {
                let unmarshal = self.name("Unmarshal");
                quote!(<#owned as #unmarshal>)
            }
            _ => quote!(<#owned>),
        }
    }

    /// Generates an expression for a default value; the type must have one.
    pub(crate) fn default_value(&self, ty: &Type, non_nil: bool) -> TokenStream {
        let spec = self.generator.spec;
        let default = self.name("Default");
        let Type::Array {
            element,
            dimensions,
        } = spec.resolve(ty)
        else {
            return match spec.resolve(ty) {
                Type::Primitive(Primitive::Boolean) => quote!(false),
                Type::Primitive(p) if p.integer_range().is_some() => quote!(0),
                Type::Primitive(Primitive::Float | Primitive::Double) => quote!(0.0),
                Type::String { .. } | Type::WString { .. } => {
                    let string = self.name("String");
                    quote!(#string::new())
                }
                Type::Sequence { .. } => {
                    let vec = self.name("Vec");
                    quote!(#vec::new())
                }
                _ if matches!(form(spec, ty), Form::Reference) && !non_nil => self.name("None"),
                _ => quote!(#default::default()),
            };
        };
        let copied = matches!(spec.resolve(element), Type::Primitive(p)
            if p.integer_range().is_some() || *p == Primitive::Boolean || p.is_floating());
        let mut value = self.default_value(element, false);
        for length in dimensions.iter().rev() {
            let length = number(*length);
            value = if copied {
                quote!([#value; #length])
            } else {
                quote!(::std::array::from_fn(|_| #value))
            };
        }
        if self.generator.facts.is_boxed(spec.resolve(ty)) {
            let boxed = self.name("Box");
            value = quote!(#boxed::new(#value));
        }
        value
    }

    /// Generates an array type without its box.
    fn inline_array(&self, ty: &Type) -> TokenStream {
        let Type::Array {
            element,
            dimensions,
        } = ty
        else {
            return self.bare(ty);
        };
        let mut array = self.owned(element, false);
        for length in dimensions.iter().rev() {
            let length = number(*length);
            array = quote!([#array; #length]);
        }
        array
    }

    fn named(&self, declaration: &Declaration) -> TokenStream {
        let spec = self.generator.spec;
        match &declaration.kind {
            DeclKind::Native => self
                .generator
                .native(declaration)
                .map(parse)
                .unwrap_or_default(),
            DeclKind::Interface(_)
                if matches!(form(spec, &Type::Named(declaration.id)), Form::Local) =>
            {
                let path = self.path(declaration);
                quote!(dyn #path)
            }
            _ => self.path(declaration),
        }
    }

    pub(crate) fn primitive(&self, primitive: Primitive) -> TokenStream {
        match primitive {
            Primitive::Boolean => quote!(bool),
            Primitive::Octet | Primitive::UInt8 => quote!(u8),
            Primitive::Char => self.name("Char"),
            Primitive::WChar => quote!(char),
            Primitive::Short => quote!(i16),
            Primitive::UShort => quote!(u16),
            Primitive::Long => quote!(i32),
            Primitive::ULong => quote!(u32),
            Primitive::LongLong => quote!(i64),
            Primitive::ULongLong => quote!(u64),
            Primitive::Int8 => quote!(i8),
            Primitive::Float => quote!(f32),
            Primitive::Double => quote!(f64),
            Primitive::LongDouble => self.name("LongDouble"),
        }
    }
}

/// Makes a number without a suffix.
pub(crate) fn number(value: impl Into<u64>) -> Literal {
    Literal::u64_unsuffixed(value.into())
}

/// Makes a literal of the least number of octets on the wire that every target's `usize` can hold.
pub(crate) fn least_wire_size(fact: crate::facts::Fact) -> Literal {
    number(fact.least_wire_size.min(u32::MAX.into()))
}
