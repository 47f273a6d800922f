//! Generates skeletons. A skeleton passes a request's arguments to a servant's method, and the
//! method's results to the reply.

use proc_macro2::{Ident, Literal, TokenStream};
use punctual_idl::model::{DeclId, Declaration, Direction, InterfaceFlavour};
use quote::quote;

use super::bases::Bases;
use super::call::{self, Call, Parameter, Value, tuple};
use super::reference_path::reference_path;
use super::servant::pass;
use super::{deferred, dispatch, errors, long};
use crate::codec::Place;
use crate::layout::Piece;
use crate::members::sequence;
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;
use crate::types::{Form, form, number};

/// Generates the skeleton of an interface whose objects are activated, and the dispatch of its
/// operations.
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
    let answers = answers(scope, declaration, AnswerTime::Before);
    quote! {
        #skeleton_of!(#name, #skeleton, #servant, [#(#views),*]);
        #answers
    }
}

/// Generates the dispatch of an abstract interface's operations, for the skeletons of derived
/// interfaces.
pub(super) fn of_abstract(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let names = &scope.generator.names;
    let skeleton = ident(names.companion(declaration.id, Companion::Skeleton));
    let generic = scope.generic("T");
    let answers = answers(scope, declaration, AnswerTime::Before);
    quote! {
        struct #skeleton<#generic>(::std::marker::PhantomData<#generic>);
        #answers
    }
}

/// Generates the skeleton of an interface for servants that answer later; for an abstract one, the
/// part for derived interfaces.
pub(super) fn of_later(
    scope: &Scope<'_>,
    declaration: &Declaration,
    flavour: InterfaceFlavour,
) -> TokenStream {
    let (generator, spec) = (scope.generator, scope.generator.spec);
    let named = |companion| ident(generator.names.companion(declaration.id, companion));
    let (skeleton, servant) = (named(Companion::AmhSkeleton), named(Companion::AmhServant));
    let skeleton = if flavour == InterfaceFlavour::Plain {
        let name = ident(generator.names.item(declaration.id));
        let ancestors = spec.ancestors(declaration.id).into_iter().rev();
        let views = [declaration.id]
            .into_iter()
            .chain(ancestors)
            .map(|id| scope.companion(&spec[id], Companion::Servant));
        let skeleton_of = scope.name("amh_skeleton");
        quote!(#skeleton_of!(#name, #skeleton, #servant, [#(#views),*]);)
    } else {
        let generic = scope.generic("T");
        quote!(struct #skeleton<#generic>(::std::marker::PhantomData<#generic>);)
    };
    let answers = answers(scope, declaration, AnswerTime::Later);
    quote!(#skeleton #answers)
}

/// Time of a servant's answer: before its method returns, or later.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerTime {
    Before,
    Later,
}

impl AnswerTime {
    /// Returns the companions: the skeleton and the servant's trait.
    fn companions(self) -> (Companion, Companion) {
        match self {
            Self::Before => (Companion::Skeleton, Companion::Servant),
            Self::Later => (Companion::AmhSkeleton, Companion::AmhServant),
        }
    }

    /// Returns whether the servant changes a parameter in place. Servants that answer later return
    /// new values among the results.
    fn changes(self, parameter: &Parameter<'_>) -> bool {
        self == Self::Before && parameter.direction == Direction::InOut
    }

    /// Generates the object that a skeleton calls, for a servant of that type.
    fn servant(self, scope: &Scope<'_>, generic: &Ident) -> TokenStream {
        match self {
            Self::Before => quote!(#generic),
            Self::Later => {
                let amh = scope.name("Amh");
                quote!(#amh<#generic>)
            }
        }
    }
}

/// Generates the table of an interface's operations by name and number, and the code that answers
/// requests for each operation that the interface does not inherit.
fn answers(scope: &Scope<'_>, declaration: &Declaration, when: AnswerTime) -> TokenStream {
    let (generator, spec) = (scope.generator, scope.generator.spec);
    let reference = reference_path(scope, declaration);
    let [operations, answers, answer] =
        ["Operations", "Answers", "Answer"].map(|name| scope.name(name));
    let named = |companion| ident(generator.names.companion(declaration.id, companion));
    let (skeleton, servant) = when.companions();
    let (skeleton, servant) = (named(skeleton), named(servant));
    let generic = scope.generic("T");
    let answered_by = when.servant(scope, &generic);
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
                quote!(#answers!(#answered_by, [#first], #bases);),
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
            let (name, body) = (call.method_ident(), arm(scope, call, when));
            let servant = when.servant(scope, &scope.generic("T"));
            let [answered, call_type] = ["Answered", "ServerCall"].map(|name| scope.name(name));
            quote! {
                fn #name(servant: &#servant, call: &mut #call_type<'_>) -> #answered #body
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
        quote!(const OWN_ANSWERS: &'static [#answer<#answered_by>] = &[];),
        &methods,
    );
    let find_own = quote! {
        #[inline]
        fn find_own(#parameter: &str) -> #option<#answer<#answered_by>> { #search }
    };
    let find_own = scope.laid_out(Piece::Methods, find_own);
    let operations = (when == AnswerTime::Before).then(|| {
        quote! {
            impl #operations for #reference {
                #own_names
                #names_of_bases
            }
        }
    });
    quote! {
        #operations
        impl<#generic: #servant> #answers<#answered_by> for #reference {
            #own_answers
            #find_own
            #answers_of_bases
        }
        #own
    }
}

/// Generates the look-up of an operation's code by the operation's name, among the operations that
/// the interface does not inherit.
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

/// Generates the code that answers requests for one operation: it reads the arguments, calls the
/// servant and writes the reply.
fn arm(scope: &Scope<'_>, call: &Call<'_>, when: AnswerTime) -> TokenStream {
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
        .map(|(parameter, name)| argument(scope, parameter, name, when.changes(parameter)))
        .collect();
    let mut passed: Vec<TokenStream> = named
        .iter()
        .filter(|(parameter, _)| parameter.direction != Direction::Out)
        .map(|(parameter, name)| pass(scope, parameter, name, when.changes(parameter)))
        .collect();
    if let Some(name) = &context {
        let ty = scope.name("Context");
        scope.use_methods_of("Unmarshal");
        arguments.push(quote!(let #name = #ty::unmarshal(call.arguments())?;));
        passed.push(quote!(&#name));
    }
    let rest = match when {
        AnswerTime::Before => answered(scope, call, &named, &passed, &mut locals),
        AnswerTime::Later => answered_later(scope, call, &named, &passed, &mut locals),
    };
    quote!({ #(#arguments)* #rest })
}

/// Parameters of an operation, each with the name of the local variable that holds its value.
type Named<'n, 'c> = [(&'n Parameter<'c>, &'n Ident)];

/// Generates the upcall of a servant that has answered when it returns, and the reply.
fn answered(
    scope: &Scope<'_>,
    call: &Call<'_>,
    named: &Named<'_, '_>,
    passed: &[TokenStream],
    locals: &mut Claims,
) -> TokenStream {
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

    let reply = reply(scope, &replied, locals);
    let servant = scope.companion(call.owner, Companion::Servant);
    let method = call.trait_method(scope.generator);
    let upcall = quote!(#servant::#method(servant #(, #passed)*));
    if !call.raises.is_empty() {
        return answer(scope, call, &upcall, &tuple(&received), &reply);
    }
    let upcall = if received.is_empty() {
        quote!(#upcall?;)
    } else {
        let received = tuple(&received);
        quote!(let #received = #upcall?;)
    };
    quote!(#upcall #reply)
}

/// Generates the upcall of a servant that answers later, by a response that makes the reply.
fn answered_later(
    scope: &Scope<'_>,
    call: &Call<'_>,
    named: &Named<'_, '_>,
    passed: &[TokenStream],
    locals: &mut Claims,
) -> TokenStream {
    let later = scope.companion(call.owner, Companion::AmhServant);
    let (amh, ok) = (scope.name("Amh"), scope.name("Ok"));
    let method = call.trait_method(scope.generator);
    if call.oneway {
        return quote! {
            #later::#method(&**#amh::servant(servant) #(, #passed)*);
            call.reply(|_| #ok(()))
        };
    }
    let returned = call.returns.map(|value| (value, locals.fresh("result")));
    let changed = named
        .iter()
        .filter(|(parameter, _)| parameter.direction != Direction::In)
        .map(|(parameter, name)| (parameter.value, (*name).clone()));
    let replied: Vec<(Value<'_>, Ident)> = returned.into_iter().chain(changed).collect();
    let received: Vec<TokenStream> = replied.iter().map(|(_, name)| quote!(#name)).collect();
    let replied: Vec<(Value<'_>, &Ident)> = replied.iter().map(|(v, name)| (*v, name)).collect();
    let reply = reply(scope, &replied, locals);
    let (response, dispatched) = (locals.fresh("response"), locals.fresh("dispatched"));
    let (answer_given, response_type) = (locals.fresh("answer"), scope.name("Response"));
    let result = deferred::result(scope, call);
    let received = tuple(&received);
    let answered = match call.raises.is_empty() {
        false => answer(scope, call, &quote!(#answer_given), &received, &reply),
        true => {
            let err = scope.name("Err");
            quote! {
                match #answer_given {
                    #ok(#received) => #reply,
                    #err(exception) => #err(exception.into()),
                }
            }
        }
    };
    quote! {
        let (#response, #dispatched) = #response_type::of(call, |#answer_given: #result, call| #answered)?;
        #later::#method(&**#amh::servant(servant), #response #(, #passed)*);
        #ok(#dispatched)
    }
}

/// Generates the unmarshaling of an argument into a local: a view of the request where possible.
fn argument(
    scope: &Scope<'_>,
    parameter: &Parameter<'_>,
    name: &Ident,
    is_changed: bool,
) -> TokenStream {
    let Value { ty, non_nil } = parameter.value;
    let input = quote!(call.arguments());
    if is_changed {
        let value = scope.unmarshal(ty, non_nil, &input);
        return quote!(let mut #name = #value?;);
    }
    let value = match form(scope.generator.spec, ty) {
        Form::Text | Form::Sequence(_) => scope.unmarshal_view(ty, &input),
        _ => scope.unmarshal(ty, non_nil, &input),
    };
    quote!(let #name = #value?;)
}

/// Generates the marshaling of the results: the return value, then inout and out parameters. A sequence that may be long is
/// given up to the message, which then is sent from its memory.
fn reply(scope: &Scope<'_>, replied: &[(Value<'_>, &Ident)], locals: &mut Claims) -> TokenStream {
    let ok = scope.name("Ok");
    let out = locals.fresh("out");
    let steps: Vec<TokenStream> = replied
        .iter()
        .map(|(value, name)| {
            if let Some(bound) = long::bound_if_long(scope.generator.spec, value.ty) {
                let function = scope.name("marshal_owned");
                let bound = number(bound);
                return quote!(#function(#name, #bound, #out));
            }
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

/// Generates the reply of the results, or of the exception that was raised instead.
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
