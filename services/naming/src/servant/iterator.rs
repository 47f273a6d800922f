//! `CosNaming::BindingIterator` (CosNaming 1.3, §2.3): a client's position in a context.
//!
//! An iterator consists only of the key after which it continues: it holds no bindings, and changes
//! in the meantime do not invalidate it. A binding that exists throughout the iteration is returned
//! exactly once. The number of iterators is limited, and unused ones are destroyed (§2.3.3.1 lets a
//! server destroy iterators at any time: OBJECT_NOT_EXIST).

use punctual::poa::{Current, charge_results};
use punctual::{SystemException, SystemExceptionKind};

use super::iterators::{Iterator, number};
use super::server::{Result, Server};
use crate::cos_naming::{
    Binding, BindingIterator, BindingIteratorServant, BindingList, BindingType,
};
use crate::limits::Limits;
use crate::name::component;
use crate::refusal::Refusal;
use crate::store::ContextId;
use crate::tree::Listed;

/// Memory of a list as a multiple of its keys: the keys, the bindings made of them, and the reply.
const COPIES: usize = 4;

/// Servant of all binding iterators of the naming service.
#[derive(Debug)]
pub(super) struct IteratorServer(pub(super) Server);

impl Server {
    /// Returns some bindings of a context, whose memory is counted with the data of all peers before
    /// it is taken.
    fn list(
        &self,
        context: ContextId,
        behind: Option<&str>,
        most: usize,
    ) -> Result<std::result::Result<Listed, Refusal>> {
        let keys = self.service().measure(context, behind, most);
        charge_results(COPIES * keys)?;
        Ok(self.service().list(context, behind, most))
    }

    /// Returns the first bindings of a context, and an iterator if there are more.
    pub(super) fn list_first(
        &self,
        context: ContextId,
        how_many: u32,
    ) -> Result<(BindingList, Option<BindingIterator>)> {
        let limits = self.service().limits();
        let listed = self.list(context, None, most(how_many, &limits))??;
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

    /// Returns the next bindings. An iterator over a context that was destroyed has none left.
    fn next(&self, how_many: u32) -> Result<BindingList> {
        let server = &self.0;
        let limits = server.service().limits();
        let most = most(how_many, &limits);
        let current = self.current()?;
        let iterators = &server.0.iterators;
        loop {
            let place = |one: &mut Iterator| (one.context, one.behind.clone());
            let place = iterators.advance(current, &limits, place);
            let (context, behind) = place.ok_or_else(gone)?;
            let listed = server.list(context, behind.as_deref(), most)?;
            let listed = listed.unwrap_or_default();
            let Some((last, _)) = listed.bindings.last() else {
                return Ok(BindingList::default());
            };
            let step = |one: &mut Iterator| {
                let is_there = one.behind == behind;
                if is_there {
                    one.behind = Some(last.clone());
                }
                is_there
            };
            // Otherwise another call has returned these.
            if iterators.advance(current, &limits, step).ok_or_else(gone)? {
                return Ok(bindings(listed));
            }
        }
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
        match self.0.0.iterators.remove(number) {
            true => Ok(()),
            false => Err(gone()),
        }
    }
}

/// Returns the maximum number of bindings in a reply.
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
    SystemExceptionKind::ObjectNotExist
        .because("the iterator was destroyed, or unused for too long")
}
