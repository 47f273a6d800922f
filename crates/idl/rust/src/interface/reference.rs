//! The typed object reference of an interface, with a method for each call.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclKind, Declaration, Direction, InterfaceFlavour};
use quote::quote;

use super::call::{self, Call, tuple};
use super::request::{arguments, invocation, operation, results};
use super::{collocated, interpreted, twin};
use crate::Generator;
use crate::docs::doc_after;
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;

pub(crate) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let generator = scope.generator;
    let name = ident(object_name(generator, declaration));
    let doc = doc_after(
        &format!(
            "Reference to an object of `{} {}` (`{}`).",
            declaration.kind.describe(),
            declaration.name,
            declaration.repository_id
        ),
        &declaration.doc,
    );
    let object_ref = scope.name("ObjectRef");
    let methods = if generator.options.client {
        methods(scope, declaration, &name)
    } else {
        TokenStream::new()
    };
    let interface_impl = interface_impl(scope, declaration, &name);
    let conversions = conversions(scope, declaration, &name);
    let codec_impls = codec_impls(scope, &name);
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct #name(#object_ref);
        #methods
        #interface_impl
        #conversions
        #codec_impls
    }
}

/// What the reference to an object is called: as the interface, unless that may be a value, too.
fn object_name<'g>(generator: &'g Generator<'_>, interface: &Declaration) -> &'g str {
    if is_abstract(interface) {
        generator.names.companion(interface.id, Companion::Object)
    } else {
        generator.names.item(interface.id)
    }
}

fn is_abstract(interface: &Declaration) -> bool {
    matches!(&interface.kind,
        DeclKind::Interface(i) if i.flavour == InterfaceFlavour::Abstract)
}

fn methods(scope: &Scope<'_>, declaration: &Declaration, name: &Ident) -> TokenStream {
    let calls = call::all(scope.generator, declaration.id);
    if calls.is_empty() {
        return TokenStream::new();
    }
    let mut claims = Claims::default();
    for call in &calls {
        claims.reserve(&call.method);
    }
    if interpreted::is_chosen(scope.generator, declaration) {
        let methods = calls.iter().map(|call| interpreted::method(scope, call));
        return quote!(impl #name { #(#methods)* });
    }
    let methods = calls.iter().map(|call| {
        let method = method(scope, call);
        let twin = twin::generate(scope, call, &mut claims);
        quote!(#method #twin)
    });
    quote!(impl #name { #(#methods)* })
}

fn method(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let doc = call.doc(scope.generator);
    let signature = call.signature(scope, &quote!(pub));
    let operation = operation(scope, call);
    let mut locals = call.locals();
    let arguments = arguments(scope, call, &locals);
    let body = if call.oneway {
        let request = quote!(self.0.send(&OPERATION, #arguments));
        collocated::one_way(scope, call, &request)
    } else {
        two_way(scope, call, &arguments, &mut locals)
    };
    quote! {
        #doc
        #signature {
            #operation
            #body
        }
    }
}

fn two_way(
    scope: &Scope<'_>,
    call: &Call<'_>,
    arguments: &TokenStream,
    locals: &mut Claims,
) -> TokenStream {
    let results = results(scope, call, locals);
    let request = invocation(scope, call, arguments, &results, locals);
    let invocation = collocated::two_way(scope, call, &request, |_| None, locals);
    if call
        .parameters
        .iter()
        .any(|p| p.direction == Direction::InOut)
    {
        assign(scope, call, &invocation, locals)
    } else {
        invocation
    }
}

/// inout parameters are assigned once the whole reply has been decoded.
fn assign(
    scope: &Scope<'_>,
    call: &Call<'_>,
    invocation: &TokenStream,
    locals: &mut Claims,
) -> TokenStream {
    let ok = scope.name("Ok");
    let (mut received, mut returned, mut assignments) = (Vec::new(), Vec::new(), Vec::new());
    if call.returns.is_some() {
        let name = locals.fresh("result");
        received.push(quote!(#name));
        returned.push(quote!(#name));
    }
    for parameter in call.replied() {
        let name = ident(&parameter.name);
        if parameter.direction == Direction::InOut {
            let new = locals.fresh(&format!("new_{}", parameter.name));
            received.push(quote!(#new));
            assignments.push((name, new));
        } else {
            received.push(quote!(#name));
            returned.push(quote!(#name));
        }
    }
    let returned = tuple(&returned);
    if let ([(name, _)], [_]) = (assignments.as_slice(), received.as_slice()) {
        return quote! {
            *#name = #invocation?;
            #ok(())
        };
    }
    let received = tuple(&received);
    let assignments = assignments.iter().map(|(name, new)| quote!(*#name = #new;));
    quote! {
        let #received = #invocation?;
        #(#assignments)*
        #ok(#returned)
    }
}

fn interface_impl(scope: &Scope<'_>, declaration: &Declaration, name: &Ident) -> TokenStream {
    let spec = scope.generator.spec;
    let [interface, object_ref] = ["Interface", "ObjectRef"].map(|name| scope.name(name));
    let id = &declaration.repository_id;
    let ancestors = spec.ancestors(declaration.id).into_iter().rev();
    let base_ids = ancestors.map(|base| &spec[base].repository_id);
    quote! {
        impl #interface for #name {
            const REPOSITORY_ID: &'static str = #id;
            const REPOSITORY_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID #(, #base_ids)*];
            fn from_object(object: #object_ref) -> Self {
                Self(object)
            }
            fn as_object(&self) -> &#object_ref {
                &self.0
            }
        }
    }
}

/// Widening, to `Object` and to every base.
fn conversions(scope: &Scope<'_>, declaration: &Declaration, name: &Ident) -> TokenStream {
    let spec = scope.generator.spec;
    let [interface, object_ref, from] =
        ["Interface", "ObjectRef", "From"].map(|name| scope.name(name));
    let bases = spec.ancestors(declaration.id).into_iter().map(|base| {
        let base = &spec[base];
        let path = scope.path(base);
        let object = is_abstract(base).then(|| scope.companion(base, Companion::Object));
        let either = object.as_ref().map(|_| {
            quote! {
                impl #from<#name> for #path {
                    fn from(reference: #name) -> Self {
                        Self::Object(#interface::from_object(reference.0))
                    }
                }
            }
        });
        let base = object.unwrap_or(path);
        quote! {
            impl #from<#name> for #base {
                fn from(reference: #name) -> Self {
                    #interface::from_object(reference.0)
                }
            }
            #either
        }
    });
    quote! {
        impl #from<#name> for #object_ref {
            fn from(reference: #name) -> Self {
                reference.0
            }
        }
        #(#bases)*
    }
}

fn codec_impls(scope: &Scope<'_>, name: &Ident) -> TokenStream {
    let [marshal, unmarshal, nilable, object_ref] =
        ["Marshal", "Unmarshal", "Nilable", "ObjectRef"].map(|name| scope.name(name));
    let ok = scope.name("Ok");
    let [encoder, decoder, result, option, error] =
        ["Encoder", "Decoder", "Result", "Option", "CdrError"].map(|name| scope.name(name));
    quote! {
        impl #marshal for #name {
            fn marshal(&self, out: &mut #encoder<'_>) -> #result<(), #error> {
                self.0.marshal(out)
            }
        }
        impl #unmarshal for #name {
            const MIN_SIZE: usize = #object_ref::MIN_SIZE;
            fn unmarshal(input: &mut #decoder<'_>) -> #result<Self, #error> {
                #object_ref::unmarshal(input).map(Self)
            }
        }
        impl #nilable for #name {
            fn marshal_nilable(
                this: #option<&Self>,
                out: &mut #encoder<'_>,
            ) -> #result<(), #error> {
                #object_ref::marshal_nilable(this.map(|reference| &reference.0), out)
            }
            fn unmarshal_nilable(
                input: &mut #decoder<'_>,
            ) -> #result<#option<Self>, #error> {
                let object = #object_ref::unmarshal_nilable(input)?;
                #ok(object.map(Self))
            }
        }
    }
}
