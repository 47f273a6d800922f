//! The parts of a request that all methods of a reference have in common, be they compiled, `_into` twins or
//! interpreted: the operation's name, what marshals the arguments, what reads the reply.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::Direction;
use quote::quote;

use super::call::{Call, Value};
use super::described;
use super::reference::reference_path;
use crate::codec::Place;
use crate::members::sequence;
use crate::names::{Claims, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

/// What writes a request, and what reads its reply.
pub(super) struct Request {
    /// A closure.
    pub(super) arguments: TokenStream,
    pub(super) results: Reader,
}

/// What reads a reply.
pub(super) struct Reader {
    /// A function, or the body of a closure with the parameter.
    code: TokenStream,
    reply: Option<Ident>,
}

impl Reader {
    /// Where there is no reply.
    pub(super) fn nothing() -> Self {
        Reader {
            code: TokenStream::new(),
            reply: None,
        }
    }

    /// The reply is read by this code, as `reply`.
    pub(super) fn new(code: TokenStream, reply: Ident) -> Self {
        Reader {
            code,
            reply: Some(reply),
        }
    }

    fn function(code: TokenStream) -> Self {
        Reader { code, reply: None }
    }

    /// What is given these, then the reply.
    pub(super) fn closure(&self, buffers: &[TokenStream]) -> TokenStream {
        let (code, buffers) = (&self.code, buffers.iter());
        match &self.reply {
            Some(reply) => quote!(|#(#buffers,)* #reply| #code),
            None => code.clone(),
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
    let of = described::is_chosen(scope.generator).then(|| {
        let interface = reference_path(scope, call.owner);
        quote!(.of::<#interface>())
    });
    quote!(const OPERATION: #operation = #operation::#kind(#wire_name)#of;)
}

/// The closure that marshals the arguments.
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

/// What marshals the arguments one after the other.
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

/// What unmarshals the results: the return value, then inout and out parameters.
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
