//! What every typed reference can do, beside its interface's own operations.

use super::object::ObjectRef;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::operation::NamedOperation;
use crate::operation_types::OperationTypes;
use std::time::Duration;

/// A typed object reference, written by the IDL compiler.
///
/// An operation of the interface may have the name of one of these: it is an inherent method, of the reference itself or
/// of its first base's, and wins; `<Cubit as Interface>::narrow` still means this one.
pub trait Interface: Clone + Sized {
    /// The interface's repository id.
    const REPOSITORY_ID: &'static str;
    /// Its own and those of all its bases, most derived first.
    const REPOSITORY_IDS: &'static [&'static str];

    /// What travels with requests to one of its operations, inherited ones among them, and with their replies. None of what
    /// it does not have, and of interfaces that were compiled without TypeCodes.
    #[must_use]
    fn operation_types(operation: &str) -> Option<&'static OperationTypes> {
        let _ = operation;
        None
    }

    /// Takes the object's word for it: a call to an object of another type raises BAD_OPERATION.
    fn from_object(object: ObjectRef) -> Self;

    /// The untyped reference.
    fn as_object(&self) -> &ObjectRef;

    /// The object as this interface. Asks the server only when the reference's type id does not
    /// already tell.
    ///
    /// # Errors
    /// BAD_PARAM when the object is of another type, INV_OBJREF when it is nil, and any of a call's.
    fn narrow(object: impl Into<Option<ObjectRef>>) -> Result<Self, SystemException> {
        let object = object.into().ok_or_else(|| {
            SystemException::new(Kind::InvObjref, minor::NIL, CompletionStatus::No).with_detail(
                format!("nil cannot be narrowed to `{}`", Self::REPOSITORY_ID),
            )
        })?;
        if object.is_a(Self::REPOSITORY_ID)? {
            return Ok(Self::from_object(object));
        }
        Err(
            SystemException::new(Kind::BadParam, minor::VALUE, CompletionStatus::No).with_detail(
                format!(
                    "an object of type `{}` is no `{}`",
                    object.type_id(),
                    Self::REPOSITORY_ID
                ),
            ),
        )
    }

    /// The same object with a time-out of its own for each call.
    #[must_use]
    fn with_timeout(&self, timeout: Duration) -> Self {
        Self::from_object(self.as_object().with_timeout(timeout))
    }
}

/// What may be an object reference or nil: references, typed or not, and options of them.
pub trait AsObject {
    /// The reference; `None` is nil.
    fn object(&self) -> Option<&ObjectRef>;
}

impl<I: Interface> AsObject for I {
    fn object(&self) -> Option<&ObjectRef> {
        Some(self.as_object())
    }
}

impl AsObject for Option<ObjectRef> {
    fn object(&self) -> Option<&ObjectRef> {
        self.as_ref()
    }
}

impl NamedOperation<'static> {
    /// The same operation, as one of that interface, which knows what travels with it.
    #[must_use]
    pub const fn of<I: Interface>(mut self) -> Self {
        self.types = Some(I::operation_types);
        self
    }
}

impl Interface for ObjectRef {
    const REPOSITORY_ID: &'static str = "IDL:omg.org/CORBA/Object:1.0";
    const REPOSITORY_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        object
    }

    fn as_object(&self) -> &ObjectRef {
        self
    }
}

/// A reference or a value that may be nil, where one that is not is wanted.
///
/// ```
/// use punctual_orb::{NotNil, ObjectRef, SystemException};
///
/// fn subscribe(observer: Option<&ObjectRef>) -> Result<ObjectRef, SystemException> {
///     Ok(observer.not_nil()?.clone())
/// }
/// assert!(subscribe(None).unwrap_err().to_string().contains("a nil `ObjectRef`"));
/// ```
pub trait NotNil {
    /// What it is when it is not nil.
    type Reference;

    /// The reference.
    ///
    /// # Errors
    /// INV_OBJREF for nil.
    fn not_nil(self) -> Result<Self::Reference, SystemException>;
}

impl<R> NotNil for Option<R> {
    type Reference = R;

    fn not_nil(self) -> Result<R, SystemException> {
        self.ok_or_else(|| {
            let path = std::any::type_name::<R>().trim_start_matches('&');
            let name = path
                .rsplit("::")
                .next()
                .unwrap_or(path)
                .trim_end_matches('>');
            SystemException::new(Kind::InvObjref, minor::NIL, CompletionStatus::No)
                .with_detail(format!("a nil `{name}` where one is wanted"))
        })
    }
}
