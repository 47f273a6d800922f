//! Members that factories make.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use punctual::poa::servant_of;
use punctual::{Any, Interface, ObjectRef, Poa, RootPoa};
use punctual_groups_client::portable_group::{
    FactoryInfo, GenericFactory, GenericFactoryCreateObjectError, GenericFactoryDeleteObjectError,
    GenericFactoryServant, MEMB_INF_CTRL, NoFactory, ObjectGroupManagerCreateMemberError,
    ObjectNotCreated, ObjectNotFound, Property,
};

use crate::idl::Register;
use crate::support::{Counter, Served, TYPE, at, property, until};

/// Factory of registers, which are named after it.
struct Making {
    name: String,
    poa: Poa,
    made: Mutex<Vec<ObjectRef>>,
    fails: AtomicBool,
}

impl GenericFactoryServant for Making {
    fn create_object(
        &self,
        _type_id: &str,
        _the_criteria: &[Property],
    ) -> Result<(Option<ObjectRef>, Any), GenericFactoryCreateObjectError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(ObjectNotCreated.into());
        }
        let servant = servant_of::<Register, _>(Counter::named(&self.name));
        let id = self.poa.activate_object(servant).unwrap();
        let object: ObjectRef = self.poa.id_to_reference(&id).unwrap();
        let mut made = self.made.lock();
        made.push(object.clone());
        let number = u32::try_from(made.len()).unwrap();
        Ok((Some(object), Any::new(&number).unwrap()))
    }

    fn delete_object(
        &self,
        factory_creation_id: &Any,
    ) -> Result<(), GenericFactoryDeleteObjectError> {
        let number = factory_creation_id
            .extract::<u32>()
            .map_err(|_| ObjectNotFound)?;
        let mut made = self.made.lock();
        let at = usize::try_from(number).unwrap() - 1;
        let object = made.get(at).cloned().ok_or(ObjectNotFound)?;
        self.poa.deactivate(&object).map_err(|_| ObjectNotFound)?;
        if made.len() == at + 1 {
            made.pop();
        }
        Ok(())
    }
}

fn making(served: &Served, name: &str) -> (Arc<Making>, FactoryInfo) {
    let poa = served.client.root_poa().unwrap();
    let making = Arc::new(Making {
        name: name.to_owned(),
        poa,
        made: Mutex::default(),
        fails: AtomicBool::new(false),
    });
    let object = served.activate(servant_of::<GenericFactory, _>(making.clone()));
    let info = FactoryInfo {
        the_factory: Some(GenericFactory::from_object(object)),
        the_location: at(name),
        the_criteria: Vec::new(),
    };
    (making, info)
}

fn criteria(factories: &[FactoryInfo], initial: u16, minimum: u16) -> Vec<Property> {
    vec![
        property(
            "org.omg.PortableGroup.MembershipStyle",
            Any::new(&MEMB_INF_CTRL).unwrap(),
        ),
        property(
            "org.omg.PortableGroup.Factories",
            Any::new(&factories.to_vec()).unwrap(),
        ),
        property(
            "org.omg.PortableGroup.InitialNumberMembers",
            Any::new(&initial).unwrap(),
        ),
        property(
            "org.omg.PortableGroup.MinimumNumberMembers",
            Any::new(&minimum).unwrap(),
        ),
    ]
}

#[test]
fn factories_make_as_many_members_as_are_wanted_and_delete_them_with_the_group() {
    let served = Served::new();
    let ((a, first), (b, second)) = (making(&served, "a"), making(&served, "b"));
    let criteria = criteria(&[first, second], 2, 2);
    let (group, creation) = served.balancing.create_object(TYPE, &criteria).unwrap();
    let locations = served
        .balancing
        .locations_of_members(group.as_ref())
        .unwrap();
    assert_eq!(locations, [at("a"), at("b")]);
    served.balancing.delete_object(&creation).unwrap();
    until(|| a.made.lock().is_empty() && b.made.lock().is_empty());
    assert_eq!(served.service.groups(), 0);
}

#[test]
fn a_group_that_cannot_have_its_members_is_not_made() {
    let served = Served::new();
    let ((a, first), (b, second)) = (making(&served, "a"), making(&served, "b"));
    b.fails.store(true, Ordering::SeqCst);
    let refused = served
        .balancing
        .create_object(TYPE, &criteria(&[first, second], 2, 2));
    assert!(matches!(
        refused,
        Err(GenericFactoryCreateObjectError::CannotMeetCriteria(_))
    ));
    until(|| a.made.lock().is_empty());
    assert_eq!(served.service.groups(), 0);
    let refused = served.balancing.create_object(TYPE, &criteria(&[], 1, 1));
    assert!(matches!(
        refused,
        Err(GenericFactoryCreateObjectError::NoFactory(_))
    ));
}

#[test]
fn a_member_that_does_not_answer_is_made_anew_elsewhere() {
    let served = Served::new();
    let ((a, first), (b, second)) = (making(&served, "a"), making(&served, "b"));
    let (group, _) = served
        .balancing
        .create_object(TYPE, &criteria(&[first, second], 1, 1))
        .unwrap();
    let made = a.made.lock()[0].clone();
    a.fails.store(true, Ordering::SeqCst);
    a.poa.deactivate(&made).unwrap();
    until(|| !b.made.lock().is_empty());
    until(|| {
        served
            .balancing
            .locations_of_members(group.as_ref())
            .unwrap()
            == [at("b")]
    });
}

#[test]
fn a_member_is_created_at_a_location_with_a_factory() {
    let served = Served::new();
    let (_, info) = making(&served, "a");
    let factories = property("org.omg.ft.Factories", Any::new(&vec![info]).unwrap());
    let (group, _) = served
        .replication
        .create_object(TYPE, &[factories])
        .unwrap();
    let manager = &served.replication;
    manager
        .create_member(group.as_ref(), &at("a"), TYPE, &[])
        .unwrap();
    let again = manager.create_member(group.as_ref(), &at("a"), TYPE, &[]);
    assert!(matches!(
        again,
        Err(ObjectGroupManagerCreateMemberError::MemberAlreadyPresent(_))
    ));
    let nowhere = manager.create_member(group.as_ref(), &at("b"), TYPE, &[]);
    let Err(ObjectGroupManagerCreateMemberError::NoFactory(NoFactory { the_location, .. })) =
        nowhere
    else {
        panic!("{nowhere:?}");
    };
    assert_eq!(the_location, at("b"));
}
