//! State of a value: a struct of its members, and its marshaling.

mod steps;

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclId, DeclKind, Declaration, Member, ValueFlavour};
use quote::quote;

use super::lineage::concrete_base;
use crate::docs::doc;
use crate::holds;
use crate::members::owned;
use crate::names::{Claimant, Claims, Companion, chosen, ident, snake};
use crate::scope::Scope;

/// State members that the declaration of one valuetype adds to those of its base.
pub(super) struct State<'s, 'g> {
    scope: &'s Scope<'g>,
    declaration: &'s Declaration,
    /// Field that holds the base's state, and the base.
    base: Option<(Ident, DeclId)>,
    members: Vec<StateMember>,
}

/// Member, and the name of its field.
pub(super) struct StateMember {
    pub(super) field: Ident,
    pub(super) member: Member,
    pub(super) is_public: bool,
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
                    &mut scope.generator.errors.lock(),
                );
                let field = ident(&claims.claim(
                    preferred.unwrap_or_else(|| snake(&member.name)),
                    Claimant::new(&member.name, &member.location),
                    spec,
                    &mut scope.generator.warnings.lock(),
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

    /// Generates the struct, and its trait implementations.
    pub(super) fn definition(&self) -> TokenStream {
        let scope = self.scope;
        let name = self.name();
        let text = format!("State of a value of `{}`.", self.declaration.name);
        let doc_of_state = doc(&[], &text);
        let base = self.base.as_ref().map(|(field, base)| {
            let base = &scope.generator.spec[*base];
            let doc = doc(&[], &format!("State inherited from `{}`.", base.name));
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
}

/// Returns the members that the declaration itself adds to the state, and whether each is public.
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
                doc: vec!["The boxed value.".to_owned()],
                annotations: Vec::new(),
                location: declaration.location.clone(),
            },
            true,
        )],
        _ => Vec::new(),
    }
}
