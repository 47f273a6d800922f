//! Methods of asynchronous calls (CORBA 3.3 part 2, §22.8 to §22.13): `sendp_` returns a poller
//! that can be polled, waited for and awaited, `sendc_` has a reply handler called, and `_async` is
//! `sendp_` under Rust's usual name.
//!
//! They take the parameters of the operation, copies of which go with the call: it may have to be
//! sent again.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::Direction;
use quote::quote;

use super::call::{Call, Parameter, Value, tuple};
use super::collocated;
use super::reply_handler::{self, HandlerParameter};
use super::request::{marshaling, operation, results};
use crate::Generator;
use crate::docs::doc;
use crate::lints;
use crate::members::sequence;
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

/// Names of a call's asynchronous methods.
pub(super) struct Names {
    polled: String,
    handled: String,
    awaited: String,
}

/// Returns the names, for a call that has a reply. `methods` are those in use.
pub(super) fn names(
    generator: &Generator<'_>,
    call: &Call<'_>,
    methods: &mut Claims,
) -> Option<Names> {
    let is_handler = generator.handlers.is_handler(call.owner.id);
    if call.oneway || !generator.options.asynchronous || is_handler {
        return None;
    }
    let method = &call.method;
    let half = if call.is_getter() { "get_" } else { "" };
    let mut fresh = |prefix: &str| {
        // A name in use gets an `ami_` in between (CORBA 3.3 part 1, §17.6.1).
        let mut name = format!("{prefix}{half}{method}");
        let mut between = String::new();
        while methods.contains(&name) {
            between.push_str("ami_");
            name = format!("{prefix}{between}{half}{method}");
        }
        methods.fresh(&name).to_string()
    };
    let (polled, handled) = (fresh("sendp_"), fresh("sendc_"));
    let awaited = methods.fresh(&format!("{method}_async")).to_string();
    Some(Names {
        polled,
        handled,
        awaited,
    })
}

/// Generates the asynchronous methods of a call.
pub(super) fn generate(scope: &Scope<'_>, call: &Call<'_>, names: &Names) -> TokenStream {
    let [polled, handled, awaited] =
        [&names.polled, &names.handled, &names.awaited].map(|name| ident(name));
    let mut locals = call.locals();
    let handler = locals.fresh("handler");
    let begun = begun(scope, call, &mut locals);
    let (passed, signature) = passed(scope, call);
    let (value, error) = (value(scope, call), call.error_type(scope));
    let poller = scope.name("Poller");
    let object = call.object(scope);
    let HandlerParameter { bound, into } =
        reply_handler::taken(scope, call, &object, &value, &error);
    let count = 1 + call.passed().count() + usize::from(!call.context.is_empty());
    let largest = lints::largest(&scope.generator.facts, call.raises);
    let lints = |name: &Ident, more: usize, largest| {
        let returns = quote!(#poller<#value, #error>);
        lints::method(&name.to_string(), count + more, &returns, largest)
    };
    let (of_polled, of_handled, of_awaited) = (
        lints(&polled, 0, largest),
        lints(&handled, 1, largest),
        lints(&awaited, 0, 0),
    );
    let [doc_polled, doc_handled, doc_awaited] = [
        "without waiting for the reply: what it returns can be polled, waited for and awaited (polling model).",
        "without waiting for the reply, which the handler is given (callback model).",
        "to be awaited; the request is sent at once.",
    ]
    .map(|rest| doc(&[], &format!("As `{}`, {rest}", call.method)));
    let operation = operation(scope, call);
    let object_ref = scope.name("ObjectRef");
    let (begin, begin_handled) = match scope.generator.options.server {
        true => (quote!(begin), quote!(begin_handled)),
        false => (quote!(begin_elsewhere), quote!(begin_handled_elsewhere)),
    };
    let CallStart {
        here,
        own,
        arguments,
        results,
    } = begun;
    quote! {
        #doc_polled
        #of_polled
        pub fn #polled(&self #signature) -> #poller<#value, #error> {
            #operation
            #own
            #object_ref::#begin(#object, OPERATION, #here #arguments, #results)
        }

        #doc_handled
        #of_handled
        pub fn #handled(&self, #handler: impl #bound #signature) {
            #operation
            #own
            #object_ref::#begin_handled(#object, OPERATION, #handler.#into, #here #arguments, #results)
        }

        #doc_awaited
        #of_awaited
        pub fn #awaited(&self #signature) -> #poller<#value, #error> {
            self.#polled(#(#passed),*)
        }
    }
}

/// Parts of the code that begins a call.
struct CallStart {
    /// Closure that calls a servant in this process, followed by a comma.
    here: TokenStream,
    /// Copies of the arguments.
    own: TokenStream,
    arguments: TokenStream,
    results: TokenStream,
}

fn begun(scope: &Scope<'_>, call: &Call<'_>, locals: &mut Claims) -> CallStart {
    let servant = locals.fresh("servant");
    let here = scope.generator.options.server.then(|| {
        let (_, body) = collocated::here(scope, call, &servant, |_| None, locals);
        let servant_trait = scope.companion(call.owner, Companion::Servant);
        quote!(|#servant: &dyn #servant_trait| #body,)
    });
    let (mut own, mut lent) = (Vec::new(), Vec::new());
    for parameter in call.passed() {
        if let Some((copy, loan)) = owned(scope, parameter, locals) {
            own.push(copy);
            lent.push(loan);
        }
    }
    if let Some(name) = call.context_name() {
        let (copy, clone) = (locals.fresh("own_context"), scope.name("Clone"));
        own.push(quote!(let #copy = #clone::clone(#name);));
        lent.push(quote!(let #name = &#copy;));
    }
    let out = locals.fresh("out");
    let (ok, encoder) = (scope.name("Ok"), scope.name("Encoder"));
    let steps = marshaling(scope, call, &out);
    let arguments = if steps.is_empty() {
        quote!(|_| #ok(()))
    } else {
        let body = sequence(steps, &ok);
        quote!(move |#out: &mut #encoder<'_>| { #(#lent)* #body })
    };
    CallStart {
        here: here.unwrap_or_default(),
        own: quote!(#(#own)*),
        arguments,
        results: results(scope, call, locals).closure(&[]),
    }
}

/// Generates a statement that copies an argument, and one that makes the argument refer to the
/// copy; `None` for an argument of a scalar type, which is copied when it is passed.
fn owned(
    scope: &Scope<'_>,
    parameter: &Parameter<'_>,
    locals: &mut Claims,
) -> Option<(TokenStream, TokenStream)> {
    let name = ident(&parameter.name);
    let Value { ty, non_nil } = parameter.value;
    let form = form(scope.generator.spec, ty);
    let is_changed = parameter.direction == Direction::InOut;
    if matches!(form, Form::Scalar) && !is_changed {
        return None;
    }
    let copy = locals.fresh(&format!("own_{}", parameter.name));
    let (option, to_owned) = (scope.name("Option"), scope.name("ToOwned"));
    if matches!(form, Form::Reference | Form::Local) && !non_nil && !is_changed {
        return Some((
            quote!(let #copy = #name.cloned();),
            quote!(let #name = #option::as_ref(&#copy);),
        ));
    }
    let ty = match is_changed {
        true => {
            let owned = scope.owned(ty, non_nil);
            quote!(&#owned)
        }
        false => scope.parameter(ty, non_nil),
    };
    Some((
        quote!(let #copy = #to_owned::to_owned(#name);),
        quote!(let #name: #ty = &#copy;),
    ))
}

/// Returns the names of the parameters that the caller passes, and generates their declarations,
/// each preceded by a comma. `inout` parameters are passed by reference to their value before the
/// call.
fn passed(scope: &Scope<'_>, call: &Call<'_>) -> (Vec<Ident>, TokenStream) {
    let mut names: Vec<Ident> = Vec::new();
    let parameters = call.passed().map(|parameter| {
        let name = ident(&parameter.name);
        let Value { ty, non_nil } = parameter.value;
        let ty = match parameter.direction {
            Direction::InOut => {
                let owned = scope.owned(ty, non_nil);
                quote!(&#owned)
            }
            _ => scope.parameter(ty, non_nil),
        };
        names.push(name.clone());
        quote!(, #name: #ty)
    });
    let parameters: Vec<TokenStream> = parameters.collect();
    let context = call.context_name().map(|name| {
        let ty = scope.name("Context");
        names.push(name.clone());
        quote!(, #name: &#ty)
    });
    (names, quote!(#(#parameters)* #context))
}

/// Generates the type of a call's outcome: its value, or the exception that it raises.
pub(super) fn result(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let (value, error) = (value(scope, call), call.error_type(scope));
    let result = scope.name("Result");
    quote!(#result<#value, #error>)
}

/// Generates the type of a reply's contents: the return value, then `inout` and `out` parameters.
pub(super) fn value(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let values = call
        .returns
        .into_iter()
        .chain(call.replied().map(|p| p.value));
    let types: Vec<TokenStream> = values
        .map(|value| scope.owned(value.ty, value.non_nil))
        .collect();
    tuple(&types)
}
