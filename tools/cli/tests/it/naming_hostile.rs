//! Commands on a naming service that never comes to an end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use punctual::{
    Interface, ListenEndpoint, ObjectRef, Orb, Poa, RootPoa, SystemException, SystemExceptionKind,
};
use punctual_naming::cos_naming::{
    Binding, BindingIterator, BindingIteratorServant, BindingList, BindingType, NameComponent,
    NamingContext, NamingContextBindContextError, NamingContextBindError,
    NamingContextBindNewContextError, NamingContextDestroyError, NamingContextRebindContextError,
    NamingContextRebindError, NamingContextResolveError, NamingContextServant,
    NamingContextUnbindError,
};

use crate::support::{punctual, text};

/// Kind of bindings that a hostile server lists without end.
#[derive(Clone, Copy)]
enum Endless {
    Nothing,
    Objects,
    Contexts,
}

struct Hostile {
    poa: Poa,
    what: Endless,
    number: AtomicU64,
}

fn refused() -> SystemException {
    SystemException::from(SystemExceptionKind::NoImplement)
}

impl Hostile {
    fn portion(&self, count: u64) -> BindingList {
        let binding = |_| Binding {
            binding_name: vec![NameComponent {
                id: self.number.fetch_add(1, Ordering::Relaxed).to_string(),
                kind: String::new(),
            }],
            binding_type: match self.what {
                Endless::Contexts => BindingType::Ncontext,
                _ => BindingType::Nobject,
            },
        };
        (0..count).map(binding).collect()
    }
}

/// Both interfaces of one servant.
struct Shared(Arc<Hostile>);

impl BindingIteratorServant for Shared {
    fn next_one(&self) -> Result<(bool, Binding), SystemException> {
        Err(refused())
    }

    fn next_n(&self, _: u32) -> Result<(bool, BindingList), SystemException> {
        let count = match self.0.what {
            Endless::Nothing => 0,
            _ => 100,
        };
        Ok((true, self.0.portion(count)))
    }

    fn destroy(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl NamingContextServant for Shared {
    fn list(&self, _: u32) -> Result<(BindingList, Option<BindingIterator>), SystemException> {
        // Contexts end, and each has others.
        if matches!(self.0.what, Endless::Contexts) {
            return Ok((self.0.portion(10), None));
        }
        let iterator: BindingIterator = self.0.poa.activate(Arc::new(Shared(self.0.clone())))?;
        Ok((self.0.portion(1), Some(iterator)))
    }

    fn resolve(&self, _: &[NameComponent]) -> Result<Option<ObjectRef>, NamingContextResolveError> {
        let context: Result<NamingContext, _> =
            self.0.poa.activate(Arc::new(Shared(self.0.clone())));
        let context = context.map_err(SystemException::from)?;
        Ok(Some(context.as_object().clone()))
    }

    fn bind(
        &self,
        _: &[NameComponent],
        _: Option<&ObjectRef>,
    ) -> Result<(), NamingContextBindError> {
        Err(refused().into())
    }

    fn rebind(
        &self,
        _: &[NameComponent],
        _: Option<&ObjectRef>,
    ) -> Result<(), NamingContextRebindError> {
        Err(refused().into())
    }

    fn bind_context(
        &self,
        _: &[NameComponent],
        _: Option<&NamingContext>,
    ) -> Result<(), NamingContextBindContextError> {
        Err(refused().into())
    }

    fn rebind_context(
        &self,
        _: &[NameComponent],
        _: Option<&NamingContext>,
    ) -> Result<(), NamingContextRebindContextError> {
        Err(refused().into())
    }

    fn unbind(&self, _: &[NameComponent]) -> Result<(), NamingContextUnbindError> {
        Err(refused().into())
    }

    fn new_context(&self) -> Result<Option<NamingContext>, SystemException> {
        Err(refused())
    }

    fn bind_new_context(
        &self,
        _: &[NameComponent],
    ) -> Result<Option<NamingContext>, NamingContextBindNewContextError> {
        Err(refused().into())
    }

    fn destroy(&self) -> Result<(), NamingContextDestroyError> {
        Err(refused().into())
    }
}

/// Returns what a command says that gives up on such a service.
fn said(what: Endless, arguments: &[&str]) -> String {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let hostile = Arc::new(Hostile {
        poa: poa.clone(),
        what,
        number: AtomicU64::new(0),
    });
    let context: NamingContext = poa.activate(Arc::new(Shared(hostile))).unwrap();
    let reference = orb.object_to_string(&context).unwrap();
    let all = [&["naming"], arguments, &["--service", &reference]].concat();
    let output = punctual(&all);
    assert!(!output.status.success(), "{arguments:?}");
    orb.shutdown(true).unwrap();
    text(output.stderr)
}

#[test]
fn a_server_that_has_more_and_returns_none_is_not_asked_without_end() {
    for command in ["list", "tree", "export", "check"] {
        let said = said(Endless::Nothing, &[command]);
        assert!(said.contains("more bindings, and returns none"), "{said}");
    }
}

#[test]
fn a_server_that_lists_without_end_is_given_up() {
    for command in ["list", "tree", "export", "check"] {
        let said = said(Endless::Objects, &[command, "--most", "5000"]);
        assert!(said.contains("more than 5000 bindings"), "{said}");
    }
    // Contexts in contexts.
    for command in ["tree", "check"] {
        let said = said(Endless::Contexts, &[command, "--most", "500"]);
        assert!(said.contains("more than 500 bindings"), "{said}");
    }
}
