//! Every combination of the seven policies of an object adapter: creating the adapter either fails,
//! or the adapter serves calls as its policies say, both remote calls and direct calls within the
//! process.
#![allow(clippy::unwrap_used)]

mod idl {
    #![allow(unreachable_pub, dead_code)]
    include!(concat!(env!("OUT_DIR"), "/adapters.rs"));
}

use idl::adapters::{Account, AccountDepositError, AccountServant, IdentifiedServant};
use punctual::poa::{
    Cookie, CreatePoaError, Current, IdAssignmentPolicy, IdUniquenessPolicy,
    ImplicitActivationPolicy, LifespanPolicy, PoaPolicy, RequestProcessingPolicy, ServantActivator,
    ServantLocator, ServantManager, ServantRetentionPolicy, ThreadPolicy, servant_of,
};
use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, ObjectId, Orb, Poa, RootPoa, Servant, SystemException};
use std::sync::Arc;

/// Error with which a servant manager refuses a request.
type Refusal = punctual::stub::DispatchError;

/// Servant that returns the id of the called object.
struct Called;

impl IdentifiedServant for Called {
    fn id(&self) -> Result<String, SystemException> {
        Ok(Current.object_id().unwrap().to_string())
    }
    fn adapter(&self) -> Result<String, SystemException> {
        Ok(Current.poa().unwrap().name().to_owned())
    }
}

impl AccountServant for Called {
    fn deposit(&self, amount: i32) -> Result<i32, AccountDepositError> {
        Ok(amount)
    }
}

fn called() -> Arc<dyn Servant> {
    servant_of::<Account, _>(Called)
}

struct Provider;

impl ServantActivator for Provider {
    fn incarnate(&self, _: &ObjectId, _: &Poa) -> Result<Arc<dyn Servant>, Refusal> {
        Ok(called())
    }
    fn etherealize(&self, _: &ObjectId, _: &Poa, _: Arc<dyn Servant>, _: bool, _: bool) {}
}

impl ServantLocator for Provider {
    fn preinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), Refusal> {
        Ok((called(), Box::new(())))
    }
    fn postinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
        _: Cookie,
        _: Arc<dyn Servant>,
    ) -> Result<(), Refusal> {
        Ok(())
    }
}

/// Values of the seven policies of an object adapter.
#[derive(Clone, Copy, Debug)]
struct Combination {
    thread: ThreadPolicy,
    lifespan: LifespanPolicy,
    uniqueness: IdUniquenessPolicy,
    assignment: IdAssignmentPolicy,
    implicit: ImplicitActivationPolicy,
    retention: ServantRetentionPolicy,
    processing: RequestProcessingPolicy,
}

impl Combination {
    /// Returns the combination of policies with the given number, from 0 to 287.
    fn of(mut number: usize) -> Self {
        let mut choice = |many: usize| {
            let chosen = number % many;
            number /= many;
            chosen
        };
        Self {
            thread: [
                ThreadPolicy::OrbControl,
                ThreadPolicy::SingleThread,
                ThreadPolicy::MainThread,
            ][choice(3)],
            lifespan: [LifespanPolicy::Transient, LifespanPolicy::Persistent][choice(2)],
            uniqueness: [IdUniquenessPolicy::Unique, IdUniquenessPolicy::Multiple][choice(2)],
            assignment: [IdAssignmentPolicy::User, IdAssignmentPolicy::System][choice(2)],
            implicit: [
                ImplicitActivationPolicy::Implicit,
                ImplicitActivationPolicy::NoImplicit,
            ][choice(2)],
            retention: [
                ServantRetentionPolicy::Retain,
                ServantRetentionPolicy::NonRetain,
            ][choice(2)],
            processing: [
                RequestProcessingPolicy::ActiveObjectMapOnly,
                RequestProcessingPolicy::DefaultServant,
                RequestProcessingPolicy::ServantManager,
            ][choice(3)],
        }
    }

    fn policies(self) -> [PoaPolicy; 7] {
        [
            PoaPolicy::Thread(self.thread),
            PoaPolicy::Lifespan(self.lifespan),
            PoaPolicy::IdUniqueness(self.uniqueness),
            PoaPolicy::IdAssignment(self.assignment),
            PoaPolicy::ImplicitActivation(self.implicit),
            PoaPolicy::ServantRetention(self.retention),
            PoaPolicy::RequestProcessing(self.processing),
        ]
    }

    fn retains(self) -> bool {
        self.retention == ServantRetentionPolicy::Retain
    }

    /// Sets the default servant or servant manager, which serves objects that are not in the active
    /// object map.
    fn set_servants(self, poa: &Poa) {
        match self.processing {
            RequestProcessingPolicy::ActiveObjectMapOnly => {}
            RequestProcessingPolicy::DefaultServant => poa.set_servant(called()).unwrap(),
            RequestProcessingPolicy::ServantManager => {
                let manager = match self.retention {
                    ServantRetentionPolicy::Retain => ServantManager::Activator(Arc::new(Provider)),
                    ServantRetentionPolicy::NonRetain => {
                        ServantManager::Locator(Arc::new(Provider))
                    }
                };
                poa.set_servant_manager(manager).unwrap();
            }
        }
    }

    /// Returns references to objects made in each way that the policies allow: without activation,
    /// by explicit activation, and by implicit activation.
    fn objects(self, poa: &Poa) -> Vec<Account> {
        let mut objects: Vec<Account> = Vec::new();
        let has_own_ids = self.assignment == IdAssignmentPolicy::User;
        if self.processing != RequestProcessingPolicy::ActiveObjectMapOnly {
            objects.push(match has_own_ids {
                true => poa.create_reference_with_id(&"made".into()).unwrap(),
                false => poa.create_reference().unwrap(),
            });
        }
        if self.retains() {
            objects.push(match has_own_ids {
                true => poa.activate_with_id(&"active".into(), Called).unwrap(),
                false => poa.activate(Called).unwrap(),
            });
        }
        if self.implicit == ImplicitActivationPolicy::Implicit {
            objects.push(poa.servant_to_reference(&Arc::new(Called)).unwrap());
        }
        objects
    }
}

#[test]
fn an_adapter_of_each_legal_combination_serves_and_the_others_are_refused() {
    let listening = || Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
    let server = listening().build().unwrap();
    let clients = [Collocation::ThruPoa, Collocation::None].map(|way| {
        let client = listening().configure(|config| config.collocation = way);
        client.build().unwrap()
    });
    let root = server.root_poa().unwrap();
    root.manager().activate().unwrap();
    let mut refused = 0;
    std::thread::scope(|scope| {
        // The main thread, which runs the upcalls of some adapters.
        scope.spawn(|| server.run());
        for number in 0..288 {
            let combination = Combination::of(number);
            let name = number.to_string();
            let policies = combination.policies();
            let poa = match root.create_poa(&name, Some(root.manager()), &policies) {
                Ok(poa) => poa,
                Err(CreatePoaError::InvalidPolicy { index, .. }) => {
                    // Thread and lifespan policies combine with everything.
                    assert!((2..7).contains(&index), "{combination:?}: {index}");
                    refused += 1;
                    continue;
                }
                Err(error) => panic!("{combination:?}: {error}"),
            };
            combination.set_servants(&poa);
            let objects = combination.objects(&poa);
            assert!(!objects.is_empty(), "{combination:?}");
            for object in &objects {
                let text = server.object_to_string(object).unwrap();
                let id = poa.reference_to_id(object).unwrap().to_string();
                for client in &clients {
                    let theirs = Account::from_object(client.string_to_object(&text).unwrap());
                    assert_eq!(theirs.adapter().unwrap(), name, "{combination:?}");
                    assert_eq!(theirs.id().unwrap(), id, "{combination:?}");
                }
            }
            poa.destroy(true, true).unwrap();
        }
        server.shutdown(true).unwrap();
    });
    assert_eq!(refused, 288 - 126);
    for client in clients {
        client.shutdown(true).unwrap();
    }
}
