//! Steps in which a state is read and written: runs of plain members, and between them members that
//! are values by themselves, which a graph reads and writes separately.

use proc_macro2::TokenStream;
use punctual_idl::model::{DeclId, DeclKind, Member, Type, ValueFlavour};
use quote::quote;

use super::{State, StateMember, members};
use crate::annotations;
use crate::members::{marshal_member, sequence, unmarshal_member};
use crate::scope::Scope;
use crate::types::number;
use crate::valuetypes::lineage::concrete_base;

/// Step: the members read or written in one go.
enum Step<'m> {
    Members(Vec<&'m StateMember>),
    /// Member that is a value by itself.
    Value(&'m StateMember),
}

impl State<'_, '_> {
    pub(super) fn write_steps(&self) -> TokenStream {
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

    pub(super) fn read_steps(&self) -> TokenStream {
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

    /// Generates the single step in which user code does everything.
    pub(super) fn custom_steps(&self) -> (TokenStream, TokenStream) {
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

    pub(super) fn formals(&self) -> TokenStream {
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

    pub(super) fn links(&self) -> TokenStream {
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

    /// Generates patterns of step numbers and their code: the base's own, then one for each step.
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

/// Returns the number of steps of a whole state.
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

/// Returns whether a member is a value by itself, which is read and written separately.
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
