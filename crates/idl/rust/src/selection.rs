//! Values of a union's discriminator, and the cases that they select.

use punctual_idl::model::{
    Case, ConstValue, DeclKind, Label, Primitive, Specification, Type, Union,
};

/// Returns the first case that a discriminator selects: one that is only `default:` beside labels
/// for all values is selected by none.
pub(crate) fn first_selected<'u>(spec: &Specification, union: &'u Union) -> Option<&'u Case> {
    let values = |case: &'u Case| {
        case.labels.iter().filter_map(|label| match label {
            Label::Value(value) => Some(value),
            Label::Default => None,
        })
    };
    let all: Vec<&ConstValue> = union.cases.iter().flat_map(values).collect();
    let is_full = covers_everything(spec, &union.discriminator, &all);
    let mut cases = union.cases.iter();
    cases.find(|case| !is_full || values(case).next().is_some())
}

/// Returns whether different labels are all values of a discriminator.
pub(crate) fn covers_everything(
    spec: &Specification,
    discriminator: &Type,
    labels: &[&ConstValue],
) -> bool {
    let count = labels.len() as u128;
    match spec.resolve(discriminator) {
        Type::Primitive(Primitive::Boolean) => count == 2,
        Type::Primitive(Primitive::Char) => count == 256,
        Type::Primitive(primitive) => primitive
            .integer_range()
            .is_some_and(|(least, greatest)| count == (greatest - least + 1).unsigned_abs()),
        Type::Named(id) => match &spec[*id].kind {
            DeclKind::Enum(e) => count == e.enumerators.len() as u128,
            _ => false,
        },
        _ => false,
    }
}
