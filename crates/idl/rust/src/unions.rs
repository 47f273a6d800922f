//! Mapping of `union` to an enum with fields.
//!
//! A variant that exactly one label selects holds the member alone. One that several discriminators
//! select (several labels, `default:`, no label at all) holds the discriminator first, so that a
//! value passed on is the value received; marshaling refuses a discriminator that belongs to
//! another variant.

mod labels;

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{Case, ConstValue, Declaration, Label, Member, Type, Union};
use quote::quote;

use crate::annotations::is_non_nil;
use crate::codec::Place;
use crate::docs::doc;
use crate::members::sequence;
use crate::names::{Claimant, Claims, chosen, ident, upper_camel};
use crate::scope::Scope;
use crate::structs::opaque_debug;
use crate::types::least_wire_size;
use crate::{consts, lints};

pub(crate) fn generate(scope: &Scope<'_>, declaration: &Declaration, union: &Union) -> TokenStream {
    let shape = Shape::new(scope, declaration, union);
    let definition = shape.definition();
    let discriminator = shape.discriminator_method();
    let default_impl = shape.default_impl();
    if shape.is_process_local() {
        let debug = opaque_debug(scope, &shape.name);
        return quote!(#definition #discriminator #default_impl #debug);
    }
    let marshal = shape.marshal_impl();
    let unmarshal = shape.unmarshal_impl();
    let holds_values = shape.holds_values_impl();
    quote! {
        #definition
        #discriminator
        #default_impl
        #marshal
        #unmarshal
        #holds_values
    }
}

/// Union with named variants and sorted labels.
struct Shape<'s, 'g> {
    scope: &'s Scope<'g>,
    declaration: &'s Declaration,
    union: &'s Union,
    name: Ident,
    variants: Vec<Variant<'s>>,
}

struct Variant<'s> {
    name: Ident,
    /// Member of the variant; `None` for the one without a member.
    member: Option<&'s Member>,
    labels: Vec<&'s ConstValue>,
    /// `true` if all values without a label select the variant.
    takes_the_rest: bool,
}

impl Variant<'_> {
    /// Returns the only discriminator label that selects the variant; `None` when several values
    /// select it.
    fn only_label(&self) -> Option<&ConstValue> {
        match self.labels.as_slice() {
            [label] if !self.takes_the_rest => Some(label),
            _ => None,
        }
    }
}

impl<'s, 'g> Shape<'s, 'g> {
    fn new(scope: &'s Scope<'g>, declaration: &'s Declaration, union: &'s Union) -> Self {
        let generator = scope.generator;
        let mut claims = Claims::default();
        let mut variants: Vec<Variant<'_>> = union
            .cases
            .iter()
            .map(|Case { labels, member }| {
                let preferred = chosen(
                    &member.annotations,
                    generator.spec,
                    &mut generator.errors.lock(),
                );
                let claimant = Claimant::new(&member.name, &member.location);
                let name = claims.claim(
                    preferred.unwrap_or_else(|| upper_camel(&member.name)),
                    claimant,
                    generator.spec,
                    &mut generator.warnings.lock(),
                );
                Variant {
                    name: ident(&name),
                    member: Some(member),
                    labels: labels
                        .iter()
                        .filter_map(|label| match label {
                            Label::Value(value) => Some(value),
                            Label::Default => None,
                        })
                        .collect(),
                    takes_the_rest: labels.contains(&Label::Default),
                }
            })
            .collect();
        if union.implicit_default {
            variants.push(Variant {
                name: claims.fresh("Unlabeled"),
                member: None,
                labels: Vec::new(),
                takes_the_rest: true,
            });
        }
        Shape {
            scope,
            declaration,
            union,
            name: ident(generator.names.item(declaration.id)),
            variants,
        }
    }

    fn definition(&self) -> TokenStream {
        let scope = self.scope;
        let facts = &scope.generator.facts;
        let name = &self.name;
        let doc_of_union = doc(
            &self.declaration.doc,
            &format!("`union {}`.", self.declaration.name),
        );
        let is_total = self
            .union
            .cases
            .iter()
            .all(|case| facts.has_total_equality(&case.member.ty));
        let total = is_total.then(|| quote!(, Eq, Hash));
        let derive = if self.is_process_local() {
            quote!(#[derive(Clone)])
        } else {
            quote!(#[derive(Clone, Debug, PartialEq #total)])
        };
        let names: Vec<String> = self.variants.iter().map(|v| v.name.to_string()).collect();
        let sizes: Vec<u64> = self
            .variants
            .iter()
            .map(|v| v.member.map_or(0, |m| facts.of(&m.ty).rust_size))
            .collect();
        let lints = lints::variants(&name.to_string(), &names, &sizes);
        let discriminator = self.discriminator_type();
        let variants = self.variants.iter().map(|variant| {
            let variant_name = &variant.name;
            let doc = self.variant_doc(variant);
            let member = variant
                .member
                .map(|m| scope.owned(&m.ty, is_non_nil(&m.annotations)));
            let types = match variant.only_label() {
                Some(_) => quote!(#member),
                None if member.is_some() => quote!(#discriminator, #member),
                None => quote!(#discriminator),
            };
            quote!(#doc #variant_name(#types))
        });
        quote! {
            #doc_of_union
            #lints
            #derive
            pub enum #name { #(#variants),* }
        }
    }

    /// Returns whether the union may contain a type that must stay in its process.
    fn is_process_local(&self) -> bool {
        let generator = self.scope.generator;
        let ty = Type::Named(self.declaration.id);
        generator.facts.is_process_local(&ty)
    }

    fn variant_doc(&self, variant: &Variant<'_>) -> TokenStream {
        let Some(member) = variant.member else {
            return doc(
                &[],
                "No member: the discriminator has none of the union's labels.",
            );
        };
        let fallback = format!("Member `{}`", member.name);
        let fallback = match variant.only_label() {
            Some(_) => format!("{fallback}."),
            None => format!("{fallback}, after the discriminator."),
        };
        doc(&member.doc, &fallback)
    }

    fn discriminator_method(&self) -> TokenStream {
        let name = &self.name;
        let ty = self.discriminator_type();
        let arms = self.variants.iter().map(|variant| {
            let variant_name = &variant.name;
            match variant.only_label() {
                Some(label) => {
                    let label = consts::pattern(self.scope, label);
                    quote!(Self::#variant_name(_) => #label,)
                }
                None if variant.member.is_some() => {
                    quote!(Self::#variant_name(discriminator, _) => *discriminator,)
                }
                None => quote!(Self::#variant_name(discriminator) => *discriminator,),
            }
        });
        quote! {
            impl #name {
                /// Returns the discriminator of the variant.
                pub fn discriminator(&self) -> #ty {
                    match self { #(#arms)* }
                }
            }
        }
    }

    /// Generates the default: the first member that a discriminator selects, with the first of its
    /// labels.
    fn default_impl(&self) -> TokenStream {
        let scope = self.scope;
        let facts = &scope.generator.facts;
        let mut variants = self.variants.iter();
        let first = variants.find(|variant| !self.is_never_selected(variant));
        let Some((variant, member)) = first.and_then(|v| Some((v, v.member?))) else {
            return TokenStream::new();
        };
        let non_nil = is_non_nil(&member.annotations);
        let discriminator = match (variant.only_label(), variant.labels.first()) {
            (Some(_), _) => None,
            (None, Some(label)) => Some(consts::pattern(scope, label)),
            (None, None) => match self.value_without_label() {
                Some(value) => Some(value),
                None => return TokenStream::new(),
            },
        };
        if !facts.has_default(scope.generator.spec, &member.ty, non_nil) {
            return TokenStream::new();
        }
        let (name, default, variant) = (&self.name, scope.name("Default"), &variant.name);
        let discriminator = discriminator.map(|value| quote!(#value,));
        let value = scope.default_value(&member.ty, non_nil);
        quote! {
            impl #default for #name {
                fn default() -> Self {
                    Self::#variant(#discriminator #value)
                }
            }
        }
    }

    fn marshal_impl(&self) -> TokenStream {
        let scope = self.scope;
        let [marshal, encoder, result, error, ok] =
            ["Marshal", "Encoder", "Result", "CdrError", "Ok"].map(|name| scope.name(name));
        let name = &self.name;
        let out = quote!(out);
        let arms = self.variants.iter().map(|variant| {
            let variant_name = &variant.name;
            if self.is_never_selected(variant) {
                let [err, cdr] = ["Err", "CdrError"].map(|name| scope.name(name));
                return quote!(Self::#variant_name(..) => #err(#cdr::UnknownDiscriminator),);
            }
            let mut steps = Vec::new();
            let by_value = variant.only_label().map(|l| consts::pattern(scope, l));
            let (check, tag) = match &by_value {
                Some(_) => (TokenStream::new(), quote!(self.discriminator())),
                None => (self.check(variant), quote!(discriminator)),
            };
            let place = Place::reference(tag);
            steps.push(scope.marshal(&self.union.discriminator, false, &place, &out));
            if let Some(member) = variant.member {
                let non_nil = is_non_nil(&member.annotations);
                let place = Place::reference(quote!(value));
                steps.push(scope.marshal(&member.ty, non_nil, &place, &out));
            }
            let bindings = match (by_value.is_some(), variant.member.is_some()) {
                (true, _) => quote!(value),
                (false, true) => quote!(discriminator, value),
                (false, false) => quote!(discriminator),
            };
            let body = sequence(steps, &ok);
            quote!(Self::#variant_name(#bindings) => { #check #body })
        });
        quote! {
            impl #marshal for #name {
                fn marshal(&self, out: &mut #encoder<'_>) -> #result<(), #error> {
                    match self { #(#arms)* }
                }
            }
        }
    }

    fn unmarshal_impl(&self) -> TokenStream {
        let scope = self.scope;
        let [unmarshal, decoder, result, error, ok] =
            ["Unmarshal", "Decoder", "Result", "CdrError", "Ok"].map(|name| scope.name(name));
        let name = &self.name;
        let input = quote!(input);
        let (mut arms, mut rest) = (Vec::new(), None);
        let selected = |variant: &&Variant<'_>| !self.is_never_selected(variant);
        for variant in self.variants.iter().filter(selected) {
            let variant_name = &variant.name;
            let member = variant.member.map(|m| {
                let value = scope.unmarshal(&m.ty, is_non_nil(&m.annotations), &input);
                quote!(#value?)
            });
            let fields = match (variant.only_label(), member) {
                (Some(_), member) => quote!(#member),
                (None, Some(member)) => quote!(discriminator, #member),
                (None, None) => quote!(discriminator),
            };
            let value = quote!(#ok(Self::#variant_name(#fields)));
            if variant.takes_the_rest {
                rest = Some(value);
            } else {
                let labels = self.patterns(&variant.labels);
                arms.push(quote!(#labels => #value,));
            }
        }
        let value = match rest {
            Some(value) if arms.is_empty() => value,
            rest => {
                let rest = rest.map(|value| quote!(_ => #value,));
                quote!(match discriminator { #(#arms)* #rest })
            }
        };
        let discriminator = scope.unmarshal(&self.union.discriminator, false, &input);
        let mut body = quote! {
            let discriminator = #discriminator?;
            #value
        };
        if scope.generator.facts.is_recursive(self.declaration.id) {
            body = quote!(input.nested(|input| { #body }));
        }
        let fact = scope.generator.facts.of(&Type::Named(self.declaration.id));
        let least = least_wire_size(fact);
        quote! {
            impl #unmarshal for #name {
                const MIN_SIZE: usize = #least;
                fn unmarshal(input: &mut #decoder<'_>) -> #result<Self, #error> {
                    #body
                }
            }
        }
    }

    /// Generates `impl HoldsValues`, if a member may hold handles to values.
    fn holds_values_impl(&self) -> TokenStream {
        let scope = self.scope;
        let facts = &scope.generator.facts;
        let holds = |variant: &&Variant<'_>| {
            let member = variant.member;
            member.is_some_and(|member| facts.holds_values(&member.ty))
        };
        let holders: Vec<&Variant<'_>> = self.variants.iter().filter(holds).collect();
        if holders.is_empty() {
            return TokenStream::new();
        }
        let [holds_values, graph] = ["HoldsValues", "Graph"].map(|name| scope.name(name));
        let name = &self.name;
        let arms = holders.iter().map(|variant| {
            let variant_name = &variant.name;
            let others = variant.only_label().is_none().then(|| quote!(_,));
            quote! {
                Self::#variant_name(#others value) => #holds_values::adopt(value, graph),
            }
        });
        let rest = (holders.len() < self.variants.len()).then(|| quote!(_ => {}));
        quote! {
            impl #holds_values for #name {
                fn adopt(&mut self, graph: &#graph) {
                    match self { #(#arms)* #rest }
                }
            }
        }
    }

    fn discriminator_type(&self) -> TokenStream {
        self.scope.owned(&self.union.discriminator, false)
    }
}
