//! Strategies for finding objects and operations, which must all serve requests alike.

use super::teller::policies::{MULTIPLE_ID, PERSISTENT, USER_ID};
use super::teller::{Teller, World, saying, servant, telling_ids};
use punctual::poa::{CreatePoaError, Demultiplexing, OperationDemultiplexing, PoaError, PoaPolicy};
use punctual::{ObjectId, SystemExceptionKind as Kind};

fn ids() -> Vec<ObjectId> {
    (0..40)
        .map(|number| format!("object {number}").as_str().into())
        .collect()
}

fn strategies() -> [Demultiplexing; 5] {
    [
        Demultiplexing::Active,
        Demultiplexing::Linear,
        Demultiplexing::DynamicHash,
        Demultiplexing::PerfectHash(ids()),
        Demultiplexing::DeLayered,
    ]
}

#[test]
fn each_strategy_finds_what_is_active_and_nothing_else() {
    let world = World::new();
    for strategy in strategies() {
        for more in [&[][..], &[PERSISTENT]] {
            let own = [
                USER_ID,
                MULTIPLE_ID,
                PoaPolicy::Demultiplexing(strategy.clone()),
            ];
            let poa = world.poa("A", &[&own, more].concat());
            let shared = telling_ids();
            for id in ids() {
                poa.activate_object_with_id(&id, servant(&shared)).unwrap();
            }
            let theirs: Vec<Teller> = ids()
                .iter()
                .map(|id| world.seen(&poa.id_to_reference(id).unwrap()))
                .collect();
            for (id, theirs) in ids().iter().zip(&theirs) {
                assert_eq!(theirs.tell().unwrap(), id.to_string(), "{strategy:?}");
                assert_eq!(theirs.tell_again().unwrap(), format!("again: {id}"));
                let unknown = theirs.be_quiet().unwrap_err();
                assert_eq!(unknown.kind(), Kind::BadOperation);
            }
            poa.deactivate_object(&ids()[7]).unwrap();
            for (number, theirs) in theirs.iter().enumerate() {
                let told = theirs.tell().map_err(|exception| exception.kind());
                match number {
                    7 => assert_eq!(told, Err(Kind::ObjectNotExist)),
                    _ => assert_eq!(told, Ok(format!("object {number}"))),
                }
            }
            poa.activate_object_with_id(&ids()[7], servant(&saying("back")))
                .unwrap();
            assert_eq!(theirs[7].tell().unwrap(), "back");
            poa.destroy(true, true).unwrap();
        }
    }
}

#[test]
fn each_strategy_but_the_perfect_one_assigns_ids() {
    let world = World::new();
    for strategy in strategies() {
        let perfect = matches!(strategy, Demultiplexing::PerfectHash(_));
        let policies = [PoaPolicy::Demultiplexing(strategy)];
        let manager = world.root.manager();
        let made = world.root.create_poa("A", Some(manager), &policies);
        if perfect {
            assert!(matches!(
                made,
                Err(CreatePoaError::InvalidPolicy { index: 0, .. })
            ));
            continue;
        }
        let poa = made.unwrap();
        let mine: Teller = poa.activate(saying("first")).unwrap();
        let theirs = world.seen(&mine);
        assert_eq!(theirs.tell().unwrap(), "first");
        poa.deactivate(&mine).unwrap();
        let _second: Teller = poa.activate(saying("second")).unwrap();
        assert_eq!(theirs.fails(), Kind::ObjectNotExist);
        poa.destroy(true, true).unwrap();
    }
}

#[test]
fn perfect_hashing_knows_its_ids_and_no_others() {
    let world = World::new();
    let perfect = PoaPolicy::Demultiplexing(Demultiplexing::PerfectHash(ids()));
    let poa = world.poa("A", &[USER_ID, perfect]);
    let other = poa.activate_object_with_id(&"other".into(), servant(&saying("x")));
    let Err(PoaError::System(exception)) = other else {
        panic!("{other:?}");
    };
    assert_eq!(exception.kind(), Kind::BadParam);
    assert_eq!(world.named(&poa, "other").fails(), Kind::ObjectNotExist);
}

#[test]
fn operations_are_found_alike_in_every_way() {
    let world = World::new();
    for how in [
        OperationDemultiplexing::Compiled,
        OperationDemultiplexing::Linear,
        OperationDemultiplexing::DynamicHash,
    ] {
        let poa = world.poa("A", &[PoaPolicy::OperationDemultiplexing(how)]);
        let mine: Teller = poa.activate(saying("hello")).unwrap();
        let theirs = world.seen(&mine);
        assert_eq!(theirs.tell().unwrap(), "hello", "{how:?}");
        assert_eq!(theirs.tell_again().unwrap(), "again: hello");
        let unknown = theirs.be_quiet().unwrap_err();
        assert_eq!(unknown.kind(), Kind::BadOperation);
        poa.destroy(true, true).unwrap();
    }
}
