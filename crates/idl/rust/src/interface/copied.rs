//! Collocated calls, made without a request, that pass values of valuetypes: servant and caller see
//! copies, as with a request (CORBA 3.3 part 1, §9.2). Two arguments that share a value share its
//! copy, too; so do results. The factories of the caller's ORB make all copies.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::Direction;
use quote::quote;

use super::call::{Call, Parameter, Value, tuple};
use super::request::{arguments, results};
use super::servant::pass;
use crate::codec::Place;
use crate::members::sequence;
use crate::names::{Claims, Companion};
use crate::scope::Scope;

/// Returns whether the call may pass values of valuetypes.
pub(super) fn passes_values(scope: &Scope<'_>, call: &Call<'_>) -> bool {
    let facts = &scope.generator.facts;
    let passed = call.parameters.iter().map(|p| p.value);
    passed
        .chain(call.returns)
        .any(|value| facts.holds_values(value.ty))
}

/// Generates a call of the servant's method with copies of the arguments, and copies of its
/// results: a block that evaluates to a `Result` of the contents of a reply.
pub(super) fn upcall(
    scope: &Scope<'_>,
    call: &Call<'_>,
    servant: &Ident,
    locals: &Claims,
) -> TokenStream {
    let mut locals = locals.clone();
    let copies: Vec<(&Parameter<'_>, Ident)> = call
        .passed()
        .map(|parameter| (parameter, locals.fresh(&format!("own_{}", parameter.name))))
        .collect();
    let copied = copy_arguments(scope, call, &copies, &locals);
    let passed = copies.iter().map(|(parameter, name)| {
        let is_changed = parameter.direction == Direction::InOut;
        pass(scope, parameter, name, is_changed)
    });
    let context = call.context_name().map(|name| {
        let patterns = call.context;
        quote!(, &#name.matching(&[#(#patterns),*]))
    });
    let servant_trait = scope.companion(call.owner, Companion::Servant);
    let method = call.trait_method(scope.generator);
    let upcall = quote!(#servant_trait::#method(#servant #(, #passed)* #context));
    if call.oneway {
        return quote!({ #copied #upcall });
    }
    let rest = copy_results(scope, call, &copies, &upcall, &mut locals);
    quote!({ #copied #rest })
}

/// Generates copies of all that the caller passes, in one go.
fn copy_arguments(
    scope: &Scope<'_>,
    call: &Call<'_>,
    copies: &[(&Parameter<'_>, Ident)],
    locals: &Claims,
) -> TokenStream {
    if copies.is_empty() {
        return TokenStream::new();
    }
    let ok = scope.name("Ok");
    let write = arguments(scope, call, locals);
    let input = locals.clone().fresh("input");
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (parameter, name) in copies {
        let Value { ty, non_nil } = parameter.value;
        let value = scope.unmarshal(ty, non_nil, &quote!(#input));
        let is_changed = parameter.direction == Direction::InOut;
        names.push(if is_changed {
            quote!(mut #name)
        } else {
            quote!(#name)
        });
        values.push(value);
    }
    let names = tuple(&names);
    let read = match copies {
        [(parameter, _)] => scope.unmarshaler(parameter.value.ty, parameter.value.non_nil),
        _ => quote!(|#input| #ok((#(#values?),*))),
    };
    let (object_ref, object) = (scope.name("ObjectRef"), call.object(scope));
    quote!(let #names = #object_ref::orb(#object).copied(#write, #read)?;)
}

/// Generates the call of the servant, and copies of the results.
fn copy_results(
    scope: &Scope<'_>,
    call: &Call<'_>,
    copies: &[(&Parameter<'_>, Ident)],
    upcall: &TokenStream,
    locals: &mut Claims,
) -> TokenStream {
    let ok = scope.name("Ok");
    let mut received = Vec::new();
    let mut brought = Vec::new();
    if let Some(value) = call.returns {
        let name = locals.fresh("result");
        received.push(quote!(#name));
        brought.push((value, name));
    }
    for parameter in call.replied() {
        let given = copies
            .iter()
            .find(|(passed, _)| passed.name == parameter.name);
        let name = match given {
            Some((_, name)) => name.clone(),
            None => {
                let name = locals.fresh(&format!("new_{}", parameter.name));
                received.push(quote!(#name));
                name
            }
        };
        brought.push((parameter.value, name));
    }
    if brought.is_empty() {
        return upcall.clone();
    }
    let out = locals.fresh("out");
    let steps = brought.iter().map(|(value, name)| {
        let place = Place::value(quote!(#name));
        scope.marshal(value.ty, value.non_nil, &place, &quote!(#out))
    });
    let write = sequence(steps.collect(), &ok);
    let read = results(scope, call, locals).closure(&[]);
    let call_servant = match received.as_slice() {
        [] => quote!(#upcall?;),
        names => {
            let names = tuple(names);
            quote!(let #names = #upcall?;)
        }
    };
    let (object_ref, object) = (scope.name("ObjectRef"), call.object(scope));
    let copied = quote!(#object_ref::orb(#object).copied(|#out| { #write }, #read));
    if call.raises.is_empty() {
        quote!(#call_servant #copied)
    } else {
        // The assignments after the call hide the error's type.
        let assigns = call
            .parameters
            .iter()
            .any(|p| p.direction == Direction::InOut);
        let error = call.error_type(scope);
        let error = assigns.then(|| quote!(::<_, #error>));
        quote!(#call_servant #ok #error(#copied?))
    }
}
