//! Marshaling: the expressions that marshal and unmarshal a value of a type.
//!
//! Most Rust types implement `Marshal` and `Unmarshal`. Properties that the type does not show are
//! written out here: a wide string is a `String` like any other, and bounds are no part of types.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::Type;
use quote::{format_ident, quote};

use crate::scope::Scope;
use crate::types::{Form, form, least_wire_size, number};

/// Value to marshal: an expression of the value, and one of a reference to it.
pub(crate) struct Place {
    tokens: TokenStream,
    borrowed: TokenStream,
}

impl Place {
    /// Makes a `Place` from an expression of the value itself: `self.x`, a local variable.
    pub(crate) fn value(tokens: TokenStream) -> Place {
        let borrowed = quote!(&#tokens);
        Place { tokens, borrowed }
    }

    /// Makes a `Place` from an expression of a reference to the value, or of a view of it: `&str`,
    /// `&[T]`.
    pub(crate) fn reference(tokens: TokenStream) -> Place {
        let borrowed = tokens.clone();
        Place { tokens, borrowed }
    }

    /// Makes a `Place` from an expression of a `&mut` to the value.
    pub(crate) fn mutable(tokens: TokenStream) -> Place {
        let borrowed = quote!(&*#tokens);
        Place { tokens, borrowed }
    }
}

/// Destination that a value is unmarshaled to.
pub(crate) struct Target {
    /// Expression of the destination as the receiver of a method call.
    value: TokenStream,
    /// Expression of the destination as the left side of an assignment.
    assigned: TokenStream,
    /// Expression of a `&mut` to the destination.
    reference: TokenStream,
    /// Name for a local variable that does not occur in `value`.
    read: Ident,
}

impl Target {
    /// Makes the target for the value that the local variable `local`, a `&mut`, refers to.
    pub(crate) fn behind(local: &Ident) -> Target {
        Target {
            value: quote!(#local),
            assigned: quote!(*#local),
            reference: quote!(#local),
            read: format_ident!("{local}_read"),
        }
    }

    /// Makes the target of a field of `self`.
    pub(crate) fn field(field: &Ident) -> Target {
        Target {
            value: quote!(self.#field),
            assigned: quote!(self.#field),
            reference: quote!(&mut self.#field),
            read: format_ident!("value"),
        }
    }
}

impl Scope<'_> {
    /// Generates an expression of `Result<(), CdrError>` that marshals an owned value, or one
    /// behind a reference to an owned value, into the encoder `out`.
    pub(crate) fn marshal(
        &self,
        ty: &Type,
        non_nil: bool,
        place: &Place,
        out: &TokenStream,
    ) -> TokenStream {
        let spec = self.generator.spec;
        let Place { tokens, borrowed } = place;
        if self.generator.facts.of(ty).is_plain {
            // An interface may have an operation of the same name as the method.
            if matches!(form(spec, ty), Form::Reference) && non_nil {
                let marshal = self.name("Marshal");
                return quote!(#marshal::marshal(#borrowed, #out));
            }
            self.use_methods_of("Marshal");
            return quote!(#tokens.marshal(#out));
        }
        match spec.resolve(ty) {
            Type::String { bound } => {
                let bound = number(bound.unwrap_or(u32::MAX));
                let function = self.name("marshal_bounded_string");
                quote!(#function(#borrowed, #bound, #out))
            }
            Type::WString { bound: Some(bound) } => {
                let bound = number(*bound);
                let function = self.name("marshal_bounded_wstring");
                quote!(#function(#borrowed, #bound, #out))
            }
            Type::WString { bound: None } => quote!(#out.put_wstring(#borrowed)),
            Type::Sequence { element, bound } => self.marshal_sequence(element, *bound, place, out),
            Type::Array {
                element,
                dimensions,
            } => self.marshal_array(element, dimensions.len(), tokens, out),
            Type::Map { key, value, bound } => {
                let bound = number(bound.unwrap_or(u32::MAX));
                let each = |part| {
                    let place = Place::reference(quote!(value));
                    let marshal = self.marshal(part, false, &place, &quote!(out));
                    quote!(|value, out| #marshal)
                };
                let (key, value) = (each(key), each(value));
                let function = self.name("marshal_map");
                quote!(#function(#borrowed, #bound, #out, #key, #value))
            }
            _ => quote!(),
        }
    }

    /// Generates an expression of `Result<T, CdrError>` that unmarshals a value from the decoder
    /// `input`.
    pub(crate) fn unmarshal(&self, ty: &Type, non_nil: bool, input: &TokenStream) -> TokenStream {
        let spec = self.generator.spec;
        if self.generator.facts.of(ty).is_plain {
            let function = self.unmarshal_function(ty, non_nil);
            return quote!(#function(#input));
        }
        match spec.resolve(ty) {
            Type::String { bound } => {
                let bound = number(bound.unwrap_or(u32::MAX));
                let function = self.name("unmarshal_bounded_string");
                quote!(#function(#input, #bound))
            }
            Type::WString { bound: Some(bound) } => {
                let bound = number(*bound);
                let function = self.name("unmarshal_bounded_wstring");
                quote!(#function(#input, #bound))
            }
            Type::WString { bound: None } => quote!(#input.get_wstring()),
            Type::Sequence { element, bound } => self.unmarshal_sequence(element, *bound, input),
            Type::Array {
                element,
                dimensions,
            } => {
                let array = self.unmarshal_array(element, dimensions.len(), input);
                if self.generator.facts.is_boxed(ty) {
                    let boxed = self.name("Box");
                    quote!(#array.map(#boxed::new))
                } else {
                    array
                }
            }
            Type::Map { key, value, bound } => self.unmarshal_map(key, value, *bound, input),
            _ => quote!(),
        }
    }

    /// Generates an expression of `Result<(), CdrError>` that unmarshals a string or sequence, or a
    /// struct of such, from the decoder `input` in place of another one, whose memory is reused.
    pub(crate) fn unmarshal_into(
        &self,
        ty: &Type,
        target: &Target,
        input: &TokenStream,
    ) -> TokenStream {
        let facts = &self.generator.facts;
        let Target {
            value,
            assigned,
            reference,
            read,
        } = target;
        if facts.of(ty).is_plain {
            self.use_methods_of("Unmarshal");
            return quote!(#value.unmarshal_into(#input));
        }
        let (function, bound) = match self.generator.spec.resolve(ty) {
            Type::WString { bound: None } => return quote!(#input.get_wstring_into(#reference)),
            Type::WString { bound } => ("unmarshal_bounded_wstring_into", *bound),
            Type::String { bound } => ("unmarshal_bounded_string_into", *bound),
            Type::Sequence { element, bound } if facts.of(element).is_plain => {
                ("unmarshal_bounded_into", *bound)
            }
            _ => {
                let new = self.unmarshal(ty, false, input);
                return quote!(#new.map(|#read| #assigned = #read));
            }
        };
        let (function, bound) = (self.name(function), number(bound.unwrap_or(u32::MAX)));
        quote!(#function(#reference, #input, #bound))
    }

    /// Generates an expression of a `Result` that reads a string or sequence as a servant sees it:
    /// where possible, as a view of the request's bytes.
    pub(crate) fn unmarshal_view(&self, ty: &Type, input: &TokenStream) -> TokenStream {
        let facts = &self.generator.facts;
        match self.generator.spec.resolve(ty) {
            Type::String { bound: None } => quote!(#input.get_string()),
            Type::String { bound: Some(bound) } => {
                let (function, bound) = (self.name("unmarshal_bounded_str"), number(*bound));
                quote!(#function(#input, #bound))
            }
            Type::Sequence { element, bound } if facts.of(element).is_plain => {
                let element = self.owned(element, false);
                if let Some(bound) = bound {
                    let (function, bound) = (self.name("unmarshal_slice_bounded"), number(*bound));
                    quote!(#function::<#element>(#input, #bound))
                } else {
                    let function = self.name("unmarshal_slice");
                    quote!(#function::<#element>(#input))
                }
            }
            _ => self.unmarshal(ty, false, input),
        }
    }

    /// Generates a function or closure that takes a decoder and unmarshals a value.
    pub(crate) fn unmarshaler(&self, ty: &Type, non_nil: bool) -> TokenStream {
        if self.generator.facts.of(ty).is_plain {
            return self.unmarshal_function(ty, non_nil);
        }
        let unmarshal = self.unmarshal(ty, non_nil, &quote!(input));
        quote!(|input| #unmarshal)
    }

    /// Generates the path of the function that unmarshals a plain type.
    pub(crate) fn unmarshal_function(&self, ty: &Type, non_nil: bool) -> TokenStream {
        self.use_methods_of("Unmarshal");
        let callable = self.callable(ty, non_nil);
        quote!(#callable::unmarshal)
    }

    fn marshal_sequence(
        &self,
        element: &Type,
        bound: Option<u32>,
        place: &Place,
        out: &TokenStream,
    ) -> TokenStream {
        let Place { tokens, borrowed } = place;
        if self.generator.facts.of(element).is_plain {
            let bound = number(bound.unwrap_or(u32::MAX));
            let function = self.name("marshal_bounded");
            return quote!(#function(#borrowed, #bound, #out));
        }
        let each = self.marshal(
            element,
            false,
            &Place::reference(quote!(value)),
            &quote!(out),
        );
        let function = self.name("marshal_each");
        let all = quote!(#function(#borrowed, #out, |value, out| #each));
        match bound {
            Some(bound) => {
                let bound = number(bound);
                let check = self.name("check_bound");
                quote!(#check(#tokens.len(), #bound).and_then(|()| #all))
            }
            None => all,
        }
    }

    fn marshal_array(
        &self,
        element: &Type,
        dimensions: usize,
        tokens: &TokenStream,
        out: &TokenStream,
    ) -> TokenStream {
        let inner = if dimensions > 1 {
            self.marshal_array(element, dimensions - 1, &quote!(value), out)
        } else {
            self.marshal(element, false, &Place::reference(quote!(value)), out)
        };
        quote!(#tokens.iter().try_for_each(|value| #inner))
    }

    fn unmarshal_sequence(
        &self,
        element: &Type,
        bound: Option<u32>,
        input: &TokenStream,
    ) -> TokenStream {
        if self.generator.facts.of(element).is_plain {
            let bound = number(bound.unwrap_or(u32::MAX));
            let function = self.name("unmarshal_bounded");
            let element = self.owned(element, false);
            return quote!(#function::<#element>(#input, #bound));
        }
        let least = least_wire_size(self.generator.facts.of(element));
        let each = self.unmarshal(element, false, &quote!(input));
        let function = self.name("unmarshal_each");
        let all = quote!(#function(#input, #least, |input| #each));
        match bound {
            Some(bound) => {
                let bound = number(bound);
                let check = self.name("check_bound");
                quote!(#all.and_then(|values| {
                    #check(values.len(), #bound).map(|()| values)
                }))
            }
            None => all,
        }
    }

    fn unmarshal_map(
        &self,
        key: &Type,
        value: &Type,
        bound: Option<u32>,
        input: &TokenStream,
    ) -> TokenStream {
        let facts = &self.generator.facts;
        let least = [key, value].map(|part| facts.of(part).least_wire_size);
        let least = number(least[0].saturating_add(least[1]).min(u32::MAX.into()));
        let bound = number(bound.unwrap_or(u32::MAX));
        let (key, value) = (self.unmarshaler(key, false), self.unmarshaler(value, false));
        let function = self.name("unmarshal_map");
        quote!(#function(#input, #least, #bound, #key, #value))
    }

    fn unmarshal_array(
        &self,
        element: &Type,
        dimensions: usize,
        input: &TokenStream,
    ) -> TokenStream {
        let inner = if dimensions > 1 {
            self.unmarshal_array(element, dimensions - 1, &quote!(input))
        } else {
            self.unmarshal(element, false, &quote!(input))
        };
        let function = self.name("unmarshal_array_with");
        quote!(#function(#input, |input| #inner))
    }
}
