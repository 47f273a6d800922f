//! Values that are initialised once, and a hasher whose results a model chooses.

use loom::sync::atomic::{AtomicBool, Ordering};
use std::hash::{BuildHasher, Hasher};

/// Value that is initialised once. A thread that finds it set sees everything done to initialise
/// it; it orders nothing else.
#[derive(Debug)]
pub struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    is_there: AtomicBool,
}

impl<T> OnceLock<T> {
    /// Makes a once-cell without a value.
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self {
            value: std::sync::OnceLock::new(),
            is_there: AtomicBool::new(false),
        }
    }

    /// Returns the value, if it has been initialised.
    pub fn get(&self) -> Option<&T> {
        let value = self.value.get()?;
        self.is_there.load(Ordering::Acquire).then_some(value)
    }

    /// Returns the value, and initialises it with `make` if that has not been done.
    ///
    /// # Panics
    /// If two threads initialise the value: the modelled code must exclude that by other means.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if self.get().is_none() {
            assert!(self.value.set(make()).is_ok(), "two make one value");
            self.is_there.store(true, Ordering::Release);
        }
        self.value.get().unwrap()
    }
}

/// Hash state whose hash of some bytes is the last byte, so that a model chooses the collisions.
#[derive(Debug)]
pub struct RandomState;

impl RandomState {
    /// Makes the state for building hashers.
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self
    }
}

impl BuildHasher for RandomState {
    type Hasher = LastByte;

    fn build_hasher(&self) -> LastByte {
        LastByte(0)
    }
}

/// Hasher of [`RandomState`].
#[derive(Debug)]
pub struct LastByte(u64);

impl Hasher for LastByte {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.last().map_or(0, |&last| u64::from(last));
    }
}
