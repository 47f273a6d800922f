//! Atomics that follow the memory model where loom's own are weaker or stronger than it.

use loom::sync::atomic::{Ordering, fence};
use std::ops::Deref;

/// Runs an access, preceded by a fence for `SeqCst`. Loom treats `SeqCst` accesses, but not fences,
/// as `AcqRel`: the fence gives the order that weakly ordered processors give. Two accesses stay in
/// order only if both are `SeqCst`.
fn ordered<V>(order: Ordering, access: impl FnOnce() -> V) -> V {
    if order == Ordering::SeqCst {
        fence(Ordering::SeqCst);
    }
    access()
}

/// Defines an atomic integer type.
///
/// In loom, an exchange and a concurrent plain store may each be the last in modification order,
/// for different threads, which no hardware allows. Exchanges have one order for all threads, so a
/// store is implemented as an exchange; loads may still see old values.
macro_rules! atomic_number {
    ($name:ident, $number:ty) => {
        /// Atomic integer that the model checker loom observes.
        #[derive(Debug)]
        pub struct $name(loom::sync::atomic::$name);

        impl $name {
            /// Makes an atomic integer with this initial value.
            #[must_use]
            pub fn new(value: $number) -> Self {
                Self(loom::sync::atomic::$name::new(value))
            }

            /// Returns one of the values that the memory ordering permits to be seen.
            pub fn load(&self, order: Ordering) -> $number {
                ordered(order, || self.0.load(order))
            }

            /// Stores a value in the atomic integer.
            pub fn store(&self, value: $number, order: Ordering) {
                ordered(order, || self.0.swap(value, order));
            }

            /// Adds `value` to the atomic integer, and returns the previous value.
            pub fn fetch_add(&self, value: $number, order: Ordering) -> $number {
                ordered(order, || self.0.fetch_add(value, order))
            }

            /// Subtracts `value` from the atomic integer, and returns the previous value.
            pub fn fetch_sub(&self, value: $number, order: Ordering) -> $number {
                ordered(order, || self.0.fetch_sub(value, order))
            }

            /// Computes the bitwise AND with `value`, and returns the previous value.
            pub fn fetch_and(&self, value: $number, order: Ordering) -> $number {
                ordered(order, || self.0.fetch_and(value, order))
            }

            /// Computes the bitwise OR with `value`, and returns the previous value.
            pub fn fetch_or(&self, value: $number, order: Ordering) -> $number {
                ordered(order, || self.0.fetch_or(value, order))
            }

            /// Replaces the value `current` by `new`, and returns `current`. With `SeqCst` a fence
            /// follows.
            ///
            /// # Errors
            /// The actual value, if it is not `current`; nothing is replaced then.
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

            /// Replaces the value `current` by `new`, and returns `current`. Never fails
            /// spuriously.
            ///
            /// # Errors
            /// The actual value, if it is not `current`; nothing is replaced then.
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

/// Atomic flag that the model checker loom observes.
#[derive(Debug)]
pub struct AtomicBool(loom::sync::atomic::AtomicBool);

impl AtomicBool {
    /// Makes an atomic flag with this initial value.
    #[must_use]
    pub fn new(value: bool) -> Self {
        Self(loom::sync::atomic::AtomicBool::new(value))
    }

    /// Returns one of the values that the memory ordering permits to be seen.
    pub fn load(&self, order: Ordering) -> bool {
        ordered(order, || self.0.load(order))
    }

    /// Stores a value in the atomic flag.
    pub fn store(&self, value: bool, order: Ordering) {
        ordered(order, || self.0.store(value, order));
    }

    /// Stores a value in the atomic flag, and returns the previous one.
    pub fn swap(&self, value: bool, order: Ordering) -> bool {
        ordered(order, || self.0.swap(value, order))
    }
}
