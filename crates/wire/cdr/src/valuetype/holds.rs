//! Types that may hold handles to values, so that handles within one graph need not keep it alive.

use std::collections::BTreeMap;

use super::{Graph, ValueRef};

/// Type whose values may contain handles to valuetypes.
pub trait HoldsValues {
    /// Turns handles to values of `graph` into links that do not keep it alive, since it is going
    /// to own this.
    fn adopt(&mut self, graph: &Graph);
}

impl HoldsValues for ValueRef {
    fn adopt(&mut self, graph: &Graph) {
        self.let_go_of(graph);
    }
}

impl<T: HoldsValues> HoldsValues for Option<T> {
    fn adopt(&mut self, graph: &Graph) {
        if let Some(held) = self {
            held.adopt(graph);
        }
    }
}

impl<T: HoldsValues> HoldsValues for Vec<T> {
    fn adopt(&mut self, graph: &Graph) {
        self.iter_mut().for_each(|held| held.adopt(graph));
    }
}

impl<K, T: HoldsValues> HoldsValues for BTreeMap<K, T> {
    fn adopt(&mut self, graph: &Graph) {
        self.values_mut().for_each(|held| held.adopt(graph));
    }
}

impl<T: HoldsValues, const N: usize> HoldsValues for [T; N] {
    fn adopt(&mut self, graph: &Graph) {
        self.iter_mut().for_each(|held| held.adopt(graph));
    }
}

impl<T: HoldsValues + ?Sized> HoldsValues for Box<T> {
    fn adopt(&mut self, graph: &Graph) {
        (**self).adopt(graph);
    }
}
