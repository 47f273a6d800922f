//! Implementation of a servant and its views, by which it is called without a request.
//!
//! A stub knows the trait that it calls, a skeleton the type that implements it, and the code
//! between them knows neither. A [`View`] leads from one to the other: a function from the
//! implementation to the trait object, found by the trait's type. No reference count is changed on
//! the way, so that a call costs no more than three calls through function pointers.

use std::any::{Any, TypeId};
use std::fmt;

/// Function that casts an implementation, whose type only the function knows, to a `V`.
pub type Cast<V> = fn(&(dyn Any + Send + Sync)) -> Option<&V>;

/// View of an implementation as an object of one trait. Made by [`views!`](crate::views).
#[derive(Clone, Copy)]
pub struct View {
    of: TypeId,
    cast: &'static (dyn Any + Send + Sync),
}

impl View {
    /// Makes a view as the trait object type `V`.
    #[must_use]
    pub const fn of<V: ?Sized + 'static>(cast: &'static Cast<V>) -> Self {
        Self {
            of: TypeId::of::<V>(),
            cast,
        }
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({:?})", self.of)
    }
}

/// Makes the list of a type's views, one for each trait object type given.
///
/// ```
/// use punctual_orb::{Provided, View, views};
///
/// trait Greets {
///     fn greeting(&self) -> String;
/// }
///
/// impl Greets for String {
///     fn greeting(&self) -> String {
///         format!("I am {self}")
///     }
/// }
///
/// const VIEWS: &[View] = views![String as dyn Greets];
/// let servant = "Ada".to_owned();
/// let provided = Provided::new(&servant, VIEWS);
/// let greets = provided.view::<dyn Greets>().ok_or("no view")?;
/// assert_eq!(greets.greeting(), "I am Ada");
/// assert!(provided.view::<dyn Iterator<Item = u8>>().is_none());
/// # Ok::<(), &str>(())
/// ```
#[macro_export]
macro_rules! views {
    ($implementation:ty as $($view:ty),+ $(,)?) => {
        &[$($crate::View::of::<$view>(
            &((|it| ::core::option::Option::Some(it.downcast_ref::<$implementation>()?))
                as $crate::Cast<$view>)
        )),+]
    };
}

/// Servant implementation, with the trait objects to which it can be converted.
#[derive(Clone, Copy)]
pub struct Provided<'s> {
    implementation: &'s (dyn Any + Send + Sync),
    views: &'static [View],
    /// True if the servant's methods may wait for an answer from another thread.
    answers_later: bool,
}

impl<'s> Provided<'s> {
    /// Pairs an implementation with its views, which must be views of its own type: others are
    /// never found.
    #[must_use]
    pub fn new(implementation: &'s (dyn Any + Send + Sync), views: &'static [View]) -> Self {
        Self {
            implementation,
            views,
            answers_later: false,
        }
    }

    /// Marks the servant as one that may answer later, from another thread: its methods then block
    /// until it has answered. Callers that must not wait send a request instead.
    #[must_use]
    pub fn answering_later(self) -> Self {
        Self {
            answers_later: true,
            ..self
        }
    }

    /// Returns `true` if the servant's methods may block until another thread answers.
    pub(crate) fn answers_later(&self) -> bool {
        self.answers_later
    }

    /// Returns the implementation as a `V`, if it has a view of that type.
    #[inline]
    #[must_use]
    pub fn view<V: ?Sized + 'static>(&self) -> Option<&'s V> {
        let wanted = TypeId::of::<V>();
        let view = self.views.iter().find(|view| view.of == wanted)?;
        let cast = view.cast.downcast_ref::<Cast<V>>()?;
        cast(self.implementation)
    }
}

impl fmt::Debug for Provided<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provided")
            .field("views", &self.views)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    trait Reads: Send + Sync {
        fn read(&self) -> u32;
    }

    trait Writes: Reads {
        fn write(&self, value: u32) -> u32;
    }

    struct Device(u32);

    impl Reads for Device {
        fn read(&self) -> u32 {
            self.0
        }
    }

    impl Writes for Device {
        fn write(&self, value: u32) -> u32 {
            self.0 + value
        }
    }

    struct Skeleton<T>(T);

    impl<T: Writes + 'static> Skeleton<T> {
        const VIEWS: &'static [View] = views![T as dyn Writes, dyn Reads];

        fn provide(&self) -> Provided<'_> {
            Provided::new(&self.0, Self::VIEWS)
        }
    }

    #[test]
    fn a_servant_is_seen_as_its_interface_and_as_every_base() {
        let skeleton = Skeleton(Device(3));
        let provided = skeleton.provide();
        assert_eq!(provided.view::<dyn Writes>().unwrap().write(4), 7);
        assert_eq!(provided.view::<dyn Reads>().unwrap().read(), 3);
    }

    #[test]
    fn it_is_seen_as_nothing_else() {
        let skeleton = Skeleton(Device(3));
        assert!(skeleton.provide().view::<dyn fmt::Debug>().is_none());
        assert!(skeleton.provide().view::<Device>().is_none());
    }

    #[test]
    fn the_views_of_another_type_show_nothing() {
        let provided = Provided::new(&7u32, Skeleton::<Device>::VIEWS);
        assert!(provided.view::<dyn Reads>().is_none());
    }
}
