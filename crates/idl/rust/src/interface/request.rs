//! The parts of a request that all methods of a reference have in common, be they compiled, `_into` twins or
//! interpreted: the operation's name, what marshals the arguments, what reads the reply.

use proc_macro2::TokenStream;
use punctual_idl::model::Direction;
use quote::quote;

use super::call::{Call, Value};
use super::errors;
use crate::codec::Place;
use crate::members::sequence;
use crate::names::{Claims, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

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
