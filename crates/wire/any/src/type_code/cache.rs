//! Cache of the TypeCodes that a thread has read lately, looked up by their encoding.
//!
//! A stream of Anys of one type reads its TypeCode once, and everything cached with a type (its
//! shape, its encoding, its equivalents) is there for each of them. Long ones are found only while
//! another holder keeps them alive.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use super::TypeCode;
use super::arena::Arena;
use super::node::Index;
use crate::kind::TypeKind;

/// Number of types with an encoding of at most `LONGEST` bytes that a thread keeps.
const KEPT: usize = 16;
const LONGEST: usize = 4096;
/// Number of types with a longer encoding that a thread remembers, without keeping them alive.
const REMEMBERED: usize = 16;

struct CachedType {
    kind: TypeKind,
    content: Box<[u8]>,
    type_code: TypeCode,
}

/// Type with a long encoding, which is kept by its arena.
struct Long {
    kind: TypeKind,
    arena: Weak<Arena>,
    at: Index,
}

thread_local! {
    /// Types cached for this thread, with the most recently used first.
    static KNOWN: RefCell<Vec<CachedType>> = const { RefCell::new(Vec::new()) };
    static LONG: RefCell<Vec<Long>> = const { RefCell::new(Vec::new()) };
}

/// Returns the TypeCode of this kind whose encapsulation has this content.
pub(super) fn find(kind: TypeKind, content: &[u8]) -> Option<TypeCode> {
    if content.len() > LONGEST {
        return find_long(kind, content);
    }
    KNOWN.with_borrow_mut(|known| {
        let place = known
            .iter()
            .position(|one| one.kind == kind && *one.content == *content)?;
        if place != 0
            && let Some(before) = known.get_mut(..=place)
        {
            before.rotate_right(1);
        }
        known.first().map(|one| one.type_code.clone())
    })
}

pub(super) fn keep(kind: TypeKind, content: &[u8], type_code: &TypeCode) {
    if content.len() > LONGEST {
        return remember(kind, type_code);
    }
    KNOWN.with_borrow_mut(|known| {
        known.truncate(KEPT - 1);
        let one = CachedType {
            kind,
            content: content.into(),
            type_code: type_code.clone(),
        };
        known.insert(0, one);
    });
}

fn find_long(kind: TypeKind, content: &[u8]) -> Option<TypeCode> {
    LONG.with_borrow_mut(|long| {
        let has_content = |one: &Long| {
            let arena = one.arena.upgrade().filter(|_| one.kind == kind)?;
            let is_it = arena.encoding().get().is_some_and(|its| **its == *content);
            is_it.then_some((arena, one.at))
        };
        let found = long.iter().enumerate();
        let (place, (arena, at)) = found
            .filter_map(|(place, one)| Some((place, has_content(one)?)))
            .next()?;
        if let Some(before) = long.get_mut(..=place) {
            before.rotate_right(1);
        }
        Some(TypeCode::in_arena(arena, at))
    })
}

fn remember(kind: TypeKind, type_code: &TypeCode) {
    let Some(arena) = type_code.own_arena() else {
        return;
    };
    LONG.with_borrow_mut(|long| {
        long.retain(|one| one.arena.strong_count() > 0);
        long.truncate(REMEMBERED - 1);
        let one = Long {
            kind,
            arena: Arc::downgrade(arena),
            at: type_code.at(),
        };
        long.insert(0, one);
    });
}
