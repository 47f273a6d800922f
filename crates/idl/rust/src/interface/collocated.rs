//! Calls without a request, which a reference tries first: the servant's own method, where the
//! object is in this process.
//!
//! An `inout` parameter is given to the servant as a copy, so that the caller's stays unchanged
//! when the call fails; it is assigned where the results of a request are.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::Direction;
use quote::quote;

use super::call::{Call, tuple};
use super::copied;
use super::request::{Reader, Request, called_operation};
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;

/// Generates a two-way call: a direct call of a servant in this process, or otherwise a request.
/// Both return the results in the order of a reply, except those written to buffers of the caller.
///
/// `buffer` returns the name of the caller's buffer for a result, if the result has one.
pub(super) fn two_way(
    scope: &Scope<'_>,
    call: &Call<'_>,
    request: &Request,
    buffer: impl Fn(usize) -> Option<Ident>,
    locals: &Claims,
) -> TokenStream {
    let mut locals = locals.clone();
    let servant = locals.fresh("servant");
    // Results for the caller's buffers are copied by a request as well.
    if copied::passes_values(scope, call)
        && (0..call.parameters.len() + 1).any(|place| buffer(place).is_some())
    {
        return invocation(scope, call, request);
    }
    let (buffers, body) = here(scope, call, &servant, buffer, &locals);
    or_else(scope, call, &buffers, (&servant, &body), request)
}

/// Generates the code that calls the servant directly and returns the results, except those written
/// to buffers of the caller; also returns these buffers.
pub(super) fn here(
    scope: &Scope<'_>,
    call: &Call<'_>,
    servant: &Ident,
    buffer: impl Fn(usize) -> Option<Ident>,
    locals: &Claims,
) -> (Vec<TokenStream>, TokenStream) {
    if copied::passes_values(scope, call) {
        return (Vec::new(), copied::upcall(scope, call, servant, locals));
    }
    let mut locals = locals.clone();
    let returned = call.returns.map(|_| (None, locals.fresh("result")));
    let replied = call.replied().map(|parameter| {
        let given = (parameter.direction == Direction::InOut).then(|| ident(&parameter.name));
        (given, locals.fresh(&format!("new_{}", parameter.name)))
    });
    let brought: Vec<(Option<Ident>, Ident)> = returned.into_iter().chain(replied).collect();

    let clone = scope.name("Clone");
    let (mut copies, mut results) = (Vec::new(), Vec::new());
    let (mut buffers, mut declared, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (place, (given, new)) in brought.iter().enumerate() {
        let buffer = buffer(place);
        match (given, &buffer) {
            (Some(given), _) => copies.push(quote!(let mut #new = #clone::clone(#given);)),
            (None, Some(buffer)) => results.push(quote!(*#buffer)),
            (None, None) => {
                declared.push(quote!(let #new;));
                results.push(quote!(#new));
            }
        }
        match buffer {
            Some(buffer) => buffers.push(quote!(#buffer)),
            None => kept.push(quote!(#new)),
        }
    }
    let copy_of = |name: &Ident| {
        let copy = brought
            .iter()
            .find(|(given, _)| given.as_ref() == Some(name));
        copy.map(|(_, new)| new)
    };
    let upcall = upcall(scope, call, servant, copy_of);
    let (results, kept) = (tuple(&results), tuple(&kept));
    let body = match (copies.is_empty(), buffers.is_empty()) {
        (true, true) => upcall,
        (false, true) => quote!({ #(#copies)* #upcall.map(|#results| #kept) }),
        (_, false) => {
            let (ok, error) = (scope.name("Ok"), call.error_type(scope));
            // The assignments after the call hide the error's type.
            let error = (!copies.is_empty()).then(|| quote!(::<_, #error>));
            quote!({ #(#copies)* #(#declared)* #results = #upcall?; #ok #error(#kept) })
        }
    };
    (buffers, body)
}

/// Generates a one-way call, whose outcome is ignored.
pub(super) fn one_way(scope: &Scope<'_>, call: &Call<'_>, arguments: TokenStream) -> TokenStream {
    let mut locals = call.locals();
    let servant = locals.fresh("servant");
    let upcall = if copied::passes_values(scope, call) {
        copied::upcall(scope, call, &servant, &locals)
    } else {
        upcall(scope, call, &servant, |_| None)
    };
    let request = Request {
        arguments,
        results: Reader::nothing(),
    };
    or_else(scope, call, &[], (&servant, &upcall), &request)
}

/// Generates the direct call of a servant in this process, with the request as the alternative for
/// any other object. The caller's buffers are passed to both, since either may fill them.
fn or_else(
    scope: &Scope<'_>,
    call: &Call<'_>,
    buffers: &[TokenStream],
    (servant, body): (&Ident, &TokenStream),
    request: &Request,
) -> TokenStream {
    if !scope.generator.options.server {
        return invocation(scope, call, request);
    }
    let servant_trait = scope.companion(call.owner, Companion::Servant);
    let parameter = quote!(#servant: &dyn #servant_trait);
    let (object_ref, object) = (scope.name("ObjectRef"), call.object(scope));
    let (operation, arguments) = (called_operation(scope, call), &request.arguments);
    if call.oneway {
        return quote!(#object_ref::call_one_way(#object, #operation, |#parameter| #body, #arguments));
    }
    if buffers.is_empty() {
        let results = request.results.closure(&[]);
        return quote!(#object_ref::call(#object, #operation, |#parameter| #body, #arguments, #results));
    }
    let buffers = tuple(buffers);
    let results = request.results.closure(std::slice::from_ref(&buffers));
    quote! {
        #object_ref::call_into(#object, #operation, #buffers, |#buffers, #parameter| #body, #arguments, #results)
    }
}

/// Generates the request alone, without a direct call.
fn invocation(scope: &Scope<'_>, call: &Call<'_>, request: &Request) -> TokenStream {
    let (object_ref, object) = (scope.name("ObjectRef"), call.object(scope));
    let operation = called_operation(scope, call);
    let (arguments, results) = (&request.arguments, request.results.closure(&[]));
    if call.oneway {
        return quote!(#object_ref::send(#object, #operation, #arguments));
    }
    if call.raises.is_empty() {
        return quote!(#object_ref::invoke(#object, #operation, #arguments, #results));
    }
    scope.use_methods_of("OperationError");
    let error = call.error_type(scope);
    quote!(#object_ref::invoke_raising(#object, #operation, #arguments, #results, #error::raised))
}

/// Generates the direct call of the servant's method.
fn upcall<'n>(
    scope: &Scope<'_>,
    call: &Call<'_>,
    servant: &Ident,
    copy_of: impl Fn(&Ident) -> Option<&'n Ident>,
) -> TokenStream {
    let passed = call.passed().map(|parameter| {
        let name = ident(&parameter.name);
        match copy_of(&name) {
            Some(copy) => quote!(, &mut #copy),
            None => quote!(, #name),
        }
    });
    let context = call.context_name().map(|name| {
        let patterns = call.context;
        quote!(, &#name.matching(&[#(#patterns),*]))
    });
    let servant_trait = scope.companion(call.owner, Companion::Servant);
    let method = call.trait_method(scope.generator);
    quote!(#servant_trait::#method(#servant #(#passed)* #context))
}
