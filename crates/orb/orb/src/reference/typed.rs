//! References in Anys.

use super::object::ObjectRef;
use punctual_any::{Any, AnyError, TypeBuilder, TypeIndex, TypeKind, Typed};
use punctual_cdr::{Environment, Nilable};

impl Typed for ObjectRef {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        types.interface("IDL:omg.org/CORBA/Object:1.0", "Object")
    }
}

impl ObjectRef {
    /// Returns the reference that an Any holds, whatever its interface; `None` if it is nil (CORBA
    /// 3.3 part 1, §8.11: `to_object`).
    ///
    /// # Errors
    /// [`AnyError::TypeMismatch`] if it holds no reference; [`AnyError::Cdr`] if the Any was
    /// created locally and belongs to no ORB ([`Any::in_environment`]), or if its bytes cannot be
    /// decoded.
    pub fn extracted(any: &Any) -> Result<Option<Self>, AnyError> {
        match any.type_code().original_type().kind() {
            TypeKind::Objref => Ok(any.read(Self::unmarshal_nilable)?),
            _ => Err(AnyError::mismatch(any.type_code(), "a reference")),
        }
    }

    /// Returns an Any that holds this reference, with the interface of its type id.
    ///
    /// # Errors
    /// If the reference cannot be marshaled.
    pub fn to_any(&self) -> Result<Any, punctual_cdr::CdrError> {
        let id = self.type_id();
        let name = id.rsplit(['/', ':']).nth(1).unwrap_or_default();
        let type_code = punctual_any::TypeCode::interface(id, name);
        let environment: &dyn Environment = self.orb();
        Ok(Any::with_type(&type_code, self)?.in_environment(environment))
    }
}
