//! A call without a request, which a reference tries first: the servant's own method, where the object is
//! one of this process.
//!
//! An `inout` parameter is given to the servant as a copy, so that the caller's stays as it is when the call
//! fails; it is assigned where the results of a request are.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::Direction;
use quote::quote;

use super::call::{Call, tuple};
use super::copied;
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;

/// A call that has a reply: without a request, or else by one. Either gives what a reply brings, in its order,
/// but for what goes into buffers.
///
/// `buffer` names the caller's buffer for each of these, if it has one.
pub(super) fn two_way(
    scope: &Scope<'_>,
    call: &Call<'_>,
    request: &TokenStream,
    buffer: impl Fn(usize) -> Option<Ident>,
    locals: &Claims,
) -> TokenStream {
    let mut locals = locals.clone();
    let servant = locals.fresh("servant");
    if copied::passes_values(scope, call) {
        // What goes into buffers of the caller is copied by a request as well.
        if (0..call.parameters.len() + 1).any(|place| buffer(place).is_some()) {
            return request.clone();
        }
        let body = copied::upcall(scope, call, &servant, &locals);
        return or_else(scope, call, &[], (&servant, &body), request);
    }
    let returned = call.returns.map(|_| (None, locals.fresh("result")));
    let replied = call.replied().map(|parameter| {
        let given = (parameter.direction == Direction::InOut).then(|| ident(&parameter.name));
        (given, locals.fresh(&format!("new_{}", parameter.name)))
    });
    let brought: Vec<(Option<Ident>, Ident)> = returned.into_iter().chain(replied).collect();

    let clone = scope.name("Clone");
    let (mut copies, mut results) = (Vec::new(), Vec::new());
    let (mut buffers, mut fills, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (place, (given, new)) in brought.iter().enumerate() {
        match given {
            Some(given) => copies.push(quote!(let mut #new = #clone::clone(#given);)),
            None => results.push(quote!(#new)),
        }
        match buffer(place) {
            Some(buffer) => {
                fills.push(quote!(*#buffer = #new;));
                buffers.push(quote!(#buffer));
            }
            None => kept.push(quote!(#new)),
        }
    }
    let copy_of = |name: &Ident| {
        let copy = brought
            .iter()
            .find(|(given, _)| given.as_ref() == Some(name));
        copy.map(|(_, new)| new)
    };
    let upcall = upcall(scope, call, &servant, copy_of);
    let results = tuple(&results);
    let kept = match kept.as_slice() {
        [] if !fills.is_empty() => TokenStream::new(),
        kept => tuple(kept),
    };
    let body = match (copies.as_slice(), fills.as_slice()) {
        ([], []) => upcall,
        ([], _) => quote!(#upcall.map(|#results| { #(#fills)* #kept })),
        (_, []) => quote!({ #(#copies)* #upcall.map(|#results| #kept) }),
        _ => quote!({ #(#copies)* #upcall.map(|#results| { #(#fills)* #kept }) }),
    };
    or_else(scope, call, &buffers, (&servant, &body), request)
}

/// A call that has none: nobody hears what becomes of it.
pub(super) fn one_way(scope: &Scope<'_>, call: &Call<'_>, request: &TokenStream) -> TokenStream {
    let mut locals = call.locals();
    let servant = locals.fresh("servant");
    if copied::passes_values(scope, call) {
        let body = copied::upcall(scope, call, &servant, &locals);
        return or_else(scope, call, &[], (&servant, &body), request);
    }
    let upcall = upcall(scope, call, &servant, |_| None);
    or_else(scope, call, &[], (&servant, &upcall), request)
}

/// The call without a request, or else the request. Either may fill the buffers, and so is given them.
fn or_else(
    scope: &Scope<'_>,
    call: &Call<'_>,
    buffers: &[TokenStream],
    (servant, body): (&Ident, &TokenStream),
    request: &TokenStream,
) -> TokenStream {
    if !scope.generator.options.server {
        return request.clone();
    }
    let servant_trait = scope.companion(call.owner, Companion::Servant);
    let parameter = quote!(#servant: &dyn #servant_trait);
    if call.oneway {
        return quote!(self.0.call_one_way(&OPERATION, |#parameter| #body, || #request));
    }
    if buffers.is_empty() {
        return quote!(self.0.call(&OPERATION, |#parameter| #body, || #request));
    }
    let buffers = tuple(buffers);
    quote! {
        self.0.call_into(&OPERATION, #buffers, |#buffers, #parameter| #body, |#buffers| #request)
    }
}

/// The servant's own method.
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
