//! Common parts of a request in all methods of a reference, compiled, `…_into` or interpreted: the
//! operation's name, the marshaling of the arguments, the reading of the reply.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::Direction;
use quote::quote;

use super::call::{Call, Parameter, Value};
use super::reference_path::reference_path;
use super::{described, long};
use crate::codec::Place;
use crate::members::sequence;
use crate::names::{Claims, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

/// Writer of a request, and reader of its reply.
pub(super) struct Request {
    /// Closure that marshals the arguments.
    pub(super) arguments: TokenStream,
    pub(super) results: Reader,
}

/// Reader of a reply.
pub(super) struct Reader {
    /// Path of a function, or, if there is a name for the reply, the body of a closure with that
    /// parameter.
    code: TokenStream,
    reply: Option<Ident>,
}

impl Reader {
    /// Makes the reader for a call without a reply.
    pub(super) fn nothing() -> Self {
        Reader {
            code: TokenStream::new(),
            reply: None,
        }
    }

    /// Makes a reader from code that refers to the reply as `reply`.
    pub(super) fn new(code: TokenStream, reply: Ident) -> Self {
        Reader {
            code,
            reply: Some(reply),
        }
    }

    fn function(code: TokenStream) -> Self {
        Reader { code, reply: None }
    }

    /// Generates the closure, with parameters for the buffers and the reply.
    pub(super) fn closure(&self, buffers: &[TokenStream]) -> TokenStream {
        let (code, buffers) = (&self.code, buffers.iter());
        match &self.reply {
            Some(reply) => quote!(|#(#buffers,)* #reply| #code),
            None => code.clone(),
        }
    }
}

/// Generates the constant that names the operation.
pub(super) fn operation(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let (operation, wire_name) = (scope.name("Operation"), &call.wire_name);
    let kind = if call.oneway {
        quote!(one_way)
    } else {
        quote!(two_way)
    };
    let of = described::is_chosen(scope.generator).then(|| {
        let interface = reference_path(scope, call.owner);
        quote!(.of::<#interface>())
    });
    quote!(const OPERATION: #operation = #operation::#kind(#wire_name)#of;)
}

/// Generates the reference to the operation that a call is given: with the arguments that may be long, sequences of octets and
/// numbers, which then are sent from the caller's memory.
pub(super) fn called_operation(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let spec = scope.generator.spec;
    let may_be_long = |parameter: &&Parameter<'_>| {
        parameter.direction == Direction::In
            && long::bound_if_long(spec, parameter.value.ty).is_some()
    };
    let arguments = call.passed().filter(may_be_long).map(|parameter| {
        let name = ident(&parameter.name);
        quote!(.lending(#name))
    });
    quote!(&OPERATION #(#arguments)*)
}

/// Generates the closure that marshals the arguments.
pub(super) fn arguments(scope: &Scope<'_>, call: &Call<'_>, locals: &Claims) -> TokenStream {
    let out = locals.clone().fresh("out");
    let steps = marshaling(scope, call, &out);
    let ok = scope.name("Ok");
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

/// Generates the marshaling of the arguments, one after the other.
pub(super) fn marshaling(scope: &Scope<'_>, call: &Call<'_>, out: &Ident) -> Vec<TokenStream> {
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
    steps
}

/// Generates the unmarshaling of the results: the return value, then inout and out parameters.
pub(super) fn results(scope: &Scope<'_>, call: &Call<'_>, locals: &Claims) -> Reader {
    let ok = scope.name("Ok");
    let values: Vec<Value<'_>> = call
        .returns
        .into_iter()
        .chain(call.replied().map(|p| p.value))
        .collect();
    if let [value] = values.as_slice()
        && scope.generator.facts.of(value.ty).is_plain
    {
        return Reader::function(scope.unmarshal_function(value.ty, value.non_nil));
    }
    if values.is_empty() {
        return Reader::function(quote!(|_| #ok(())));
    }
    let reply = locals.clone().fresh("reply");
    let decoder = quote!(#reply);
    let expressions: Vec<TokenStream> = values
        .iter()
        .map(|value| scope.unmarshal(value.ty, value.non_nil, &decoder))
        .collect();
    let body = match expressions.as_slice() {
        [one] => quote!(#one),
        several => quote!(#ok((#(#several?),*))),
    };
    Reader::new(body, reply)
}
