//! Server that has its objects under every strategy, so that they can be called in turn.

use super::idl::demux::{Directory, DirectoryServant, Strategy as Way};
use super::interfaces;
use super::setup::{Setup, Strategy, id};
use crate::Result;
use punctual::{
    CompletionStatus, ListenEndpoint, ObjectId, ObjectRef, Orb, Poa, RootPoa, SystemException,
    SystemExceptionKind, minor,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Objects for one combination of a strategy and a number of operations.
pub(super) struct Group {
    strategy: Strategy,
    operations: u32,
    pub(super) poa: Poa,
    pub(super) ids: Vec<ObjectId>,
}

impl Group {
    /// Makes nested adapters, and activates objects in the innermost.
    pub(super) fn new(
        root: &Poa,
        setup: &Setup,
        strategy: Strategy,
        operations: u32,
        thrown: &Arc<AtomicU64>,
    ) -> Result<Self> {
        let poa = innermost(root, setup, strategy, operations)?;
        let thrown = setup.one_way.then_some(thrown);
        let activate = |object| {
            let servant = interfaces::servant(operations, thrown);
            if strategy == Strategy::Active {
                return Ok(poa.activate_object(servant)?);
            }
            let id = id(object);
            poa.activate_object_with_id(&id, servant)?;
            Ok(id)
        };
        Ok(Self {
            strategy,
            operations,
            ids: (0..setup.objects).map(activate).collect::<Result<_>>()?,
            poa,
        })
    }

    /// Returns references to `count` objects, spread evenly over all of them; the last one is to
    /// the last object.
    pub(super) fn references(
        &self,
        count: usize,
    ) -> std::result::Result<Vec<ObjectRef>, SystemException> {
        let (all, count) = (self.ids.len(), count.min(self.ids.len()));
        let spread = (1..=count).map(|number| &self.ids[number * all / count - 1]);
        spread
            .map(|id| self.poa.id_to_reference(id).map_err(unknown))
            .collect()
    }
}

fn innermost(root: &Poa, setup: &Setup, strategy: Strategy, operations: u32) -> Result<Poa> {
    let mut poa = root.clone();
    for level in 1..=setup.depth {
        let name = format!("{}, {operations} operations, {level}", strategy.name());
        let policies = match level == setup.depth {
            true => strategy.policies(setup.objects),
            false => Vec::new(),
        };
        poa = poa.create_poa(&name, Some(root.manager()), &policies)?;
    }
    Ok(poa)
}

fn unknown(error: impl std::fmt::Display) -> SystemException {
    let kind = SystemExceptionKind::ObjectNotExist;
    SystemException::new(kind, minor::VALUE, CompletionStatus::No).with_detail(error.to_string())
}

struct Groups {
    groups: Vec<Group>,
    thrown: Arc<AtomicU64>,
}

impl Groups {
    fn group(
        &self,
        strategy: Way,
        operations: u32,
    ) -> std::result::Result<&Group, SystemException> {
        let wanted =
            |group: &&Group| group.strategy.way() == strategy && group.operations == operations;
        let group = self.groups.iter().find(wanted);
        group.ok_or_else(|| unknown("there are no such objects"))
    }
}

impl DirectoryServant for Groups {
    fn references(
        &self,
        strategy: Way,
        operations: u32,
        count: u32,
    ) -> std::result::Result<Vec<Option<ObjectRef>>, SystemException> {
        let references = self
            .group(strategy, operations)?
            .references(count as usize)?;
        Ok(references.into_iter().map(Some).collect())
    }

    fn part(
        &self,
        operations: u32,
        first: u32,
        count: u32,
    ) -> std::result::Result<Vec<Option<ObjectRef>>, SystemException> {
        let group = self.group(Way::Active, operations)?;
        let ids = group.ids.iter().skip(first as usize);
        let references = ids.map(|id| group.poa.id_to_reference(id).map(Some).map_err(unknown));
        references.take(count as usize).collect()
    }

    fn thrown(&self) -> std::result::Result<u64, SystemException> {
        Ok(self.thrown.load(Ordering::Relaxed))
    }
}

/// Serves requests over TCP until the standard input ends.
pub(crate) fn serve(setup: &Setup) -> Result<()> {
    let orb = Orb::builder()
        .configure(|config| {
            config.listen.push(ListenEndpoint::iiop("127.0.0.1", 0));
            // Instructions are counted, and the number of spins before blocking would depend on
            // timing.
            config.iiop.spin.budget = Duration::ZERO;
        })
        .build()?;
    let root = orb.root_poa()?;
    let thrown = Arc::new(AtomicU64::new(0));
    let mut groups = Vec::new();
    for strategy in setup.of_server() {
        for &operations in &setup.operations {
            groups.push(Group::new(&root, setup, strategy, operations, &thrown)?);
        }
    }
    let directory: Directory = root.activate(Groups { groups, thrown })?;
    orb.listen()?;
    let reference = orb.object_to_string(&directory)?;
    root.manager().activate()?;
    crate::peer::serve_until_the_end(reference)?;
    Ok(orb.shutdown(true)?)
}
