//! Methods of a reference whose stubs are interpreted: lists of arguments and of result slots,
//! passed to one shared function.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{Annotation, Declaration, Direction};
use quote::quote;

use super::call::{Call, Parameter, Value, tuple};
use super::request::operation;
use crate::Generator;
use crate::codec::Place;
use crate::names::{Claims, ident};
use crate::options::Stubs;
use crate::scope::Scope;
use crate::types::{Form, form};

/// Returns whether an interface's stubs are interpreted.
pub(super) fn is_chosen(generator: &Generator<'_>, declaration: &Declaration) -> bool {
    match Annotation::find(&declaration.annotations, "interpreted") {
        Some(_) => Annotation::is_set(&declaration.annotations, "interpreted"),
        None => generator.options.stubs == Stubs::Interpreted,
    }
}

/// Generates the method of a call.
pub(super) fn method(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let doc = call.doc(scope.generator);
    let signature = call.signature(scope, &quote!(pub));
    let operation = operation(scope, call);
    let arguments = arguments(scope, call);
    let (object_ref, object) = (scope.name("ObjectRef"), call.object(scope));
    let body = if call.oneway {
        quote!(#object_ref::interpret_one_way(#object, &OPERATION, #arguments))
    } else {
        two_way(scope, call, &arguments)
    };
    quote! {
        #doc
        #signature {
            #operation
            #body
        }
    }
}

/// Generates the list of the arguments.
fn arguments(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let mut list: Vec<TokenStream> = call
        .passed()
        .map(|parameter| argument(scope, parameter))
        .collect();
    if let Some(name) = call.context_name() {
        let argument = scope.name("ArgumentOf");
        let patterns = call.context;
        list.push(quote! {
            &#argument::new(|out| #name.marshal_matching(&[#(#patterns),*], out))
        });
    }
    quote!(&[#(#list),*])
}

/// Generates a reference to the object that marshals an argument.
fn argument(scope: &Scope<'_>, parameter: &Parameter<'_>) -> TokenStream {
    let name = ident(&parameter.name);
    let Value { ty, non_nil } = parameter.value;
    let is_inout = parameter.direction == Direction::InOut;
    let form = form(scope.generator.spec, ty);
    if scope.generator.facts.of(ty).is_plain {
        match form {
            Form::Reference if !is_inout && !non_nil => {}
            _ if is_inout => return quote!(&*#name),
            // `&str` and `&[T]` are listed themselves; anything else is behind the reference.
            Form::Scalar | Form::Text | Form::Sequence(_) => return quote!(&#name),
            _ => return quote!(#name),
        }
    }
    let argument = scope.name("ArgumentOf");
    let out = quote!(out);
    let write = if is_inout {
        scope.marshal(ty, non_nil, &Place::mutable(quote!(#name)), &out)
    } else if matches!(form, Form::Reference) && !non_nil {
        let nilable = scope.name("Nilable");
        quote!(#nilable::marshal_nilable(#name, out))
    } else {
        scope.marshal(ty, non_nil, &Place::reference(quote!(#name)), &out)
    };
    quote!(&#argument::new(|out| #write))
}

/// Result: its type, and the variable that it is unmarshaled into.
struct Outcome<'a> {
    value: Value<'a>,
    slot: Ident,
    /// `inout` parameter that the result is assigned to.
    parameter: Option<Ident>,
}

fn two_way(scope: &Scope<'_>, call: &Call<'_>, arguments: &TokenStream) -> TokenStream {
    let mut locals = call.locals();
    let outcomes = outcomes(call, &mut locals);
    let [none, ok, taken] = ["None", "Ok", "taken"].map(|name| scope.name(name));
    let declarations = outcomes
        .iter()
        .map(|Outcome { slot, .. }| quote!(let mut #slot = #none;));
    let slots = outcomes.iter().map(|outcome| slot(scope, outcome));
    let (object_ref, object) = (scope.name("ObjectRef"), call.object(scope));
    let request = if call.raises.is_empty() {
        quote!(#object_ref::interpret(#object, &OPERATION, #arguments, &mut [#(#slots),*]))
    } else {
        scope.use_methods_of("OperationError");
        let error = call.error_type(scope);
        let exceptions = quote!(#error::raised);
        quote!(#object_ref::interpret_raising(#object, &OPERATION, #arguments, &mut [#(#slots),*], #exceptions))
    };
    if outcomes.is_empty() {
        return request;
    }
    let assignments = outcomes.iter().filter_map(|outcome| {
        let (slot, parameter) = (&outcome.slot, outcome.parameter.as_ref()?);
        Some(quote!(*#parameter = #taken(#slot)?;))
    });
    let returned: Vec<TokenStream> = outcomes
        .iter()
        .filter(|outcome| outcome.parameter.is_none())
        .map(|Outcome { slot, .. }| quote!(#taken(#slot)))
        .collect();
    let returned = match returned.as_slice() {
        [only] if call.raises.is_empty() => only.clone(),
        several => {
            let values: Vec<TokenStream> = several.iter().map(|value| quote!(#value?)).collect();
            let values = tuple(&values);
            quote!(#ok(#values))
        }
    };
    quote! {
        #(#declarations)*
        #request?;
        #(#assignments)*
        #returned
    }
}

fn outcomes<'a>(call: &Call<'a>, locals: &mut Claims) -> Vec<Outcome<'a>> {
    let returned = call.returns.map(|value| Outcome {
        value,
        slot: locals.fresh("result"),
        parameter: None,
    });
    let replied: Vec<_> = call
        .replied()
        .map(|parameter| Outcome {
            value: parameter.value,
            slot: locals.fresh(&format!("new_{}", parameter.name)),
            parameter: (parameter.direction == Direction::InOut).then(|| ident(&parameter.name)),
        })
        .collect();
    returned.into_iter().chain(replied).collect()
}

/// Generates a reference to the slot that a result is unmarshaled into.
fn slot(scope: &Scope<'_>, outcome: &Outcome<'_>) -> TokenStream {
    let Outcome { value, slot, .. } = outcome;
    if scope.generator.facts.of(value.ty).is_plain {
        let (option, ty) = (scope.name("Option"), scope.owned(value.ty, value.non_nil));
        return quote!(&mut #slot as &mut #option<#ty>);
    }
    let slot_of = scope.name("ResultSlotOf");
    let read = scope.unmarshaler(value.ty, value.non_nil);
    quote!(&mut #slot_of::new(&mut #slot, #read))
}
