//! The skeleton: a request's arguments to a servant's method, its results to the reply.

use proc_macro2::{Ident, Literal, TokenStream};
use punctual_idl::model::{DeclId, Declaration, Direction};
use quote::quote;

use super::bases::Bases;
use super::call::{self, Call, Parameter, Value, tuple};
use super::reference::reference_path;
use super::servant::pass;
use super::{dispatch, errors};
use crate::codec::Place;
use crate::layout::Piece;
use crate::members::sequence;
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

/// The skeleton of an interface whose objects are activated, and what answers its operations.
pub(crate) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let (generator, spec) = (scope.generator, scope.generator.spec);
    let name = ident(generator.names.item(declaration.id));
    let named = |companion| ident(generator.names.companion(declaration.id, companion));
    let (skeleton, servant) = (named(Companion::Skeleton), named(Companion::Servant));
    let ancestors = spec.ancestors(declaration.id).into_iter().rev();
    let views = [declaration.id]
        .into_iter()
        .chain(ancestors)
        .map(|id| scope.companion(&spec[id], Companion::Servant));
    let skeleton_of = scope.name("skeleton");
    let answers = answers(scope, declaration);
    quote! {
        #skeleton_of!(#name, #skeleton, #servant, [#(#views),*]);
        #answers
    }
}

/// What answers the operations of an abstract interface, for the skeletons of those that derive from it.
pub(super) fn of_abstract(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let names = &scope.generator.names;
    let skeleton = ident(names.companion(declaration.id, Companion::Skeleton));
    let generic = scope.generic("T");
    let answers = answers(scope, declaration);
    quote! {
        struct #skeleton<#generic>(::std::marker::PhantomData<#generic>);
        #answers
    }
}

/// The operations by their names and numbers, and what answers each that is the interface's own.
fn answers(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let (generator, spec) = (scope.generator, scope.generator.spec);
    let reference = reference_path(scope, declaration);
    let [operations, answers, answer] =
        ["Operations", "Answers", "Answer"].map(|name| scope.name(name));
    let named = |companion| ident(generator.names.companion(declaration.id, companion));
    let (skeleton, servant) = (named(Companion::Skeleton), named(Companion::Servant));
    let generic = scope.generic("T");
    let calls = call::own(generator, declaration.id);

    let bases = Bases::of(spec, declaration.id);
    let path = |base: DeclId| reference_path(scope, &spec[base]);
    let (names_of_bases, answers_of_bases) = bases
        .first()
        .map(|first| {
            let others: Vec<_> = bases.others.iter().copied().map(path).collect();
            let bases = quote!([#(#others),*]);
            let first = path(first);
            let [names, answers] =
                ["inherited_operations", "inherited_answers"].map(|name| scope.name(name));
            (
                quote!(#names!(#reference, [#first], #bases);),
                quote!(#answers!(#generic, [#first], #bases);),
            )
        })
        .unzip();
    let names = calls
        .iter()
        .map(|call| Literal::string(&call.wire_name).to_string());
    let names: Vec<String> = names.collect();
    let methods = calls
        .iter()
        .map(|call| format!("{skeleton}::{}", call.method_ident()));
    let methods: Vec<String> = methods.collect();
    let search = search(scope, &calls, &skeleton);
    let parameter = match calls.is_empty() {
        true => quote!(_),
        false => quote!(operation),
    };
    let option = scope.name("Option");
    let own = (!calls.is_empty()).then(|| {
        let methods = scope.each_laid_out(Piece::Methods, &calls, |scope, call| {
            let (name, body) = (call.method_ident(), arm(scope, call));
            let generic = scope.generic("T");
            let [answered, call_type] = ["Answered", "ServerCall"].map(|name| scope.name(name));
            quote! {
                fn #name(servant: &#generic, call: &mut #call_type<'_>) -> #answered #body
            }
        });
        quote!(impl<#generic: #servant> #skeleton<#generic> { #methods })
    });
    let own_names = scope.laid_out_list(
        quote!(
            const OWN: &'static [&'static str] = &[];
        ),
        &names,
    );
    let own_answers = scope.laid_out_list(
        quote!(const OWN_ANSWERS: &'static [#answer<#generic>] = &[];),
        &methods,
    );
    let find_own = quote! {
        #[inline]
        fn find_own(#parameter: &str) -> #option<#answer<#generic>> { #search }
    };
    let find_own = scope.laid_out(Piece::Methods, find_own);
    quote! {
        impl #operations for #reference {
            #own_names
            #names_of_bases
        }
        impl<#generic: #servant> #answers<#generic> for #reference {
            #own_answers
            #find_own
            #answers_of_bases
        }
        #own
    }
}

/// From an operation's name to what answers it, among the interface's own.
fn search(scope: &Scope<'_>, calls: &[Call<'_>], skeleton: &Ident) -> TokenStream {
    let [some, none] = ["Some", "None"].map(|name| scope.name(name));
    let some = some.to_string().replace(' ', "");
    let arms = calls
        .iter()
        .map(|call| {
            let method = call.method_ident();
            let answer = format!("{some}({skeleton}::{method})");
            (call.wire_name.as_str(), answer)
        })
        .collect();
    dispatch::generate(scope, arms, &none)
}

/// One operation: arguments, upcall, reply.
fn arm(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let mut locals = Claims::default();
    locals.reserve("call");
    locals.reserve("servant");
    let names: Vec<Ident> = call
        .parameters
        .iter()
        .map(|parameter| locals.fresh(&parameter.name))
        .collect();
    let named: Vec<(&Parameter<'_>, &Ident)> = call.parameters.iter().zip(&names).collect();
    let context = (!call.context.is_empty()).then(|| locals.fresh("context"));

    let mut arguments: Vec<TokenStream> = named
        .iter()
        .filter(|(parameter, _)| parameter.direction != Direction::Out)
        .map(|(parameter, name)| argument(scope, parameter, name))
        .collect();
    let mut passed: Vec<TokenStream> = named
        .iter()
        .filter(|(parameter, _)| parameter.direction != Direction::Out)
        .map(|(parameter, name)| pass(scope, parameter, name))
        .collect();
    if let Some(name) = &context {
        let ty = scope.name("Context");
        scope.use_methods_of("Unmarshal");
        arguments.push(quote!(let #name = #ty::unmarshal(call.arguments())?;));
        passed.push(quote!(&#name));
    }

    let returned = call.returns.map(|value| (value, locals.fresh("result")));
    let outs = named
        .iter()
        .filter(|(parameter, _)| parameter.direction == Direction::Out)
        .map(|(_, name)| quote!(#name));
    let received: Vec<TokenStream> = returned
        .iter()
        .map(|(_, name)| quote!(#name))
        .chain(outs)
        .collect();
    let replied: Vec<(Value<'_>, &Ident)> = returned
        .iter()
        .map(|(value, name)| (*value, name))
        .chain(
            named
                .iter()
                .filter(|(parameter, _)| parameter.direction != Direction::In)
                .map(|(parameter, name)| (parameter.value, *name)),
        )
        .collect();

    let reply = reply(scope, &replied, &mut locals);
    let servant = scope.companion(call.owner, Companion::Servant);
    let method = call.trait_method(scope.generator);
    let upcall = quote!(#servant::#method(servant #(, #passed)*));
    let rest = if call.raises.is_empty() {
        let upcall = if received.is_empty() {
            quote!(#upcall?;)
        } else {
            let received = tuple(&received);
            quote!(let #received = #upcall?;)
        };
        quote!(#upcall #reply)
    } else {
        answer(scope, call, &upcall, &tuple(&received), &reply)
    };
    quote!({ #(#arguments)* #rest })
}

/// Unmarshals an argument into a local: a view of the request where it can be one.
fn argument(scope: &Scope<'_>, parameter: &Parameter<'_>, name: &Ident) -> TokenStream {
    let Value { ty, non_nil } = parameter.value;
    let input = quote!(call.arguments());
    if parameter.direction == Direction::InOut {
        let value = scope.unmarshal(ty, non_nil, &input);
        return quote!(let mut #name = #value?;);
    }
    let value = match form(scope.generator.spec, ty) {
        Form::Text | Form::Sequence(_) => scope.unmarshal_view(ty, &input),
        _ => scope.unmarshal(ty, non_nil, &input),
    };
    quote!(let #name = #value?;)
}

/// Marshals the results: the return value, then inout and out parameters.
fn reply(scope: &Scope<'_>, replied: &[(Value<'_>, &Ident)], locals: &mut Claims) -> TokenStream {
    let ok = scope.name("Ok");
    let out = locals.fresh("out");
    let steps: Vec<TokenStream> = replied
        .iter()
        .map(|(value, name)| {
            let place = Place::value(quote!(#name));
            scope.marshal(value.ty, value.non_nil, &place, &quote!(#out))
        })
        .collect();
    match steps.as_slice() {
        [] => quote!(call.reply(|_| #ok(()))),
        [one] => quote!(call.reply(|#out| #one)),
        _ => {
            let body = sequence(steps, &ok);
            quote!(call.reply(|#out| { #body }))
        }
    }
}

/// The results, or the exception that was raised instead.
fn answer(
    scope: &Scope<'_>,
    call: &Call<'_>,
    upcall: &TokenStream,
    received: &TokenStream,
    reply: &TokenStream,
) -> TokenStream {
    let [ok, err] = ["Ok", "Err"].map(|name| scope.name(name));
    let error = call.error_type(scope);
    let raised = errors::variants(scope.generator, call.raises)
        .into_iter()
        .map(|(_, variant)| quote!(#err(#error::#variant(exception)) => call.raise(&exception),));
    quote! {
        match #upcall {
            #ok(#received) => #reply,
            #(#raised)*
            #err(#error::System(exception)) => #err(exception.into()),
        }
    }
}
