//! Generates a second method, named `…_into`, for each operation that returns strings or sequences:
//! it fills buffers of the caller, and allocates nothing once these are large enough.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::Direction;
use quote::quote;

use super::call::{Call, Value, tuple};
use super::collocated;
use super::request::{Reader, Request, arguments, operation};
use crate::Generator;
use crate::codec::Target;
use crate::docs::doc;
use crate::lints;
use crate::names::{Claims, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

/// Result of a call; results are listed in the order of the reply.
struct Outcome<'a> {
    value: Value<'a>,
    /// Name of the local variable, or of the caller's buffer, that receives the result.
    name: Ident,
    goes: Destination,
}

/// Destination of a result.
enum Destination {
    /// Buffer that the caller passes.
    ToBuffer,
    /// `inout` parameter, assigned once the whole reply has been read.
    ToParameter(Ident),
    /// Return value of the method.
    Back,
}

/// Returns the name of a call's `_into` method, if it has one. `methods` are the names in use.
pub(super) fn name(
    generator: &Generator<'_>,
    call: &Call<'_>,
    methods: &mut Claims,
) -> Option<String> {
    let outs = call.parameters.iter();
    let outs = outs.filter(|parameter| parameter.direction == Direction::Out);
    let values = outs.map(|parameter| parameter.value);
    let fills = values
        .chain(call.returns)
        .any(|value| goes_to_buffer(generator, value));
    fills.then(|| methods.fresh(&format!("{}_into", call.method)).to_string())
}

/// Generates the `_into` method of a call, called `name`.
pub(super) fn generate(scope: &Scope<'_>, call: &Call<'_>, name: &str) -> TokenStream {
    let mut locals = call.locals();
    let results = results(scope, call, &mut locals);
    let signature = signature(scope, call, &ident(name), &results);
    let doc = doc_of(call);
    let operation = operation(scope, call);
    let arguments = arguments(scope, call, &locals);
    let request = Request {
        arguments,
        results: read(scope, &results, &locals),
    };
    let buffer = |place: usize| {
        let result = results.get(place)?;
        matches!(result.goes, Destination::ToBuffer).then(|| result.name.clone())
    };
    let invocation = collocated::two_way(scope, call, &request, buffer, &locals);
    let body = assign(scope, &results, &invocation);
    quote! {
        #doc
        #signature {
            #operation
            #body
        }
    }
}

/// Returns whether a result goes into a buffer of the caller.
fn goes_to_buffer(generator: &Generator<'_>, value: Value<'_>) -> bool {
    matches!(
        form(generator.spec, value.ty),
        Form::Text | Form::Sequence(_)
    )
}

fn results<'a>(scope: &Scope<'_>, call: &Call<'a>, locals: &mut Claims) -> Vec<Outcome<'a>> {
    let goes = |value| {
        if goes_to_buffer(scope.generator, value) {
            Destination::ToBuffer
        } else {
            Destination::Back
        }
    };
    let returned = call.returns.map(|value| Outcome {
        value,
        name: locals.fresh("result"),
        goes: goes(value),
    });
    let replied: Vec<_> = call
        .replied()
        .map(|parameter| {
            let (value, name) = (parameter.value, ident(&parameter.name));
            match parameter.direction {
                Direction::InOut => Outcome {
                    value,
                    name: locals.fresh(&format!("new_{}", parameter.name)),
                    goes: Destination::ToParameter(name),
                },
                _ => Outcome {
                    value,
                    name,
                    goes: goes(value),
                },
            }
        })
        .collect();
    returned.into_iter().chain(replied).collect()
}

/// Generates the parameters of the method, then the buffers; the remaining results are returned.
fn signature(
    scope: &Scope<'_>,
    call: &Call<'_>,
    name: &Ident,
    results: &[Outcome<'_>],
) -> TokenStream {
    let passed = call.passed_signature(scope);
    let (mut buffers, mut types) = (Vec::new(), Vec::new());
    for Outcome { value, name, goes } in results {
        let ty = scope.owned(value.ty, value.non_nil);
        match goes {
            Destination::ToBuffer => buffers.push(quote!(, #name: &mut #ty)),
            Destination::ToParameter(_) => {}
            Destination::Back => types.push(ty),
        }
    }
    let (result, error, value) = (scope.name("Result"), call.error_type(scope), tuple(&types));
    let returns = quote!(#result<#value, #error>);
    let context = usize::from(!call.context.is_empty());
    let count = 1 + call.passed().count() + context + buffers.len();
    let largest = lints::largest(&scope.generator.facts, call.raises);
    let lints = lints::method(&name.to_string(), count, &returns, largest);
    quote!(#lints pub fn #name(&self #passed #(#buffers)*) -> #returns)
}

fn doc_of(call: &Call<'_>) -> TokenStream {
    let sentence = format!(
        "Calls `{}` and writes the results into the caller's buffers, whose memory is reused; after an error they may hold a part.",
        call.method
    );
    doc(&[], &sentence)
}

/// Generates the closure that reads the reply.
fn read(scope: &Scope<'_>, results: &[Outcome<'_>], locals: &Claims) -> Reader {
    let ok = scope.name("Ok");
    let reply = locals.clone().fresh("reply");
    let input = quote!(#reply);
    let into = |result: &Outcome<'_>| {
        scope.unmarshal_into(result.value.ty, &Target::behind(&result.name), &input)
    };
    if let [only] = results {
        let expression = into(only);
        return Reader::new(expression, reply);
    }
    let steps = results.iter().map(|result| match result.goes {
        Destination::ToBuffer => {
            let expression = into(result);
            quote!(#expression?;)
        }
        Destination::ToParameter(_) | Destination::Back => {
            let (name, value) = (&result.name, result.value);
            let expression = scope.unmarshal(value.ty, value.non_nil, &input);
            quote!(let #name = #expression?;)
        }
    });
    let received = tuple(&received(results));
    Reader::new(quote!({ #(#steps)* #ok(#received) }), reply)
}

/// Generates the return value of the closure: all results that it has not written to a buffer.
fn received(results: &[Outcome<'_>]) -> Vec<TokenStream> {
    let kept = results
        .iter()
        .filter(|r| !matches!(r.goes, Destination::ToBuffer));
    kept.map(|Outcome { name, .. }| quote!(#name)).collect()
}

fn assign(scope: &Scope<'_>, results: &[Outcome<'_>], invocation: &TokenStream) -> TokenStream {
    let assignments: Vec<TokenStream> = results
        .iter()
        .filter_map(|Outcome { name, goes, .. }| match goes {
            Destination::ToParameter(parameter) => Some(quote!(*#parameter = #name;)),
            Destination::ToBuffer | Destination::Back => None,
        })
        .collect();
    if assignments.is_empty() {
        return invocation.clone();
    }
    let ok = scope.name("Ok");
    let received = tuple(&received(results));
    let returned: Vec<TokenStream> = results
        .iter()
        .filter(|result| matches!(result.goes, Destination::Back))
        .map(|Outcome { name, .. }| quote!(#name))
        .collect();
    let returned = tuple(&returned);
    quote! {
        let #received = #invocation?;
        #(#assignments)*
        #ok(#returned)
    }
}
