//! Annotations about the values of a member or attribute: `@default`, `@min`, `@max`, `@range`.
//! Their constants become constants of the member's type, once that is known.

use std::cmp::Ordering;

use crate::model::{Annotation, AnnotationValue, ConstValue, DeclKind, Type};
use crate::parse::Parser;
use crate::session::Checked;
use crate::source::Place;

use super::parameter::AllowedValues;

impl Parser<'_> {
    /// Converts the annotations' values to the type of the annotated member.
    pub(in crate::parse) fn settle(&mut self, annotations: &mut [Annotation], ty: &Type) {
        for annotation in annotations {
            let is_default = annotation.name == "default";
            if !is_default && !matches!(annotation.name.as_str(), "min" | "max" | "range") {
                continue;
            }
            let place = Place::from(&annotation.location);
            let Some(constant) = self
                .type_of_constants(ty)
                .filter(|ty| is_default || matches!(ty, Type::Primitive(_) | Type::Fixed { .. }))
            else {
                let message = format!("`@{}` does not apply to this type", annotation.name);
                let label = "kept, without effect";
                let warning = self.session.warning_at(place, message, label);
                self.session.report(warning);
                continue;
            };
            let wanted = AllowedValues::Of(constant);
            let arguments = annotation.arguments.iter_mut();
            let result: Checked<Vec<()>> = arguments
                .map(|argument| self.check_argument(&mut argument.value, &wanted, place))
                .collect();
            if result.is_ok() {
                self.check_order(annotation, place);
            }
        }
    }

    /// Returns the type of the constants that stand for values of a type, if it has any.
    fn type_of_constants(&self, ty: &Type) -> Option<Type> {
        match self.spec.resolve(ty) {
            Type::Named(id) => match &self.spec[*id].kind {
                DeclKind::Enum(_) => Some(Type::Named(*id)),
                DeclKind::Bitmask(bitmask) => Some(Type::Primitive(bitmask.holder())),
                DeclKind::Bitset(bitset) => Some(Type::Primitive(bitset.holder())),
                _ => None,
            },
            ty @ (Type::Primitive(_)
            | Type::String { .. }
            | Type::WString { .. }
            | Type::Fixed { .. }) => Some(ty.clone()),
            _ => None,
        }
    }

    /// Warns of an empty range, which is probably a mistake.
    fn check_order(&mut self, annotation: &Annotation, place: Place) {
        let bound = |name| match annotation.argument(name) {
            Some(AnnotationValue::Const(value)) if annotation.name == "range" => Some(value),
            _ => None,
        };
        let order = match (bound("min"), bound("max")) {
            (Some(ConstValue::Integer(min)), Some(ConstValue::Integer(max))) => Some(min.cmp(max)),
            (Some(ConstValue::Float(min)), Some(ConstValue::Float(max))) => min.partial_cmp(max),
            _ => None,
        };
        if order == Some(Ordering::Greater) {
            let message = "no value lies in this range";
            self.error(place, message, "`min` is above `max`");
        }
    }
}
