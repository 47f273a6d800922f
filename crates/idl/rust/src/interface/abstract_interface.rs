//! Mapping of `abstract interface`: an object or a value, known at run time (CORBA 3.3 part 1,
//! §10).
//!
//! `abstract interface Describable` gives `Describable`, an enum of either, with the operations as
//! methods; `DescribableObject`, the object reference; and `DescribableServant`, the trait by which
//! a value that supports it is called, and which the servants of derived interfaces implement.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{Declaration, Interface};
use quote::quote;

use super::call::{self, Call};
use super::reference_path::reference_path;
use super::{bases, later, reference, servant, skeleton};
use crate::docs::doc_after;
use crate::names::{Companion, ident};
use crate::scope::Scope;

pub(super) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    interface: &Interface,
) -> TokenStream {
    let generator = scope.generator;
    let name = ident(generator.names.item(declaration.id));
    let object = ident(generator.names.companion(declaration.id, Companion::Object));
    let doc = doc_after(
        &format!(
            "An object or a value of `abstract interface {}` (`{}`).",
            declaration.name, declaration.repository_id
        ),
        &declaration.doc,
    );
    let value_ref = scope.name("ValueRef");
    let calls = call::all(generator, declaration.id);
    let methods = (generator.options.client && !calls.is_empty()).then(|| {
        let methods = calls.iter().map(|call| method(scope, declaration, call));
        quote!(impl #name { #(#methods)* })
    });
    let conversions = conversions(scope, declaration, &name, &object);
    let codec = codec_impls(scope, &name, &object);
    let reference = reference::generate(scope, declaration);
    let servant = servant::generate(scope, declaration, interface);
    let answers = generator
        .options
        .server
        .then(|| skeleton::of_abstract(scope, declaration));
    let later = later::generate(scope, declaration, interface);
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum #name {
            /// A reference to an object.
            Object(#object),
            /// A value.
            Value(#value_ref),
        }
        #methods
        #conversions
        #codec
        #reference
        #servant
        #answers
        #later
    }
}

/// Generates an operation, which calls the object or the value.
///
/// The call names the reference type that has the method: a derived reference type, which
/// dereferences to it, may have another method of that name.
fn method(scope: &Scope<'_>, interface: &Declaration, call: &Call<'_>) -> TokenStream {
    let generator = scope.generator;
    let holder = bases::holder(generator.spec, interface.id, call.owner);
    let object = reference_path(scope, &generator.spec[holder]);
    let doc = call.doc(generator);
    let signature = call.signature(scope, &quote!(pub));
    let [arc, operations_of] = ["Arc", "operations_of"].map(|name| scope.name(name));
    let servant = scope.companion(call.owner, Companion::Servant);
    let mut locals = call.locals();
    let (this, local) = (locals.fresh("this"), locals.fresh("servant"));
    let passed: Vec<_> = call.passed().map(|p| ident(&p.name)).collect();
    let context = call.context_name();
    let context: Vec<_> = context.iter().collect();
    let (method, trait_method) = (call.method_ident(), call.trait_method(generator));
    quote! {
        #doc
        #signature {
            match self {
                Self::Object(#this) => #object::#method(#this #(, #passed)* #(, #context)*),
                Self::Value(#this) => {
                    let #local: #arc<dyn #servant> = #operations_of(#this)?;
                    #servant::#trait_method(&*#local #(, #passed)* #(, #context)*)
                }
            }
        }
    }
}

fn conversions(
    scope: &Scope<'_>,
    declaration: &Declaration,
    name: &Ident,
    object: &Ident,
) -> TokenStream {
    let spec = scope.generator.spec;
    let from = scope.name("From");
    let bases = spec.ancestors(declaration.id).into_iter().map(|base| {
        let base = scope.path(&spec[base]);
        quote! {
            impl #from<#name> for #base {
                fn from(either: #name) -> Self {
                    match either {
                        #name::Object(object) => object.into(),
                        #name::Value(value) => Self::Value(value),
                    }
                }
            }
        }
    });
    quote! {
        impl #from<#object> for #name {
            fn from(object: #object) -> Self {
                Self::Object(object)
            }
        }
        #(#bases)*
    }
}

fn codec_impls(scope: &Scope<'_>, name: &Ident, object: &Ident) -> TokenStream {
    let [marshal, unmarshal, nilable, holds_values, graph] =
        ["Marshal", "Unmarshal", "Nilable", "HoldsValues", "Graph"].map(|name| scope.name(name));
    let [encoder, decoder, result, option, some, none, error] = [
        "Encoder", "Decoder", "Result", "Option", "Some", "None", "CdrError",
    ]
    .map(|name| scope.name(name));
    let [marshal_abstract, unmarshal_abstract, supports] =
        ["marshal_abstract", "unmarshal_abstract", "Supports"].map(|name| scope.name(name));
    quote! {
        impl #marshal for #name {
            fn marshal(&self, out: &mut #encoder<'_>) -> #result<(), #error> {
                #nilable::marshal_nilable(#some(self), out)
            }
        }
        impl #unmarshal for #name {
            const MIN_SIZE: usize = 5;
            fn unmarshal(input: &mut #decoder<'_>) -> #result<Self, #error> {
                #nilable::unmarshal_nilable(input)?.ok_or(#error::NilReference)
            }
        }
        impl #nilable for #name {
            fn marshal_nilable(
                this: #option<&Self>,
                out: &mut #encoder<'_>,
            ) -> #result<(), #error> {
                match this {
                    #some(Self::Object(object)) => #marshal_abstract(#some(object), #none, out),
                    #some(Self::Value(value)) => {
                        #marshal_abstract::<#object>(#none, #some(value), out)
                    }
                    #none => #marshal_abstract::<#object>(#none, #none, out),
                }
            }
            fn unmarshal_nilable(
                input: &mut #decoder<'_>,
            ) -> #result<#option<Self>, #error> {
                #unmarshal_abstract(&#supports::<Self>::new(), input, Self::Object, Self::Value)
            }
        }
        impl #holds_values for #name {
            fn adopt(&mut self, graph: &#graph) {
                if let Self::Value(value) = self {
                    #holds_values::adopt(value, graph);
                }
            }
        }
    }
}
