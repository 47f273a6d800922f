//! Servant of the collocation tests, and an ORB with an object of that servant.

pub(crate) use crate::collocation::generated::near::{
    Counter, CounterAddError, CounterServant, Octets, Refused, Register, RegisterServant,
    RegisterSeveralError, RegisterSwapError,
};
use crate::support::Gate;
use punctual::poa::Current;
use punctual::policy::Collocation;
use punctual::{
    CompletionStatus, Context, Interface, ListenEndpoint, Orb, OrbConfig, Poa, RootPoa,
    SystemException, SystemExceptionKind as Kind,
};
use std::sync::{Arc, Mutex};

/// All collocation strategies under test.
pub(crate) const WAYS: [Collocation; 3] =
    [Collocation::ThruPoa, Collocation::Direct, Collocation::None];

/// Collocation strategies that call the servant without a request.
pub(crate) const WITHOUT_REQUEST: [Collocation; 2] = [Collocation::ThruPoa, Collocation::Direct];

/// Servant of the test interface `Register`.
#[derive(Default)]
pub(crate) struct RegisterImpl {
    pub(crate) count: Mutex<i32>,
    label: Mutex<String>,
    text: Mutex<String>,
    /// Object, with its POA, that an upcall deactivates or whose ORB an upcall shuts down.
    pub(crate) ends: Mutex<Option<(Poa, Register)>>,
    pub(crate) gate: Gate,
}

fn refused(code: i32) -> Refused {
    let why = "as asked for".to_owned();
    Refused { code, why }
}

impl CounterServant for RegisterImpl {
    fn count(&self) -> Result<i32, SystemException> {
        Ok(*self.count.lock().unwrap())
    }

    fn label(&self) -> Result<String, SystemException> {
        Ok(self.label.lock().unwrap().clone())
    }

    fn set_label(&self, value: &str) -> Result<(), SystemException> {
        value.clone_into(&mut self.label.lock().unwrap());
        Ok(())
    }

    fn add(&self, by: i32) -> Result<i32, CounterAddError> {
        if by < 0 {
            return Err(refused(by).into());
        }
        let mut count = self.count.lock().unwrap();
        *count += by;
        Ok(*count)
    }

    fn bump(&self, by: i32) -> Result<(), SystemException> {
        if by < 0 {
            return self.fail(by < -1);
        }
        *self.count.lock().unwrap() += by;
        Ok(())
    }
}

impl RegisterServant for RegisterImpl {
    fn several(
        &self,
        data: &mut Octets,
        how: &mut i32,
    ) -> Result<(Octets, String), RegisterSeveralError> {
        let before = data.clone();
        data.push(7);
        let code = std::mem::replace(how, 99);
        if code != 0 {
            return Err(refused(code).into());
        }
        Ok((before, "first".to_owned()))
    }

    fn swap(&self, text: &mut String) -> Result<String, RegisterSwapError> {
        let mut kept = self.text.lock().unwrap();
        std::mem::swap(&mut *kept, text);
        match kept.as_str() {
            "panic" => panic!("on purpose"),
            "" => Err(refused(0).into()),
            _ => Ok(format!("{} octets", kept.len())),
        }
    }

    fn same(&self, other: Option<&Register>) -> Result<Option<Register>, SystemException> {
        Ok(other.cloned())
    }

    fn asked(&self, context: &Context) -> Result<String, SystemException> {
        let values = context
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        Ok(values.collect::<Vec<_>>().join(","))
    }

    fn fail(&self, hard: bool) -> Result<(), SystemException> {
        assert!(!hard, "on purpose");
        Err(SystemException::new(Kind::NoPermission, 42, CompletionStatus::Yes).with_detail("no"))
    }

    fn thread(&self) -> Result<String, SystemException> {
        Ok(this_thread())
    }

    fn whose(&self) -> Result<String, SystemException> {
        Ok(match Current.object_id() {
            Ok(id) => format!("{:?}", id.as_bytes()),
            Err(_) => "no upcall".to_owned(),
        })
    }

    fn through(&self, other: Option<&Register>) -> Result<String, SystemException> {
        let before = self.whose()?;
        let thread = other.unwrap().thread()?;
        assert_eq!(self.whose()?, before, "Current is the outer upcall's again");
        Ok(thread)
    }

    fn end_object(&self) -> Result<(), SystemException> {
        let (poa, register) = self.ends.lock().unwrap().take().unwrap();
        poa.deactivate(&register).unwrap();
        Ok(())
    }

    fn end_orb(&self) -> Result<(), SystemException> {
        let ends = self.ends.lock().unwrap().take().unwrap();
        ends.1.as_object().orb().shutdown(true)
    }

    fn pass_gate(&self) -> Result<(), SystemException> {
        self.gate.pass();
        Ok(())
    }
}

pub(crate) fn this_thread() -> String {
    format!("{:?}", std::thread::current().id())
}

/// ORB with one object, and the object's POA, servant and reference.
pub(crate) struct Home {
    pub(crate) orb: Orb,
    pub(crate) poa: Poa,
    pub(crate) servant: Arc<RegisterImpl>,
    pub(crate) register: Register,
}

impl Home {
    pub(crate) fn new(way: Collocation) -> Self {
        Self::with(|config| config.collocation = way)
    }

    pub(crate) fn with(configure: impl FnOnce(&mut OrbConfig)) -> Self {
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(configure)
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(RegisterImpl::default());
        let register: Register = poa.activate(servant.clone()).unwrap();
        Self {
            orb,
            poa,
            servant,
            register,
        }
    }

    /// Returns a reference of another ORB to the object.
    pub(crate) fn seen_by(&self, orb: &Orb) -> Register {
        let text = self.orb.object_to_string(&self.register).unwrap();
        Register::narrow(orb.string_to_object(&text).unwrap()).unwrap()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.servant.gate.open();
        let _ = self.orb.shutdown(false);
    }
}
