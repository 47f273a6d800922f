//! `CosNaming::BindingIterator` (CosNaming 1.3, §2.3): the place that a client has come to in a context.
//!
//! An iterator is the key behind which it goes on: it holds no bindings, and what is bound or unbound meanwhile does
//! not disturb it. All that is bound throughout is told once. There are so many and no more, and none lives that
//! nobody uses (§2.3.3.1 lets a server destroy iterators at any time: OBJECT_NOT_EXIST).

use std::collections::HashMap;
use std::time::Instant;

use parking_lot::Mutex;
use punctual::{Current, ObjectId, Poa, SystemException, SystemExceptionKind};

use super::{Result, Server, internal};
use crate::cos_naming::{
    Binding, BindingIterator, BindingIteratorServant, BindingList, BindingType,
};
use crate::limits::Limits;
use crate::name::component;
use crate::store::ContextId;
use crate::tree::Listed;

/// All iterators.
#[derive(Debug)]
pub(super) struct Iterators {
    poa: Poa,
    table: Mutex<HashMap<u64, Iterator>>,
}

#[derive(Clone, Debug)]
struct Iterator {
    context: ContextId,
    behind: Option<Box<str>>,
    used: Instant,
}

/// The servant of iterators.
#[derive(Debug)]
pub(super) struct IteratorServer(pub(super) Server);

impl Iterators {
    pub(super) fn new(poa: Poa) -> Self {
        let table = Mutex::default();
        Self { poa, table }
    }

    /// An iterator that goes on behind a key.
    fn make(
        &self,
        context: ContextId,
        behind: Option<Box<str>>,
        limits: &Limits,
    ) -> Result<BindingIterator> {
        let number = getrandom::u64().map_err(|error| internal(error.to_string()))?;
        let id = ObjectId::from(&number.to_be_bytes());
        let reference = self.poa.create_reference_with_id(&id);
        let reference = reference.map_err(|error| internal(error.to_string()))?;
        let used = Instant::now();
        let mut table = self.table.lock();
        table.retain(|_, one| used.duration_since(one.used) < limits.iterator_idle);
        if table.len() >= limits.iterators {
            let oldest = table.iter().min_by_key(|(_, one)| one.used);
            if let Some(oldest) = oldest.map(|(number, _)| *number) {
                table.remove(&oldest);
            }
        }
        table.insert(
            number,
            Iterator {
                context,
                behind,
                used,
            },
        );
        Ok(reference)
    }

    /// Whether there is an iterator of that id.
    pub(super) fn has(&self, id: &ObjectId) -> bool {
        number(id).is_some_and(|number| self.table.lock().contains_key(&number))
    }

    /// Goes on with an iterator: `step` moves it.
    fn advance<R>(
        &self,
        number: u64,
        limits: &Limits,
        step: impl FnOnce(&mut Iterator) -> R,
    ) -> Option<R> {
        let now = Instant::now();
        let mut table = self.table.lock();
        let one = table.get_mut(&number)?;
        if now.duration_since(one.used) >= limits.iterator_idle {
            table.remove(&number);
            return None;
        }
        one.used = now;
        Some(step(one))
    }
}

impl Server {
    /// The first bindings of a context, and an iterator if there are more.
    pub(super) fn list_first(
        &self,
        context: ContextId,
        how_many: u32,
    ) -> Result<(BindingList, Option<BindingIterator>)> {
        let limits = self.service().limits();
        let listed = self
            .service()
            .list(context, None, most(how_many, &limits))?;
        let iterator = match listed.has_more {
            true => {
                let behind = listed.bindings.last().map(|(key, _)| key.clone());
                Some(self.0.iterators.make(context, behind, &limits)?)
            }
            false => None,
        };
        Ok((bindings(listed), iterator))
    }
}

impl IteratorServer {
    fn current(&self) -> Result<u64> {
        let id = Current.object_id().map_err(|_| gone())?;
        number(&id).ok_or_else(gone)
    }

    /// The next bindings. An iterator over a context that was destroyed has none left.
    fn next(&self, how_many: u32) -> Result<BindingList> {
        let server = &self.0;
        let limits = server.service().limits();
        let most = most(how_many, &limits);
        let step = |one: &mut Iterator| {
            let behind = one.behind.as_deref();
            let listed = server.service().list(one.context, behind, most);
            let listed = listed.unwrap_or_default();
            if let Some((key, _)) = listed.bindings.last() {
                one.behind = Some(key.clone());
            }
            listed
        };
        let listed = server.0.iterators.advance(self.current()?, &limits, step);
        listed.map(bindings).ok_or_else(gone)
    }
}

impl BindingIteratorServant for IteratorServer {
    fn next_one(&self) -> Result<(bool, Binding)> {
        let next = self.next(1)?.pop();
        Ok((next.is_some(), next.unwrap_or_default()))
    }

    fn next_n(&self, how_many: u32) -> Result<(bool, BindingList)> {
        // §2.3.3: BAD_PARAM.
        if how_many == 0 {
            return Err(SystemExceptionKind::BadParam.because("`how_many` is 0"));
        }
        let next = self.next(how_many)?;
        Ok((!next.is_empty(), next))
    }

    fn destroy(&self) -> Result<()> {
        let number = self.current()?;
        let gone_now = self.0.0.iterators.table.lock().remove(&number);
        gone_now.map(drop).ok_or_else(gone)
    }
}

/// The number that an id is.
fn number(id: &ObjectId) -> Option<u64> {
    id.as_bytes().try_into().ok().map(u64::from_be_bytes)
}

/// How many bindings a reply has at most.
fn most(how_many: u32, limits: &Limits) -> usize {
    let how_many = usize::try_from(how_many).unwrap_or(usize::MAX);
    how_many.min(limits.listed)
}

fn bindings(listed: Listed) -> BindingList {
    let binding = |(key, is_context): (Box<str>, bool)| Binding {
        binding_name: vec![component(&key)],
        binding_type: match is_context {
            true => BindingType::Ncontext,
            false => BindingType::Nobject,
        },
    };
    listed.bindings.into_iter().map(binding).collect()
}

fn gone() -> SystemException {
    SystemExceptionKind::ObjectNotExist.because("the iterator was destroyed, or nobody used it")
}
