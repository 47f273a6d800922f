//! Labels of a union: patterns for them, the remaining values, and the check of a discriminator
//! against them.

use proc_macro2::TokenStream;
use punctual_idl::model::{ConstValue, DeclKind, Primitive, Type};
use quote::quote;

use super::{Shape, Variant};
use crate::consts;
use crate::selection::covers_everything;

impl Shape<'_, '_> {
    /// Returns whether no discriminator selects a variant: it takes the rest, and there is none.
    pub(super) fn is_never_selected(&self, variant: &Variant<'_>) -> bool {
        if !variant.takes_the_rest {
            return false;
        }
        let others = self.variants.iter().filter(|other| !other.takes_the_rest);
        let labels: Vec<&ConstValue> = others.flat_map(|v| v.labels.iter().copied()).collect();
        self.covers_everything(&labels)
    }

    /// Generates the refusal of a discriminator that does not select the variant that holds it.
    pub(super) fn check(&self, variant: &Variant<'_>) -> TokenStream {
        let [error, err] = ["CdrError", "Err"].map(|name| self.scope.name(name));
        let (labels, wanted) = if variant.takes_the_rest {
            let others = self
                .variants
                .iter()
                .filter(|other| !other.takes_the_rest)
                .flat_map(|other| other.labels.iter().copied());
            (others.collect::<Vec<_>>(), false)
        } else {
            (variant.labels.clone(), true)
        };
        if labels.is_empty() || self.covers_everything(&labels) && wanted {
            return TokenStream::new();
        }
        let refuse = quote!({ return #err(#error::UnknownDiscriminator); });
        let is_wrong = match labels.as_slice() {
            [ConstValue::Boolean(label)] if *label == wanted => quote!(!*discriminator),
            [ConstValue::Boolean(_)] => quote!(*discriminator),
            [label] => {
                let label = consts::pattern(self.scope, label);
                if wanted {
                    quote!(*discriminator != #label)
                } else {
                    quote!(*discriminator == #label)
                }
            }
            labels => {
                let patterns = self.patterns(labels);
                if !wanted {
                    return quote!(if let #patterns = discriminator #refuse);
                }
                let is_one_range = !patterns.to_string().contains('|');
                return if is_one_range {
                    quote!(let #patterns = discriminator else #refuse;)
                } else {
                    quote!(let (#patterns) = discriminator else #refuse;)
                };
            }
        };
        quote!(if #is_wrong #refuse)
    }

    fn covers_everything(&self, labels: &[&ConstValue]) -> bool {
        let spec = self.scope.generator.spec;
        covers_everything(spec, &self.union.discriminator, labels)
    }

    /// Generates one pattern for several labels; three or more numbers in a row are a range.
    pub(super) fn patterns(&self, labels: &[&ConstValue]) -> TokenStream {
        let mut numbers: Vec<i128> = labels.iter().filter_map(|label| ordinal(label)).collect();
        if numbers.len() != labels.len() {
            let patterns = labels
                .iter()
                .map(|label| consts::pattern(self.scope, label));
            return quote!(#(#patterns)|*);
        }
        numbers.sort_unstable();
        let of = |n: i128| {
            let value = match labels.first() {
                Some(ConstValue::WChar(_)) => u32::try_from(n)
                    .ok()
                    .and_then(char::from_u32)
                    .map_or(ConstValue::Integer(n), ConstValue::WChar),
                _ => ConstValue::Integer(n),
            };
            consts::pattern(self.scope, &value)
        };
        let mut patterns = Vec::new();
        for run in numbers.chunk_by(|a, b| a + 1 == *b) {
            match run {
                [first, .., last] if run.len() >= 3 => {
                    let (first, last) = (of(*first), of(*last));
                    patterns.push(quote!(#first..=#last));
                }
                few => patterns.extend(few.iter().map(|&n| of(n))),
            }
        }
        quote!(#(#patterns)|*)
    }

    /// Generates a discriminator that no label of the union names.
    pub(super) fn value_without_label(&self) -> Option<TokenStream> {
        let spec = self.scope.generator.spec;
        let labels: Vec<&ConstValue> = self
            .variants
            .iter()
            .flat_map(|v| v.labels.iter().copied())
            .collect();
        let free = |value: ConstValue| {
            (!labels.contains(&&value)).then(|| consts::pattern(self.scope, &value))
        };
        match spec.resolve(&self.union.discriminator) {
            Type::Primitive(Primitive::Boolean) => [false, true]
                .into_iter()
                .find_map(|b| free(ConstValue::Boolean(b))),
            Type::Primitive(Primitive::Char) => {
                (0..=u8::MAX).find_map(|c| free(ConstValue::Char(c)))
            }
            Type::Primitive(Primitive::WChar) => ('\0'..).find_map(|c| free(ConstValue::WChar(c))),
            Type::Named(id) => match &spec[*id].kind {
                DeclKind::Enum(e) => (0..e.enumerators.len())
                    .find_map(|index| free(ConstValue::Enumerator(*id, index))),
                _ => None,
            },
            // From 0 up, then from the least.
            Type::Primitive(primitive) => {
                let (least, greatest) = primitive.integer_range()?;
                (0..=greatest)
                    .chain(least..0)
                    .find_map(|n| free(ConstValue::Integer(n)))
            }
            _ => None,
        }
    }
}

fn ordinal(label: &ConstValue) -> Option<i128> {
    match label {
        ConstValue::Integer(value) => Some(*value),
        ConstValue::WChar(value) => Some(i128::from(u32::from(*value))),
        _ => None,
    }
}
