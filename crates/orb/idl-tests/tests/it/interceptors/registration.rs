//! ORB initialisers, and what they register.

use super::fixture::Allocates;
use super::recorder::{Recorder, Records};
use punctual::interceptor::{DuplicateName, OrbInitInfo, OrbInitializer, PolicyFactory};
use punctual::policy::SyncScope;
use punctual::{Any, InitError, Orb, Policy, SystemException, SystemExceptionKind as Kind, minor};
use std::sync::{Arc, Mutex};

/// Initialiser that records its calls, and registers an initial reference.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

const LOCATION: &str = "corbaloc:iiop:127.0.0.1:2809/Somewhere";

impl OrbInitializer for Notes {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        self.note(format!("pre {} {:?}", info.orb_id(), info.arguments()));
        let early = info.resolve_initial_references("Somewhere").unwrap_err();
        assert_eq!(early.kind(), Kind::BadInvOrder);
        let object = info.orb().string_to_object(LOCATION)?;
        info.register_initial_reference("Somewhere", &object)?;
        let taken = info.register_initial_reference("Somewhere", &object);
        assert_eq!(taken.unwrap_err().kind(), Kind::BadParam);
        let slots = info.orb().pi_current().get_slot(0.into()).unwrap_err();
        assert_eq!(
            (slots.kind(), slots.minor()),
            (Kind::BadInvOrder, minor::omg(10))
        );
        Ok(())
    }

    fn post_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        let found = info.resolve_initial_references("Somewhere")?;
        self.note(format!("post {}", found.ior().profiles.len()));
        Ok(())
    }
}

#[test]
fn all_are_initialised_before_any_resolves_what_they_have_registered() {
    let notes = Arc::new(Notes::default());
    let builder = Orb::builder().orb_id("first").initializer(notes.clone());
    let arguments = ["program", "-ORBGIOPVersion", "1.2", "rest"].map(str::to_owned);
    let (orb, rest) = builder.init(arguments).unwrap();
    assert_eq!(rest, ["program", "rest"]);
    assert_eq!(
        *notes.0.lock().unwrap(),
        [r#"pre first ["program", "rest"]"#, "post 1"]
    );
    assert!(
        orb.list_initial_services()
            .contains(&"Somewhere".to_owned())
    );
    orb.shutdown(true).unwrap();
}

#[test]
fn two_of_one_name_are_refused_and_any_number_may_be_without_one() {
    struct Adds(Arc<Records>);

    impl OrbInitializer for Adds {
        fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
            let recorder = |name| Arc::new(Recorder(name, self.0.clone()));
            info.add_client_request_interceptor(recorder("one"))
                .unwrap();
            info.add_client_request_interceptor(recorder("")).unwrap();
            info.add_client_request_interceptor(recorder("")).unwrap();
            // Lists of other kinds have names of their own.
            info.add_server_request_interceptor(recorder("one"))
                .unwrap();
            let again = info.add_client_request_interceptor(recorder("one"));
            assert_eq!(again, Err(DuplicateName("one".to_owned())));
            Ok(())
        }
    }

    let orb = Orb::builder().initializer(Arc::new(Adds(Arc::default())));
    orb.build().unwrap().shutdown(true).unwrap();
    let recorder = || Arc::new(Recorder("one", Arc::default()));
    let orb = Orb::builder()
        .server_interceptor(recorder())
        .server_interceptor(recorder());
    let error = orb.build().unwrap_err();
    assert!(matches!(error, InitError::Initializer(_)));
    assert!(error.to_string().contains("`one`"), "{error}");
}

#[test]
fn slots_are_numbered_one_after_the_other() {
    let allocates = [
        Arc::new(Allocates::default()),
        Arc::new(Allocates::default()),
    ];
    let [first, second] = allocates.clone();
    let orb = Orb::builder().initializer(first).initializer(second);
    let orb = orb.build().unwrap();
    let numbers = allocates.map(|one| one.0.get().unwrap().number());
    assert_eq!(numbers, [0, 1]);
    orb.shutdown(true).unwrap();
}

#[test]
fn a_policy_type_has_one_factory_which_makes_its_policies() {
    struct Scopes;

    impl PolicyFactory for Scopes {
        fn create_policy(&self, _: u32, value: &Any) -> Result<Policy, SystemException> {
            match value.extract::<i16>() {
                Ok(0) => Ok(Policy::SyncScope(SyncScope::None)),
                _ => Err(Kind::InvPolicy.because("no such scope")),
            }
        }
    }

    impl OrbInitializer for Scopes {
        fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
            info.register_policy_factory(24, Arc::new(Scopes))?;
            let again = info.register_policy_factory(24, Arc::new(Scopes));
            let again = again.unwrap_err();
            assert_eq!(
                (again.kind(), again.minor()),
                (Kind::BadInvOrder, minor::omg(16))
            );
            Ok(())
        }
    }

    let orb = Orb::builder()
        .initializer(Arc::new(Scopes))
        .build()
        .unwrap();
    let value = |number: i16| Any::new(&number).unwrap();
    let made = orb.create_policy(24, &value(0)).unwrap();
    assert_eq!(made, Policy::SyncScope(SyncScope::None));
    assert!(orb.create_policy(24, &value(9)).is_err());
    let none = orb.create_policy(25, &value(0)).unwrap_err();
    assert_eq!(
        (none.kind(), none.minor()),
        (Kind::InvPolicy, minor::omg(3))
    );
    orb.shutdown(true).unwrap();
}
