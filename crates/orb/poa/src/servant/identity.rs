//! Identity of servants.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;

/// Identity of the object that implements a servant, for one interface: equal for two skeletons of
/// the interface around clones of one `Arc`, and different for any other two that exist at the same
/// time. Meaningless once the servant is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    address: usize,
    /// Type of the interface, together with that of the value at the address: a struct and its
    /// first member share the address.
    what: TypeId,
}

impl Identity {
    /// Returns the identity of an object as an implementation of interface `I`, which may be any
    /// type that represents the interface. For generated code.
    pub fn of<I, T>(object: &T) -> Self
    where
        I: ?Sized + 'static,
        T: ?Sized + 'static,
    {
        Self {
            address: std::ptr::from_ref(object).cast::<()>().addr(),
            what: TypeId::of::<(PhantomData<I>, PhantomData<T>)>(),
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({:#x}, {:?})", self.address, self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    struct InterfaceA;
    struct InterfaceB;

    struct Part(#[allow(dead_code)] u64);

    struct Whole {
        part: Part,
    }

    #[test]
    fn clones_of_one_arc_are_one_object_and_two_objects_are_two() {
        let (one, other) = (Arc::new(Part(1)), Arc::new(Part(1)));
        let of = |part: &Arc<Part>| Identity::of::<InterfaceA, _>(&**part);
        assert_eq!(of(&one), of(&one.clone()));
        assert_ne!(of(&one), of(&other));
    }

    #[test]
    fn one_object_is_another_as_another_interface() {
        let object = Part(1);
        assert_ne!(
            Identity::of::<InterfaceA, _>(&object),
            Identity::of::<InterfaceB, _>(&object)
        );
    }

    #[test]
    fn an_object_is_not_its_first_member() {
        let whole = Whole { part: Part(1) };
        assert_ne!(
            Identity::of::<InterfaceA, _>(&whole),
            Identity::of::<InterfaceA, _>(&whole.part)
        );
    }
}
