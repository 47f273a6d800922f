//! Lender that takes every run.

use std::sync::Arc;

use punctual_cdr::{Lender, Segment};

#[derive(Debug)]
struct Run(Vec<u8>);

impl Segment for Run {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn as_slice(&self) -> &[u8] {
        &self.0
    }

    fn copy_to(&self, to: &mut [u8]) {
        to.copy_from_slice(&self.0);
    }
}

/// Memory lender that takes every run of bytes offered.
#[derive(Debug)]
pub(crate) struct TakesAll;

impl Lender for TakesAll {
    fn threshold(&self) -> usize {
        1
    }

    fn lend(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        Some(Arc::new(Run(octets.to_vec())))
    }
}
