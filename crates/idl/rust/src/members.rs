//! Members of structs and exceptions: fields, and code that handles all of them.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclKind, Declaration, Member, Type};
use quote::quote;

use crate::annotations::is_non_nil;
use crate::codec::{Place, Target};
use crate::docs::doc;
use crate::names::{Claimant, Claims, chosen, ident, snake};
use crate::scope::Scope;
use crate::types::{Form, form, least_wire_size};
use crate::{annotations, holds, lints};

/// Fields of a struct or exception.
pub(crate) struct Fields<'a> {
    declaration: &'a Declaration,
    members: Vec<(Ident, &'a Member)>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(scope: &Scope<'a>, declaration: &'a Declaration) -> Self {
        let generator = scope.generator;
        let spec = generator.spec;
        let mut claims = Claims::default();
        let mut names = |member: &Member| {
            let preferred = chosen(&member.annotations, spec, &mut generator.errors.lock());
            let claimant = Claimant::new(&member.name, &member.location);
            ident(&claims.claim(
                preferred.unwrap_or_else(|| snake(&member.name)),
                claimant,
                spec,
                &mut generator.warnings.lock(),
            ))
        };
        let members = spec
            .members(declaration.id)
            .into_iter()
            .map(|member| (names(member), member))
            .collect();
        Fields {
            declaration,
            members,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Generates `#[derive(…)]` of all that the members' types allow.
    pub(crate) fn derive(&self, scope: &Scope<'_>, is_plain_data: bool) -> TokenStream {
        let facts = &scope.generator.facts;
        let is_total = self
            .members
            .iter()
            .all(|(_, member)| facts.has_total_equality(&member.ty));
        let default =
            (self.has_default(scope) && !self.default_is_written(scope)).then(|| quote!(Default,));
        let total = is_total.then(|| quote!(, Eq, Hash));
        let is_key = scope.generator.facts.is_in_keys(self.declaration.id);
        let order = is_key.then(|| quote!(, PartialOrd, Ord));
        let copy = is_plain_data.then(|| quote!(Copy,));
        quote!(#[derive(Clone, #copy Debug, #default PartialEq #total #order)])
    }

    /// Generates `#[derive(…)]` for a struct with members that stay in its process.
    pub(crate) fn derive_for_staying(&self, scope: &Scope<'_>) -> TokenStream {
        let default =
            (self.has_default(scope) && !self.default_is_written(scope)).then(|| quote!(, Default));
        quote!(#[derive(Clone #default)])
    }

    /// Generates the fields with their documentation, each followed by a comma.
    pub(crate) fn declarations(&self, scope: &Scope<'_>) -> TokenStream {
        let fields = self.members.iter().map(|(name, member)| {
            let doc = doc(&member.doc, &format!("Member `{}`.", member.name));
            let ty = owned(scope, member);
            quote!(#doc pub #name: #ty,)
        });
        quote!(#(#fields)*)
    }

    /// Generates `impl Default` where there is a default that cannot be derived.
    pub(crate) fn default_impl(&self, scope: &Scope<'_>, name: &Ident) -> TokenStream {
        if !self.has_default(scope) || !self.default_is_written(scope) {
            return TokenStream::new();
        }
        let default = scope.name("Default");
        let values = self.members.iter().map(|(name, member)| {
            let value = scope.default_of(member, is_non_nil(&member.annotations));
            quote!(#name: #value)
        });
        let floats = self
            .members
            .iter()
            .filter_map(|(_, m)| annotations::float_lints(m));
        let lint = floats.map(lints::float).find(|lint| !lint.is_empty());
        quote! {
            #lint
            impl #default for #name {
                fn default() -> Self {
                    Self { #(#values),* }
                }
            }
        }
    }

    /// Generates the codec of plain data: a call of a macro of the runtime, as it needs `unsafe`,
    /// which generated code must not have.
    pub(crate) fn plain_codec(&self, scope: &Scope<'_>, name: &Ident) -> TokenStream {
        let plain_struct = scope.name("plain_struct");
        let fields = self.members.iter().map(|(field, member)| {
            let ty = scope.owned(&member.ty, false);
            quote!(#field: #ty)
        });
        quote!(#plain_struct! { #name { #(#fields),* } })
    }

    /// Generates `impl Marshal` and `impl Unmarshal`.
    pub(crate) fn codec_impls(&self, scope: &Scope<'_>, name: &Ident) -> TokenStream {
        let [marshal, unmarshal, encoder, decoder, result, error, ok] = [
            "Marshal",
            "Unmarshal",
            "Encoder",
            "Decoder",
            "Result",
            "CdrError",
            "Ok",
        ]
        .map(|name| scope.name(name));
        let (out, input) = if self.is_empty() {
            (quote!(_), quote!(_))
        } else {
            (quote!(out), quote!(input))
        };
        let statements = self
            .members
            .iter()
            .map(|(field, member)| marshal_member(scope, member, field, &out));
        let marshal_body = sequence(statements.collect(), &ok);
        let values = self.members.iter().map(|(field, member)| {
            let value = unmarshal_member(scope, member, &input);
            quote!(#field: #value?)
        });
        let mut unmarshal_body = if self.is_empty() {
            quote!(#ok(Self))
        } else {
            quote!(#ok(Self { #(#values),* }))
        };
        if scope.generator.facts.is_recursive(self.declaration.id) {
            unmarshal_body = quote!(input.nested(|input| #unmarshal_body));
        }
        let into = self.unmarshal_into(scope);
        let fact = scope.generator.facts.of(&Type::Named(self.declaration.id));
        let least = least_wire_size(fact);
        quote! {
            impl #marshal for #name {
                #[inline]
                fn marshal(&self, #out: &mut #encoder<'_>) -> #result<(), #error> {
                    #marshal_body
                }
            }
            impl #unmarshal for #name {
                const MIN_SIZE: usize = #least;
                #[inline]
                fn unmarshal(#input: &mut #decoder<'_>) -> #result<Self, #error> {
                    #unmarshal_body
                }
                #into
            }
        }
    }

    /// Generates `fn unmarshal_into`, where there is a member whose memory can be reused: a buffer
    /// for a sequence of such structs then keeps all of it.
    fn unmarshal_into(&self, scope: &Scope<'_>) -> Option<TokenStream> {
        let spec = scope.generator.spec;
        let has_memory = |member: &Member| match form(spec, &member.ty) {
            _ if annotations::is_optional(member) => false,
            Form::Text | Form::Sequence(_) => true,
            Form::Aggregate => scope.generator.facts.of(&member.ty).plain_data.is_none(),
            _ => false,
        };
        let is_struct = matches!(self.declaration.kind, DeclKind::Struct(_));
        if !is_struct || !self.members.iter().any(|(_, member)| has_memory(member)) {
            return None;
        }
        let [decoder, result, error, ok] =
            ["Decoder", "Result", "CdrError", "Ok"].map(|name| scope.name(name));
        let input = quote!(input);
        let steps = self.members.iter().map(|(field, member)| {
            if has_memory(member) {
                let into = scope.unmarshal_into(&member.ty, &Target::field(field), &input);
                quote!(#into?;)
            } else {
                let value = unmarshal_member(scope, member, &input);
                quote!(self.#field = #value?;)
            }
        });
        let mut body = quote!(#(#steps)* #ok(()));
        if scope.generator.facts.is_recursive(self.declaration.id) {
            body = quote!(input.nested(|input| { #body }));
        }
        Some(quote! {
            fn unmarshal_into(&mut self, input: &mut #decoder<'_>) -> #result<(), #error> {
                #body
            }
        })
    }

    /// Generates `impl HoldsValues`, if a member may hold handles to values.
    pub(crate) fn holds_values_impl(&self, scope: &Scope<'_>, name: &Ident) -> TokenStream {
        let fields = self.members.iter().map(|(field, member)| (field, *member));
        holds::of_struct(scope, name, fields)
    }

    fn has_default(&self, scope: &Scope<'_>) -> bool {
        let (spec, facts) = (scope.generator.spec, &scope.generator.facts);
        self.members.iter().all(|(_, m)| {
            annotations::is_optional(m)
                || facts.has_default(spec, &m.ty, is_non_nil(&m.annotations))
        })
    }

    fn default_is_written(&self, scope: &Scope<'_>) -> bool {
        self.members.iter().any(|(_, m)| {
            let is_written = scope.generator.facts.of(&m.ty).default_is_written;
            annotations::default(m).is_some() || is_written && !annotations::is_optional(m)
        })
    }
}

/// Generates the type of a member's field.
pub(crate) fn owned(scope: &Scope<'_>, member: &Member) -> TokenStream {
    let ty = scope.owned(&member.ty, is_non_nil(&member.annotations));
    if annotations::is_optional(member) {
        let option = scope.name("Option");
        return quote!(#option<#ty>);
    }
    ty
}

/// Generates the marshaling of a member that is a field of `self`.
pub(crate) fn marshal_member(
    scope: &Scope<'_>,
    member: &Member,
    field: &Ident,
    out: &TokenStream,
) -> TokenStream {
    let non_nil = is_non_nil(&member.annotations);
    if annotations::is_optional(member) {
        let place = Place::reference(quote!(value));
        let each = scope.marshal(&member.ty, non_nil, &place, out);
        let check = scope.check_range(member, &quote!(value));
        let function = scope.name("marshal_optional");
        return quote!(#function(self.#field.as_ref(), #out, |value, #out| { #check #each }));
    }
    let marshal = scope.marshal(&member.ty, non_nil, &Place::value(quote!(self.#field)), out);
    match scope.check_range(member, &quote!(&self.#field)) {
        Some(check) => quote!({ #check #marshal }),
        None => marshal,
    }
}

/// Generates an expression of a `Result` of a member's value.
pub(crate) fn unmarshal_member(
    scope: &Scope<'_>,
    member: &Member,
    input: &TokenStream,
) -> TokenStream {
    let non_nil = is_non_nil(&member.annotations);
    if annotations::is_optional(member) {
        let function = scope.name("unmarshal_optional");
        let each = scope.unmarshaler(&member.ty, non_nil);
        return quote!(#function(#input, #each));
    }
    scope.unmarshal(&member.ty, non_nil, input)
}

/// Joins expressions of `Result<(), _>` one after the other: all except the last with `?`.
pub(crate) fn sequence(mut expressions: Vec<TokenStream>, ok: &TokenStream) -> TokenStream {
    match expressions.pop() {
        Some(last) => quote!(#(#expressions?;)* #last),
        None => quote!(#ok(())),
    }
}
