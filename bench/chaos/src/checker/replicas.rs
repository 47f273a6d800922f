//! Agreement of the members of an active group: each change of the state has a number, at all members the same one. After it, the
//! counter and the register are the same, whichever member answers.

use super::Violation;
use crate::history::{Kind, Operation};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(super) fn check(history: &[Operation]) -> Option<Violation> {
    // What an answer shows of the state with its version, and of the change that has led to it.
    let (mut sums, mut registers, mut changes) = (HashMap::new(), HashMap::new(), HashMap::new());
    for operation in history {
        let Some((_, answer)) = operation.answered() else {
            continue;
        };
        let version = answer.version;
        let (values, is_change) = match operation.kind {
            Kind::Add => (&mut sums, true),
            Kind::Sum => (&mut sums, false),
            Kind::Write(_) => (&mut registers, true),
            Kind::Read => (&mut registers, false),
            Kind::Echo(_) => continue,
        };
        match values.entry(version) {
            Entry::Vacant(place) => {
                place.insert((answer.value, operation));
            }
            Entry::Occupied(known) if known.get().0 != answer.value => {
                let what = format!("members differ after change {version}");
                return Some(Violation::of(what, &[known.get().1, operation]));
            }
            Entry::Occupied(_) => {}
        }
        if is_change && let Some(other) = changes.insert(version, operation) {
            let what = format!("two changes have the number {version}");
            return Some(Violation::of(what, &[other, operation]));
        }
    }
    None
}
