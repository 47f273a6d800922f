//! Tests our client against the server of the accounts test, whose objects are served by adapters
//! of every kind, in a process of its own that ends and is started again during the test.
#![allow(clippy::unwrap_used)]

mod idl {
    #![allow(unreachable_pub, dead_code)]
    include!(concat!(env!("OUT_DIR"), "/adapters.rs"));
}

use idl::adapters::{Account, AccountDepositError, Bank, Overdrawn};
use punctual::{Interface, ListenEndpoint, Orb, SystemException, SystemExceptionKind as Kind};
use std::fmt::Debug;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Server process, which ends when its standard input is closed.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(port: u16) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interop-accounts"));
        command.args(["--giop", "1.2", "--port"]);
        command.arg(port.to_string());
        // One account's servant panics on purpose.
        command.env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next().unwrap().unwrap();
        let port = port.strip_prefix("port ").unwrap().parse().unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        Self { child, port }
    }

    /// Stops the process, and starts another one at the former port.
    fn restarted(mut self) -> Self {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
        Self::start(self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a client and a server, and returns them with a reference to the bank, whose object key is
/// the plain name `Bank`.
fn visit() -> (Orb, Server, Bank) {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.timeouts.call = Some(Duration::from_secs(60)))
        .build()
        .unwrap();
    let server = Server::start(0);
    let bank = bank_at(&orb, &server);
    (orb, server, bank)
}

fn bank_at(orb: &Orb, server: &Server) -> Bank {
    let url = format!("corbaloc:iiop:1.2@127.0.0.1:{}/Bank", server.port);
    Bank::narrow(orb.string_to_object(&url).unwrap()).unwrap()
}

fn open(bank: &Bank, adapter: &str, id: &str) -> Account {
    bank.open(adapter, id).unwrap().unwrap()
}

/// Returns the names of the adapter and the object id that the account reports.
fn told(account: &Account) -> (String, String) {
    (account.adapter().unwrap(), account.id().unwrap())
}

fn is(adapter: &str, id: &str) -> (String, String) {
    (adapter.to_owned(), id.to_owned())
}

fn kind<T: Debug>(raised: Result<T, AccountDepositError>) -> Kind {
    match raised {
        Err(AccountDepositError::System(exception)) => exception.kind(),
        other => panic!("{other:?} instead of a system exception"),
    }
}

#[test]
fn a_locator_sees_each_request_and_gets_its_cookie_back() {
    let (_orb, _server, bank) = visit();
    let anna = open(&bank, "located", "anna");
    assert_eq!(bank.events().unwrap(), Vec::<String>::new());
    assert_eq!(told(&anna), is("located", "anna"));
    assert_eq!(
        bank.events().unwrap(),
        [
            "preinvoke anna _get_adapter, cookie 1",
            "postinvoke anna _get_adapter, cookie 1",
            "preinvoke anna _get_id, cookie 2",
            "postinvoke anna _get_id, cookie 2",
        ]
    );
    match anna.deposit(-1) {
        Err(AccountDepositError::Overdrawn(Overdrawn { balance: 0 })) => {}
        other => panic!("{other:?} instead of Overdrawn"),
    }
    let after = bank.events().unwrap();
    assert_eq!(after.last().unwrap(), "postinvoke anna deposit, cookie 3");
}

#[test]
fn a_locator_that_refuses_or_panics_hurts_that_request_alone() {
    let (_orb, _server, bank) = visit();
    let anna = open(&bank, "located", "anna");
    let refused = open(&bank, "located", "missing").deposit(1);
    assert_eq!(kind(refused), Kind::ObjectNotExist);
    assert_eq!(anna.deposit(1).unwrap(), 1);
    let panicked = open(&bank, "located", "panic").deposit(1);
    assert_eq!(kind(panicked), Kind::Unknown);
    assert_eq!(anna.deposit(1).unwrap(), 2);
}

#[test]
fn a_default_servant_answers_for_each_object_id() {
    let (_orb, _server, bank) = visit();
    let (anna, bert) = (open(&bank, "shared", "anna"), open(&bank, "shared", "bert"));
    assert_eq!(told(&anna), is("shared", "anna"));
    assert_eq!(told(&bert), is("shared", "bert"));
    anna.deposit(3).unwrap();
    bert.deposit(4).unwrap();
    assert_eq!(anna.deposit(3).unwrap(), 6);
    assert_eq!(bert.deposit(4).unwrap(), 8);
}

#[test]
fn an_activator_makes_a_servant_once_until_its_object_is_closed() {
    let (_orb, _server, bank) = visit();
    let anna = open(&bank, "activated", "anna");
    assert_eq!(told(&anna), is("activated", "anna"));
    assert_eq!(bank.events().unwrap(), ["incarnate anna"]);
    bank.close("activated", "anna").unwrap();
    assert_eq!(anna.deposit(1).unwrap(), 1);
    assert_eq!(
        bank.events().unwrap(),
        ["etherealize anna", "incarnate anna"]
    );
}

#[test]
fn callers_are_forwarded_by_locators_and_by_activators() {
    let (_orb, _server, bank) = visit();
    for adapter in ["located", "activated"] {
        let moved = open(&bank, adapter, "moved");
        assert_eq!(told(&moved), is("shared", "here"), "from `{adapter}`");
    }
}

#[test]
fn persistent_references_outlive_the_process_and_their_adapters_come_back_when_called() {
    let (orb, server, bank) = visit();
    let lasting = open(&bank, "lasting", "anna");
    let branch = open(&bank, "branch", "bert");
    let passing = open(&bank, "shared", "anna");
    assert_eq!(told(&branch), is("branch", "bert"));
    assert_eq!(passing.deposit(1).unwrap(), 1);

    let server = server.restarted();
    assert_eq!(told(&branch), is("branch", "bert"));
    assert_eq!(told(&lasting), is("lasting", "anna"));
    // A transient reference does not reach the new process's object of the same id.
    assert_eq!(kind(passing.deposit(1)), Kind::ObjectNotExist);
    assert_eq!(
        bank_at(&orb, &server).events().unwrap(),
        [
            "unknown adapter lasting",
            "unknown adapter branch",
            "incarnate bert"
        ]
    );
}

#[test]
fn an_unknown_key_is_no_object() {
    let (orb, server, _bank) = visit();
    let url = format!("corbaloc:iiop:1.2@127.0.0.1:{}/Bankrupt", server.port);
    let nobody = orb.string_to_object(&url).unwrap();
    let raised: Result<Bank, SystemException> = Bank::narrow(nobody);
    assert_eq!(raised.unwrap_err().kind(), Kind::ObjectNotExist);
}
