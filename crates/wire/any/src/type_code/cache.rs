//! TypeCodes that a thread has read lately, found by their octets.
//!
//! A stream of Anys of one type thus reads its TypeCode once, and all that is kept with a type (its shape, its
//! encoding, what it was found to be equivalent to) is there for each of them.

use std::cell::RefCell;

use super::TypeCode;
use crate::kind::TypeKind;

/// How many types a thread keeps, and the longest octets of one.
const KEPT: usize = 16;
const LONGEST: usize = 4096;

struct Known {
    kind: TypeKind,
    content: Box<[u8]>,
    type_code: TypeCode,
}

thread_local! {
    /// The one used last comes first.
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

/// The TypeCode of this kind whose encapsulation has this content.
pub(super) fn find(kind: TypeKind, content: &[u8]) -> Option<TypeCode> {
    KNOWN.with_borrow_mut(|known| {
        let place = known
            .iter()
            .position(|one| one.kind == kind && *one.content == *content)?;
        if let Some(before) = known.get_mut(..=place) {
            before.rotate_right(1);
        }
        known.first().map(|one| one.type_code.clone())
    })
}

pub(super) fn keep(kind: TypeKind, content: &[u8], type_code: &TypeCode) {
    if content.len() > LONGEST {
        return;
    }
    KNOWN.with_borrow_mut(|known| {
        known.truncate(KEPT - 1);
        let one = Known {
            kind,
            content: content.into(),
            type_code: type_code.clone(),
        };
        known.insert(0, one);
    });
}
