//! TypeCode of `any`.

use super::Any;
use crate::kind::TypeKind;
use crate::type_code::{TypeBuilder, TypeCode, TypeIndex, Typed};

impl Typed for Any {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        types.primitive(TypeKind::Any)
    }

    #[inline]
    fn type_code() -> TypeCode {
        TypeCode::simple(TypeKind::Any)
    }
}
