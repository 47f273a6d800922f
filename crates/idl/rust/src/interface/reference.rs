//! The typed object reference of an interface, with a method for each call.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclKind, Declaration, Direction, InterfaceFlavour};
use quote::quote;

use super::call::{self, Call, Value, tuple};
use super::{collocated, errors, interpreted, twin};
use crate::Generator;
use crate::codec::Place;
use crate::docs::doc_after;
use crate::members::sequence;
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

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

/// The constant that names the operation.
pub(super) fn operation(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let (operation, wire_name) = (scope.name("Operation"), &call.wire_name);
    let kind = if call.oneway {
        quote!(one_way)
    } else {
        quote!(two_way)
    };
    quote!(const OPERATION: #operation = #operation::#kind(#wire_name);)
}

/// The closure that marshals the arguments.
pub(super) fn arguments(scope: &Scope<'_>, call: &Call<'_>, locals: &Claims) -> TokenStream {
    let ok = scope.name("Ok");
    let out = locals.clone().fresh("out");
    let encoder = quote!(#out);
    let mut steps: Vec<TokenStream> = call
        .passed()
        .map(|parameter| {
            let name = ident(&parameter.name);
            let Value { ty, non_nil } = parameter.value;
            let may_be_nil = matches!(form(scope.generator.spec, ty), Form::Reference) && !non_nil;
            if parameter.direction == Direction::InOut {
                return scope.marshal(ty, non_nil, &Place::mutable(quote!(#name)), &encoder);
            }
            if may_be_nil {
                let nilable = scope.name("Nilable");
                return quote!(#nilable::marshal_nilable(#name, #encoder));
            }
            scope.marshal(ty, non_nil, &Place::reference(quote!(#name)), &encoder)
        })
        .collect();
    if let Some(name) = call.context_name() {
        let patterns = call.context;
        steps.push(quote!(#name.marshal_matching(&[#(#patterns),*], #encoder)));
    }
    if steps.is_empty() {
        return quote!(|_| #ok(()));
    }
    let only_one = steps.len() == 1;
    let body = sequence(steps, &ok);
    if only_one {
        quote!(|#out| #body)
    } else {
        quote!(|#out| { #body })
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

/// The call itself, as a request.
pub(super) fn invocation(
    scope: &Scope<'_>,
    call: &Call<'_>,
    arguments: &TokenStream,
    results: &TokenStream,
    locals: &Claims,
) -> TokenStream {
    if call.raises.is_empty() {
        quote!(self.0.invoke(&OPERATION, #arguments, #results))
    } else {
        let exceptions = exceptions(scope, call, locals);
        quote!(self.0.invoke_raising(&OPERATION, #arguments, #results, #exceptions))
    }
}

/// What unmarshals the results: the return value, then inout and out parameters.
pub(super) fn results(scope: &Scope<'_>, call: &Call<'_>, locals: &Claims) -> TokenStream {
    let ok = scope.name("Ok");
    let values: Vec<Value<'_>> = call
        .returns
        .into_iter()
        .chain(call.replied().map(|p| p.value))
        .collect();
    if let [value] = values.as_slice()
        && scope.generator.facts.of(value.ty).is_plain
    {
        return scope.unmarshal_function(value.ty, value.non_nil);
    }
    if values.is_empty() {
        return quote!(|_| #ok(()));
    }
    let reply = locals.clone().fresh("reply");
    let decoder = quote!(#reply);
    let expressions: Vec<TokenStream> = values
        .iter()
        .map(|value| scope.unmarshal(value.ty, value.non_nil, &decoder))
        .collect();
    match expressions.as_slice() {
        [one] => quote!(|#reply| #one),
        several => quote!(|#reply| #ok((#(#several?),*))),
    }
}

/// The closure that unmarshals a user exception, by its repository id.
pub(super) fn exceptions(scope: &Scope<'_>, call: &Call<'_>, locals: &Claims) -> TokenStream {
    let [ok, some, none] = ["Ok", "Some", "None"].map(|name| scope.name(name));
    scope.use_methods_of("UserException");
    scope.use_methods_of("Unmarshal");
    let error = call.error_type(scope);
    let mut locals = locals.clone();
    let (id, reply) = (locals.fresh("id"), locals.fresh("reply"));
    let arms = errors::variants(scope.generator, call.raises)
        .into_iter()
        .map(|(exception, variant)| {
            let exception = scope.path(exception);
            quote! {
                #exception::REPOSITORY_ID => {
                    #exception::unmarshal(#reply).map(#error::#variant).map(#some)
                }
            }
        });
    quote!(|#id, #reply| match #id {
        #(#arms)*
        _ => #ok(#none),
    })
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
