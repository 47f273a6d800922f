//! The state of a value: a struct of its members, and how it travels.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclId, DeclKind, Declaration, Member, Type, ValueFlavour};
use quote::quote;

use super::lineage::concrete_base;
use crate::docs::doc;
use crate::members::{marshal_member, owned, sequence, unmarshal_member};
use crate::names::{Claimant, Claims, Companion, chosen, ident, snake};
use crate::scope::Scope;
use crate::types::number;
use crate::{annotations, holds};

/// The state that one declaration adds.
pub(super) struct State<'s, 'g> {
    scope: &'s Scope<'g>,
    declaration: &'s Declaration,
    /// The field that holds the base's state, and the base.
    base: Option<(Ident, DeclId)>,
    members: Vec<StateMember>,
}

/// A member, and the name of its field.
pub(super) struct StateMember {
    pub(super) field: Ident,
    pub(super) member: Member,
    pub(super) is_public: bool,
}

/// What is read or written in one go.
enum Step<'m> {
    Members(Vec<&'m StateMember>),
    /// A member that is a value by itself.
    Value(&'m StateMember),
}

impl<'s, 'g> State<'s, 'g> {
    pub(super) fn new(scope: &'s Scope<'g>, declaration: &'s Declaration) -> Self {
        let spec = scope.generator.spec;
        let mut claims = Claims::default();
        let members = members(declaration)
            .into_iter()
            .map(|(member, is_public)| {
                let preferred = chosen(
                    &member.annotations,
                    spec,
                    &mut scope.generator.errors.borrow_mut(),
                );
                let field = ident(&claims.claim(
                    preferred.unwrap_or_else(|| snake(&member.name)),
                    Claimant::new(&member.name, &member.location),
                    spec,
                    &mut scope.generator.warnings.borrow_mut(),
                ));
                StateMember {
                    field,
                    member,
                    is_public,
                }
            })
            .collect();
        let base = concrete_base(spec, declaration.id);
        let base = base.map(|base| (claims.fresh("base"), base));
        State {
            scope,
            declaration,
            base,
            members,
        }
    }

    pub(super) fn members(&self) -> &[StateMember] {
        &self.members
    }

    /// The struct, and what it implements.
    pub(super) fn definition(&self) -> TokenStream {
        let scope = self.scope;
        let name = self.name();
        let text = format!("The state of a value of `{}`.", self.declaration.name);
        let doc_of_state = doc(&[], &text);
        let base = self.base.as_ref().map(|(field, base)| {
            let base = &scope.generator.spec[*base];
            let doc = doc(&[], &format!("The state that a `{}` has.", base.name));
            let state = scope.companion(base, Companion::State);
            quote!(#doc pub #field: #state,)
        });
        let fields = self
            .members
            .iter()
            .map(|StateMember { field, member, .. }| {
                let doc = doc(&member.doc, &format!("Member `{}`.", member.name));
                let ty = owned(scope, member);
                quote!(#doc pub #field: #ty,)
            });
        let default_impl = self.default_impl(&name);
        let value_state = self.value_state_impl(&name);
        quote! {
            #doc_of_state
            #[derive(Clone, Debug, PartialEq)]
            pub struct #name { #base #(#fields)* }
            #default_impl
            #value_state
        }
    }

    fn name(&self) -> Ident {
        let names = &self.scope.generator.names;
        ident(names.companion(self.declaration.id, Companion::State))
    }

    fn default_impl(&self, name: &Ident) -> TokenStream {
        let default = self.scope.name("Default");
        let base = self
            .base
            .as_ref()
            .map(|(field, _)| quote!(#field: #default::default(),));
        let values = self
            .members
            .iter()
            .map(|StateMember { field, member, .. }| {
                let value = self.scope.default_of(member, false);
                quote!(#field: #value,)
            });
        quote! {
            #[allow(clippy::derivable_impls)]
            impl #default for #name {
                fn default() -> Self {
                    Self { #base #(#values)* }
                }
            }
        }
    }

    fn value_state_impl(&self, name: &Ident) -> TokenStream {
        let [state, encoder, decoder, result, error] =
            ["ValueState", "Encoder", "Decoder", "Result", "CdrError"]
                .map(|name| self.scope.name(name));
        let [
            write_step,
            read_step,
            formal_value,
            value_ref,
            option,
            graph,
        ] = [
            "WriteStep",
            "ReadStep",
            "FormalValue",
            "ValueRef",
            "Option",
            "Graph",
        ]
        .map(|name| self.scope.name(name));
        let (write, read) = if self.is_custom() {
            self.custom_steps()
        } else {
            (self.write_steps(), self.read_steps())
        };
        let (formal, link) = (self.formals(), self.links());
        let adopt = self.adopt();
        let (part, part_mut) = (self.part("part", "Some"), self.part("part_mut", "Some"));
        quote! {
            impl #state for #name {
                #[allow(unused_variables)]
                fn write_step(
                    &self,
                    step: usize,
                    out: &mut #encoder<'_>,
                ) -> #result<#write_step, #error> {
                    #write
                }
                #[allow(unused_variables)]
                fn read_step(
                    &mut self,
                    step: usize,
                    input: &mut #decoder<'_>,
                ) -> #result<#read_step, #error> {
                    #read
                }
                #[allow(unused_variables)]
                fn formal(&self, step: usize) -> &dyn #formal_value {
                    #formal
                }
                #[allow(unused_variables, clippy::single_match)]
                fn link(&mut self, step: usize, value: #option<#value_ref>) {
                    #link
                }
                #[allow(unused_variables)]
                fn adopt(&mut self, graph: &#graph) {
                    #adopt
                }
                fn part(&self, wanted: ::std::any::TypeId) -> #option<&dyn ::std::any::Any> {
                    #part
                }
                fn part_mut(
                    &mut self,
                    wanted: ::std::any::TypeId,
                ) -> #option<&mut dyn ::std::any::Any> {
                    #part_mut
                }
            }
        }
    }

    fn write_steps(&self) -> TokenStream {
        let [ok, write_step] = ["Ok", "WriteStep"].map(|name| self.scope.name(name));
        let arms = self.arms(&quote!(write_step(step, out)), |step| match step {
            Step::Members(members) => {
                let out = quote!(out);
                let steps = members
                    .iter()
                    .map(|m| marshal_member(self.scope, &m.member, &m.field, &out))
                    .chain([quote!(#ok(#write_step::Wrote))]);
                let steps = sequence(steps.collect(), &ok);
                quote!({ #steps })
            }
            Step::Value(StateMember { field, .. }) => {
                let value_type = self.scope.name("ValueType");
                let clone = self.scope.name("Clone");
                quote!(#ok(#write_step::Value(
                    self.#field.as_ref().map(|value| #clone::clone(#value_type::as_value(value)))
                )))
            }
        });
        choose(&arms, &quote!(#ok(#write_step::End)))
    }

    fn read_steps(&self) -> TokenStream {
        let [ok, read_step] = ["Ok", "ReadStep"].map(|name| self.scope.name(name));
        let arms = self.arms(&quote!(read_step(step, input)), |step| match step {
            Step::Members(members) => {
                let input = quote!(input);
                let steps = members.iter().map(|m| {
                    let (field, value) =
                        (&m.field, unmarshal_member(self.scope, &m.member, &input));
                    quote!(self.#field = #value?;)
                });
                quote!({ #(#steps)* #ok(#read_step::Read) })
            }
            Step::Value(_) => quote!(#ok(#read_step::Value)),
        });
        choose(&arms, &quote!(#ok(#read_step::End)))
    }

    /// The one step in which the user's code does it all.
    fn custom_steps(&self) -> (TokenStream, TokenStream) {
        let [ok, write_step, read_step, custom, data_out, data_in] = [
            "Ok",
            "WriteStep",
            "ReadStep",
            "CustomMarshal",
            "DataOutputStream",
            "DataInputStream",
        ]
        .map(|name| self.scope.name(name));
        let write = quote! {
            if step > 0 {
                return #ok(#write_step::End);
            }
            #custom::marshal(self, &mut #data_out::new(out))?;
            #ok(#write_step::Wrote)
        };
        let read = quote! {
            if step > 0 {
                return #ok(#read_step::End);
            }
            #custom::unmarshal(self, &mut #data_in::new(input))?;
            #ok(#read_step::Read)
        };
        (write, read)
    }

    fn formals(&self) -> TokenStream {
        let [formal, value_ref] = ["Formal", "ValueRef"].map(|name| self.scope.name(name));
        let arms = if self.is_custom() {
            Vec::new()
        } else {
            self.arms(&quote!(formal(step)), |step| match step {
                Step::Members(_) => TokenStream::new(),
                Step::Value(StateMember { member, .. }) => {
                    let handle = self.scope.bare(&member.ty);
                    quote!(const { &#formal::<#handle>::new() })
                }
            })
        };
        let arms: Vec<_> = arms
            .into_iter()
            .filter(|(_, arm)| !arm.is_empty())
            .collect();
        choose(&arms, &quote!(const { &#formal::<#value_ref>::new() }))
    }

    fn links(&self) -> TokenStream {
        if self.is_custom() {
            return TokenStream::new();
        }
        let value_type = self.scope.name("ValueType");
        let arms = self.arms(&quote!(link(step, value)), |step| match step {
            Step::Members(_) => TokenStream::new(),
            Step::Value(StateMember { field, .. }) => {
                quote!(self.#field = value.map(#value_type::from_value))
            }
        });
        let arms: Vec<_> = arms
            .into_iter()
            .filter(|(_, arm)| !arm.is_empty())
            .collect();
        if arms.is_empty() {
            return TokenStream::new();
        }
        choose(&arms, &quote!({}))
    }

    fn adopt(&self) -> TokenStream {
        let scope = self.scope;
        let state = scope.name("ValueState");
        let base = self
            .base
            .as_ref()
            .map(|(field, _)| quote!(#state::adopt(&mut self.#field, graph);));
        let fields = self.members.iter().map(|m| (&m.field, &m.member));
        let members = holds::adopt_members(scope, fields);
        quote!(#base #members)
    }

    fn part(&self, method: &str, some: &'static str) -> TokenStream {
        let (some, none) = (self.scope.name(some), self.scope.name("None"));
        let method = ident(method);
        let otherwise = match &self.base {
            Some((field, _)) => quote!(self.#field.#method(wanted)),
            None => none,
        };
        quote! {
            if wanted == ::std::any::TypeId::of::<Self>() {
                return #some(self);
            }
            #otherwise
        }
    }

    fn is_custom(&self) -> bool {
        matches!(&self.declaration.kind, DeclKind::ValueType(v) if v.flavour == ValueFlavour::Custom)
    }

    /// Patterns of step numbers and what is to be done: the base's own, then one for each step.
    fn arms(
        &self,
        in_base: &TokenStream,
        of: impl Fn(&Step<'_>) -> TokenStream,
    ) -> Vec<(TokenStream, TokenStream)> {
        let mut arms = Vec::new();
        let mut first = 0;
        if let Some((field, base)) = &self.base {
            first = step_count(self.scope, *base);
            let pattern = match first {
                0 => None,
                1 => Some(quote!(0)),
                count => {
                    let last = number(count - 1);
                    Some(quote!(0..=#last))
                }
            };
            arms.extend(pattern.map(|pattern| (pattern, quote!(self.#field.#in_base))));
        }
        for (step, index) in steps(self.scope, &self.members).iter().zip(first..) {
            let index = number(index);
            arms.push((quote!(#index), of(step)));
        }
        arms
    }
}

/// What the declaration itself adds to the state, and whether all may see it.
fn members(declaration: &Declaration) -> Vec<(Member, bool)> {
    match &declaration.kind {
        DeclKind::ValueType(value) => value
            .state
            .iter()
            .map(|state| (state.member.clone(), state.public))
            .collect(),
        DeclKind::ValueBox(boxed) => vec![(
            Member {
                name: "value".to_owned(),
                ty: boxed.ty.clone(),
                doc: vec!["What is boxed.".to_owned()],
                annotations: Vec::new(),
                location: declaration.location.clone(),
            },
            true,
        )],
        _ => Vec::new(),
    }
}

fn steps<'m>(scope: &Scope<'_>, members: &'m [StateMember]) -> Vec<Step<'m>> {
    let mut steps = Vec::new();
    for member in members {
        if is_value(scope, &member.member) {
            steps.push(Step::Value(member));
        } else if let Some(Step::Members(run)) = steps.last_mut() {
            run.push(member);
        } else {
            steps.push(Step::Members(vec![member]));
        }
    }
    steps
}

/// How many steps a whole state takes.
fn step_count(scope: &Scope<'_>, id: DeclId) -> u64 {
    let spec = scope.generator.spec;
    let mut count = 0;
    let mut next = Some(id);
    while let Some(id) = next {
        next = concrete_base(spec, id);
        if matches!(&spec[id].kind, DeclKind::ValueType(v) if v.flavour == ValueFlavour::Custom) {
            return count + 1;
        }
        let mut in_run = false;
        for (member, _) in members(&spec[id]) {
            let is_value = is_value(scope, &member);
            count += u64::from(is_value || !in_run);
            in_run = !is_value;
        }
    }
    count
}

/// Whether a member is a value by itself, which is read and written outside of the others.
fn is_value(scope: &Scope<'_>, member: &Member) -> bool {
    let spec = scope.generator.spec;
    !annotations::is_optional(member)
        && match spec.resolve(&member.ty) {
            Type::ValueBase => true,
            Type::Named(id) => matches!(
                spec[*id].kind,
                DeclKind::ValueType(_) | DeclKind::ValueBox(_)
            ),
            _ => false,
        }
}

fn choose(arms: &[(TokenStream, TokenStream)], otherwise: &TokenStream) -> TokenStream {
    if arms.is_empty() {
        return otherwise.clone();
    }
    let arms = arms.iter().map(|(pattern, arm)| quote!(#pattern => #arm,));
    quote! {
        match step {
            #(#arms)*
            _ => #otherwise,
        }
    }
}
