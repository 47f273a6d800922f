//! IOR interceptors: they add tagged components to references, and observe the states of adapters
//! and POA managers.

use super::closures::AtClient;
use super::fixture::{Near, Pair, Vault};
use super::generated::intercepted::Account;
use super::support::watchdog;
use punctual::interceptor::{
    AdapterState, ClientRequestInfo, Ior, IorInfo, IorInterceptor, ObjectReferenceFactory,
    ObjectReferenceTemplate, TaggedComponent, TaggedProfile,
};
use punctual::poa::{CreatePoaError, IdAssignmentPolicy, PoaError, PoaPolicy};
use punctual::{Interface, Orb, SystemException, SystemExceptionKind as Kind, minor};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const EVERYWHERE: u32 = 0x1234_5601;
const IN_IIOP: u32 = 0x1234_5602;
const ELSEWHERE: u32 = 0x1234_5603;

/// IOR interceptor that adds components, and records its calls.
#[derive(Default)]
struct Marks {
    told: Mutex<Vec<String>>,
}

impl Marks {
    fn note(&self, text: String) {
        self.told.lock().unwrap().push(text);
    }
}

fn component(tag: u32, data: &str) -> TaggedComponent {
    let data = data.as_bytes().to_vec();
    TaggedComponent { tag, data }
}

impl IorInterceptor for Marks {
    fn name(&self) -> &str {
        "marks"
    }

    fn establish_components(&self, info: &mut IorInfo<'_>) {
        let name = info.adapter_name().join("/");
        self.note(format!("{name} {:?}", info.state()));
        assert!(info.manager_id() > 0);
        let none = info.get_effective_policy(4711).unwrap_err();
        assert_eq!(
            (none.kind(), none.minor()),
            (Kind::InvPolicy, minor::omg(2))
        );
        info.add_ior_component(component(EVERYWHERE, &name))
            .unwrap();
        info.add_ior_component_to_profile(component(IN_IIOP, "iiop"), 0)
            .unwrap();
        info.add_ior_component_to_profile(component(ELSEWHERE, "no"), 99)
            .unwrap();
        assert_ne!(name, "RootPOA/panics", "an interceptor panics on purpose");
    }

    fn components_established(&self, info: &mut IorInfo<'_>) -> Result<(), SystemException> {
        match info.adapter_name().last().map(String::as_str) {
            Some("refused") => Err(Kind::NoPermission.because("not that one")),
            _ => Ok(()),
        }
    }

    fn adapter_manager_state_changed(&self, manager: u32, state: AdapterState) {
        assert!(manager > 0);
        self.note(format!("manager {state:?}"));
    }

    fn adapter_state_changed(&self, adapters: &[Vec<String>], state: AdapterState) {
        let names: Vec<String> = adapters.iter().map(|name| name.join("/")).collect();
        self.note(format!("{} {state:?}", names.join(" ")));
    }
}

#[test]
fn components_that_are_added_stand_in_every_reference_of_the_adapter_and_reach_the_client() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = seen.clone();
    let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
        if point == "send_request" {
            let mut told = note.lock().unwrap();
            for tag in [EVERYWHERE, IN_IIOP, ELSEWHERE] {
                let data = info.get_effective_component(tag).map(|one| one.data);
                told.push(data.ok().map(|data| String::from_utf8(data).unwrap()));
            }
        }
        Ok(())
    });
    let marks = Arc::new(Marks::default());
    let server = Orb::builder().ior_interceptor(marks.clone());
    let client = Orb::builder().client_interceptor(Arc::new(client));
    let pair = Pair::new(Near::ByWire, server, client);
    let manager = pair.poa.manager().clone();
    let child = pair.poa.create_poa("child", Some(&manager), &[]).unwrap();
    let below: Account = child.activate(Vault::default()).unwrap();
    let below = Account::from_object(pair.as_client(below.as_object()));
    assert_eq!(pair.account().deposit(1).unwrap(), 1);
    assert_eq!(below.deposit(1).unwrap(), 1);
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        *seen.lock().unwrap(),
        [
            text("RootPOA"),
            text("iiop"),
            None,
            text("RootPOA/child"),
            text("iiop"),
            None
        ]
    );
    manager.hold_requests(false).unwrap();
    manager.discard_requests(false).unwrap();
    child.destroy(false, false).unwrap();
    manager.deactivate(false, false).unwrap();
    assert_eq!(
        *marks.told.lock().unwrap(),
        [
            "RootPOA Holding",
            "manager Active",
            "RootPOA/child Active",
            "manager Holding",
            "manager Discarding",
            "RootPOA/child NonExistent",
            "manager Inactive",
        ]
    );
    pair.end();
}

#[test]
fn an_adapter_is_not_made_where_an_interceptor_raises_and_is_made_where_one_panics() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let server = Orb::builder().ior_interceptor(Arc::new(Marks::default()));
    let pair = Pair::new(Near::ByWire, server, Orb::builder());
    let refused = pair.poa.create_poa("refused", None, &[]).unwrap_err();
    match refused {
        CreatePoaError::System(exception) => assert_eq!(exception.kind(), Kind::NoPermission),
        other => panic!("{other}"),
    }
    assert!(pair.poa.find_poa("refused", false).is_err());
    let manager = pair.poa.manager();
    let made = pair.poa.create_poa("panics", Some(manager), &[]).unwrap();
    let account: Account = made.activate(Vault::default()).unwrap();
    let account = Account::from_object(pair.as_client(account.as_object()));
    assert_eq!(account.deposit(1).unwrap(), 1);
    pair.end();
}

/// Reference factory whose references have a profile of their own beside the adapter's profile.
struct Gateway(ObjectReferenceTemplate);

const GATEWAY: u32 = 0x1234_5604;

impl ObjectReferenceFactory for Gateway {
    fn make_object(&self, repository_id: &str, object_id: &[u8]) -> Result<Ior, SystemException> {
        match object_id {
            b"refused" => return Err(Kind::NoPermission.because("not that one")),
            b"panics" => panic!("a factory panics on purpose"),
            _ => {}
        }
        let mut ior = self.0.make_object(repository_id, object_id)?;
        ior.profiles.push(TaggedProfile {
            tag: GATEWAY,
            data: object_id.to_vec(),
        });
        Ok(ior)
    }
}

/// IOR interceptor that replaces the object reference factories of child adapters.
#[derive(Default)]
struct Replaces(Mutex<Vec<ObjectReferenceTemplate>>);

impl IorInterceptor for Replaces {
    fn establish_components(&self, info: &mut IorInfo<'_>) {
        let early = [
            info.adapter_template().map(drop),
            info.current_factory().map(drop),
        ];
        for raised in early {
            let raised = raised.unwrap_err();
            assert_eq!(
                (raised.kind(), raised.minor()),
                (Kind::BadInvOrder, minor::omg(14))
            );
        }
    }

    fn components_established(&self, info: &mut IorInfo<'_>) -> Result<(), SystemException> {
        let template = info.adapter_template()?.clone();
        // There is no adapter yet for the reference.
        let early = info.current_factory()?.make_object("IDL:a:1.0", b"early");
        assert_eq!(early.unwrap_err().kind(), Kind::ObjectNotExist);
        self.0.lock().unwrap().push(template.clone());
        if template.adapter_name().len() > 1 {
            info.set_current_factory(Arc::new(Gateway(template)))?;
        }
        Ok(())
    }
}

#[test]
fn a_factory_of_an_interceptors_makes_every_reference_of_its_adapter() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let replaces = Arc::new(Replaces::default());
    let server = Orb::builder().ior_interceptor(replaces.clone());
    let server = server.server_id("bank").orb_id("main");
    let pair = Pair::new(Near::ByWire, server, Orb::builder());
    let user_ids = [PoaPolicy::IdAssignment(IdAssignmentPolicy::User)];
    let manager = pair.poa.manager();
    let child = pair
        .poa
        .create_poa("child", Some(manager), &user_ids)
        .unwrap();
    let vault = Arc::new(Vault::default());
    let id = "seven".into();
    let activated: Account = child.activate_with_id(&id, vault.clone()).unwrap();
    for account in [
        activated,
        child.create_reference_with_id(&id).unwrap(),
        child.id_to_reference(&id).unwrap(),
        child.servant_to_reference(&vault).unwrap(),
    ] {
        let profiles = &account.as_object().ior().profiles;
        let last = profiles.last().unwrap();
        assert_eq!((last.tag, &last.data[..]), (GATEWAY, &b"seven"[..]));
        // The adapter's own profile is still there, and leads to the object.
        let account = Account::from_object(pair.as_client(account.as_object()));
        account.deposit(1).unwrap();
        assert_eq!(
            child.reference_to_id(&account_of(&pair, &account)).unwrap(),
            id
        );
    }
    assert_eq!(vault.holds.load(std::sync::atomic::Ordering::Relaxed), 4);
    let kind = |id: &str| {
        let made: Result<Account, _> = child.create_reference_with_id(&id.into());
        match made.unwrap_err() {
            PoaError::System(raised) => raised.kind(),
            other => panic!("{other}"),
        }
    };
    assert_eq!(kind("refused"), Kind::NoPermission);
    assert_eq!(kind("panics"), Kind::Unknown);
    // Other references are unchanged.
    let of_root = pair.account.as_object().ior().profiles.iter();
    assert!(of_root.clone().all(|profile| profile.tag != GATEWAY));
    let templates = replaces.0.lock().unwrap();
    let names: Vec<String> = templates
        .iter()
        .map(|one| {
            format!(
                "{} {} {}",
                one.server_id(),
                one.orb_id(),
                one.adapter_name().join("/")
            )
        })
        .collect();
    assert_eq!(names, ["bank main RootPOA", "bank main RootPOA/child"]);
    assert_ne!(templates[0], templates[1]);
    // As the adapter makes it itself.
    let own = templates[1]
        .make_object(Account::REPOSITORY_ID, b"seven")
        .unwrap();
    assert!(own.profiles.iter().all(|profile| profile.tag != GATEWAY));
    drop(templates);
    pair.end();
}

/// Returns a reference of the server's ORB to the object of a client's reference.
fn account_of(pair: &Pair, account: &Account) -> Account {
    Account::from_object(super::fixture::moved(account.as_object(), &pair.server))
}
