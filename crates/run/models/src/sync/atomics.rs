//! Atomics, as strong as the memory model says where loom's own are weaker or stronger.

use loom::sync::atomic::{Ordering, fence};
use std::ops::Deref;

/// Loom takes `SeqCst` for `AcqRel`, but for fences. So each such access has one before it, as processors with weak memory
/// have. Of two accesses in a row both need to be `SeqCst`, then, to stay in order.
fn ordered<V>(order: Ordering, access: impl FnOnce() -> V) -> V {
    if order == Ordering::SeqCst {
        fence(Ordering::SeqCst);
    }
    access()
}

/// Defines an atomic number.
///
/// Loom lets an exchange and a plain store beside it each come last, for different threads, which no memory does. Of
/// exchanges it knows one order, so that a store is made as one; loads see old values still.
macro_rules! atomic_number {
    ($name:ident, $number:ty) => {
        /// An atomic number.
        #[derive(Debug)]
        pub struct $name(loom::sync::atomic::$name);

        impl $name {
            /// Makes one with this value.
            #[must_use]
            pub fn new(value: $number) -> Self {
                Self(loom::sync::atomic::$name::new(value))
            }

            /// Returns a value that the order allows to be seen.
            pub fn load(&self, order: Ordering) -> $number {
                ordered(order, || self.0.load(order))
            }

            /// Stores a value.
            pub fn store(&self, value: $number, order: Ordering) {
                ordered(order, || self.0.swap(value, order));
            }

            /// Adds, and returns the value before.
            pub fn fetch_add(&self, value: $number, order: Ordering) -> $number {
                ordered(order, || self.0.fetch_add(value, order))
            }

            /// Subtracts, and returns the value before.
            pub fn fetch_sub(&self, value: $number, order: Ordering) -> $number {
                ordered(order, || self.0.fetch_sub(value, order))
            }

            /// Clears bits, and returns the value before.
            pub fn fetch_and(&self, value: $number, order: Ordering) -> $number {
                ordered(order, || self.0.fetch_and(value, order))
            }

            /// Sets bits, and returns the value before.
            pub fn fetch_or(&self, value: $number, order: Ordering) -> $number {
                ordered(order, || self.0.fetch_or(value, order))
            }

            /// Exchanges a value for another. With `SeqCst` a fence follows.
            ///
            /// # Errors
            /// The value that is there, if it is another.
            pub fn compare_exchange(
                &self,
                current: $number,
                new: $number,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$number, $number> {
                let exchanged = self.0.compare_exchange(current, new, success, failure);
                if success == Ordering::SeqCst {
                    fence(Ordering::SeqCst);
                }
                exchanged
            }

            /// Exchanges a value for another.
            ///
            /// # Errors
            /// The value that is there, if it is another.
            pub fn compare_exchange_weak(
                &self,
                current: $number,
                new: $number,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$number, $number> {
                self.compare_exchange(current, new, success, failure)
            }
        }

        impl Deref for $name {
            type Target = loom::sync::atomic::$name;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    };
}

atomic_number!(AtomicU32, u32);
atomic_number!(AtomicU64, u64);

/// An atomic flag.
#[derive(Debug)]
pub struct AtomicBool(loom::sync::atomic::AtomicBool);

impl AtomicBool {
    /// Makes one with this value.
    #[must_use]
    pub fn new(value: bool) -> Self {
        Self(loom::sync::atomic::AtomicBool::new(value))
    }

    /// Returns a value that the order allows to be seen.
    pub fn load(&self, order: Ordering) -> bool {
        ordered(order, || self.0.load(order))
    }

    /// Stores a value.
    pub fn store(&self, value: bool, order: Ordering) {
        ordered(order, || self.0.store(value, order));
    }

    /// Stores a value, and returns the one before.
    pub fn swap(&self, value: bool, order: Ordering) -> bool {
        ordered(order, || self.0.swap(value, order))
    }
}
