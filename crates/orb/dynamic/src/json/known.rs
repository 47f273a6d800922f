//! Cache of valuetypes' types, so that their members are not computed again for each value.

use std::rc::Rc;
use std::sync::Arc;

use punctual_any::{DynamicFactory, DynamicValue, TypeCode};
use punctual_cdr::CdrError;

/// List of the most recently used valuetype definitions, the latest last.
#[derive(Default)]
pub(super) struct KnownTypes(Vec<KnownType>);

/// Type code of a valuetype, with the members and the factory of the valuetype.
pub(super) struct KnownType {
    type_code: TypeCode,
    /// Names and types of the members, those of its bases first.
    pub(super) members: Rc<[(String, TypeCode)]>,
    /// Factory that makes values of this valuetype.
    pub(super) factory: Arc<DynamicFactory>,
}

/// Upper bound of the cached types: a value seldom alternates between more.
const MOST: usize = 16;

impl KnownTypes {
    /// Returns the cached entry of a type, made if there is none; it becomes the most recently
    /// used.
    ///
    /// # Errors
    /// Those of [`DynamicValue::members_of`] and [`DynamicFactory::new`].
    pub(super) fn latest(&mut self, type_code: &TypeCode) -> Result<&KnownType, CdrError> {
        let at = self.0.iter().rposition(|one| one.type_code == *type_code);
        let at = match at {
            Some(at) => at,
            None => {
                let known = KnownType {
                    type_code: type_code.clone(),
                    members: DynamicValue::members_of(type_code)?.into(),
                    factory: Arc::new(DynamicFactory::new(type_code)?),
                };
                if self.0.len() == MOST {
                    self.0.remove(0);
                }
                self.0.push(known);
                self.0.len() - 1
            }
        };
        if let Some(from_here) = self.0.get_mut(at..) {
            from_here.rotate_left(1);
        }
        self.0
            .last()
            .ok_or(CdrError::BadTypeCode("the type is not a valuetype"))
    }
}
