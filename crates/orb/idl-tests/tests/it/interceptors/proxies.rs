//! Smart proxies, which replace references.

use super::fixture::{Near, Pair};
use super::generated::intercepted::{Account, AccountDepositError, AccountServant};
use super::support::watchdog;
use punctual::dynamic::Request;
use punctual::interceptor::SmartProxies;
use punctual::{Any, Interface, Orb, SystemException, SystemExceptionKind as Kind, TypeCode};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Smart proxy of an account. It caches the balance, as only this proxy changes it, and delays
/// notes until the next deposit.
struct Caching {
    real: Account,
    holds: Mutex<Option<i32>>,
    notes: Mutex<Vec<String>>,
}

impl AccountServant for Caching {
    fn deposit(&self, amount: i32) -> Result<i32, AccountDepositError> {
        let mut holds = self.holds.lock().unwrap();
        if let (0, Some(holds)) = (amount, *holds) {
            return Ok(holds);
        }
        for text in self.notes.lock().unwrap().drain(..) {
            self.real.note(&text)?;
        }
        let now = self.real.deposit(amount)?;
        *holds = Some(now);
        Ok(now)
    }

    fn fail(&self) -> Result<(), SystemException> {
        self.real.fail()
    }

    fn panic(&self) -> Result<(), SystemException> {
        panic!("a proxy panics on purpose")
    }

    fn note(&self, text: &str) -> Result<(), SystemException> {
        self.notes.lock().unwrap().push(text.to_owned());
        Ok(())
    }

    fn slot(&self) -> Result<i32, SystemException> {
        self.real.slot()
    }
}

fn caching(real: Account) -> Caching {
    Caching {
        real,
        holds: Mutex::default(),
        notes: Mutex::default(),
    }
}

/// Makes a client with caching proxies and a server, and a counter of the requests that the server
/// has served.
fn cached(near: Near) -> (Pair, Arc<AtomicU32>) {
    use super::closures::AtServer;
    use punctual::interceptor::ServerRequestInfo;

    let served = Arc::new(AtomicU32::new(0));
    let count = served.clone();
    let server = AtServer(move |point: &str, _: &mut ServerRequestInfo<'_>| {
        if point == "receive_request" {
            count.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    });
    let server = Orb::builder().server_interceptor(Arc::new(server));
    let pair = Pair::new(near, server, Orb::builder());
    pair.client.register_smart_proxy(caching);
    (pair, served)
}

#[test]
fn a_caching_proxy_answers_what_it_knows_and_calls_the_object_for_the_rest() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for near in [Near::ByWire, Near::WithinProcess] {
        let (pair, served) = cached(near);
        let account = pair.account();
        assert_eq!(account.deposit(5).unwrap(), 5);
        for _ in 0..10 {
            assert_eq!(account.deposit(0).unwrap(), 5);
            // Clones have the same proxy, and asynchronous calls go to it, too.
            assert_eq!(account.clone().sendp_deposit(0).wait().unwrap(), 5);
        }
        assert_eq!(served.load(Ordering::SeqCst), 1, "{near:?}");
        account.note("waits").unwrap();
        assert_eq!(pair.vault.notes.load(Ordering::SeqCst), 0);
        assert_eq!(account.deposit(1).unwrap(), 6);
        assert_eq!(pair.vault.notes.load(Ordering::SeqCst), 1);
        assert_eq!(served.load(Ordering::SeqCst), 3, "{near:?}");
        // Exceptions of the object pass through it, and its own panics are handled like a
        // servant's.
        assert_eq!(account.fail().unwrap_err().minor(), 7);
        assert!(matches!(
            account.deposit(-1),
            Err(AccountDepositError::Refused(_))
        ));
        assert_eq!(account.panic().unwrap_err().kind(), Kind::Unknown);
        pair.end();
    }
}

#[test]
fn a_proxy_stands_where_calls_are_to_be_requests_and_not_before_those_put_together_at_run_time() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let (pair, served) = cached(Near::ByWire);
    let account = pair.as_if_elsewhere();
    assert_eq!(account.deposit(3).unwrap(), 3);
    assert_eq!(account.deposit(0).unwrap(), 3);
    assert_eq!(served.load(Ordering::SeqCst), 1);
    let mut request = Request::new(&account, "deposit");
    request.add_in("amount", Any::new(&0).unwrap());
    request.set_return_type(&TypeCode::LONG);
    request.invoke().unwrap();
    assert!(account.as_object().is_a("IDL:another:1.0").is_ok());
    assert_eq!(served.load(Ordering::SeqCst), 3);
    // Each received reference has a proxy of its own.
    assert_eq!(pair.account().deposit(0).unwrap(), 3);
    assert_eq!(served.load(Ordering::SeqCst), 4);
    pair.end();
}
