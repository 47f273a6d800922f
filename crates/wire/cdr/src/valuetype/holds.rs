//! What may hold handles to values, so that those to values of one's own graph can let go of it.

use std::collections::BTreeMap;

use super::{Graph, ValueRef};

/// A type whose values may hold handles.
pub trait HoldsValues {
    /// Lets go of `graph` wherever a handle leads to a value of it: it is going to hold this.
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
