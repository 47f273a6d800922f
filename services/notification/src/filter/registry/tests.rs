//! Tests of the records of filters.

use std::path::Path;

use punctual::{Orb, RootPoa};
use punctual_events::Objects;
use punctual_host::store::StoreFile;

use super::*;
use crate::limits::Limits;
use crate::storage::{KIND, Kept, Storage};

/// Returns the parts of a service in an ORB.
pub(in crate::filter) fn common(
    orb: &Orb,
    limits: Limits,
    storage: Option<Storage>,
) -> Arc<Common> {
    let poa = orb.root_poa().unwrap();
    let objects = Objects::new(&poa, "Filters", (1, 1), Box::new(|_| None)).unwrap();
    let (metrics, writers) = (Arc::default(), Default::default());
    let storage = storage.map(Arc::new);
    let common = Common::start(limits, metrics, writers, objects, storage, None, false);
    Arc::new(common.unwrap())
}

fn factory(orb: &Orb, path: &Path) -> Factory {
    let storage = Storage::new(StoreFile::open(path, KIND).unwrap());
    Factory {
        common: common(orb, Limits::default(), Some(storage)),
        registry: Arc::default(),
    }
}

/// Makes a filter, and returns it with its number.
fn made(factory: &Factory) -> (u64, Arc<Forwarding>) {
    let filter = factory.create(Grammar::Tcl).unwrap();
    let filter = factory.registry.forwarding(&factory.common, &filter);
    let filter = filter.unwrap().unwrap();
    (filter.number(), filter)
}

#[test]
fn the_record_of_a_destroyed_filter_stays_until_it_is_detached_and_another_one_destroyed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let orb = Orb::builder().build().unwrap();
    let factory = factory(&orb, &path);
    let destroy = |number| factory.registry.remove(&factory.common, number).unwrap();
    let ((first, attached), (second, kept)) = (made(&factory), made(&factory));
    destroy(first);
    destroy(second);
    drop(attached);
    let (third, unattached) = made(&factory);
    drop(unattached);
    destroy(third);
    factory.common.stop();
    let file = StoreFile::open(&path, KIND).unwrap();
    let records = Kept::read(&file).unwrap().filters;
    let numbers: Vec<u64> = records.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [second]);
    drop(kept);
    orb.shutdown(true).unwrap();
}
