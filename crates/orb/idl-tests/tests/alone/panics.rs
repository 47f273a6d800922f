//! Test of a servant that panics: its log event, and the panic hooks that are called.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::policy::Collocation;
use punctual::{ListenEndpoint, Orb, RootPoa, SystemException, SystemExceptionKind as Kind};
use punctual_idl_tests::neighbours::near::{Thermometer, ThermometerServant};
use std::io::Write;
use std::sync::Mutex;
use std::time::Duration;
use support::watchdog;

/// Log output that the test has captured.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Messages of the panics for which the previously installed panic hook was called.
static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Log;

impl Write for Log {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap().extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Broken;

impl ThermometerServant for Broken {
    fn read(&self) -> Result<i32, SystemException> {
        deep_in_the_servant()
    }

    fn reset(&self) -> Result<(), SystemException> {
        let caught = std::panic::catch_unwind(|| panic!("caught by the servant"));
        assert!(caught.is_err());
        Ok(())
    }
}

#[inline(never)]
fn deep_in_the_servant() -> Result<i32, SystemException> {
    panic!("the mercury\nran out");
}

/// The only test of its process, as panic hooks are global to the process.
#[test]
fn a_servants_panic_is_one_event_with_its_backtrace_and_others_go_where_they_went() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(Duration::from_secs(120));
        std::panic::set_hook(Box::new(|info| {
            eprintln!("{info}");
            HEARD.lock().unwrap().push(info.to_string());
        }));
        tracing_subscriber::fmt()
            .with_writer(|| Log)
            .with_ansi(false)
            .init();
        for way in [Collocation::None, Collocation::ThruPoa, Collocation::Direct] {
            let orb = Orb::builder()
                .listen(ListenEndpoint::iiop("127.0.0.1", 0))
                .configure(|config| config.collocation = way)
                .build()
                .unwrap();
            let poa = orb.root_poa().unwrap();
            poa.manager().activate().unwrap();
            let thermometer: Thermometer = poa.activate(Broken).unwrap();

            assert_eq!(thermometer.read().unwrap_err().kind(), Kind::Unknown);
            // The panic is logged before the caller is answered.
            let log = std::mem::take(&mut *LOG.lock().unwrap());
            let log = String::from_utf8(log).unwrap();
            assert_eq!(log.matches("ERROR").count(), 1, "{way:?}: {log}");
            for part in [
                "the servant panicked in `read`",
                r"the mercury\nran out",
                "tests/alone/panics.rs:",
                "deep_in_the_servant",
            ] {
                assert!(log.contains(part), "{way:?}: {part} is not in {log}");
            }
            assert!(HEARD.lock().unwrap().is_empty(), "{way:?}");

            // A panic that the servant catches is not reported; the next one is again the servant's
            // own.
            thermometer.reset().unwrap();
            assert_eq!(thermometer.read().unwrap_err().kind(), Kind::Unknown);
            let log = std::mem::take(&mut *LOG.lock().unwrap());
            let log = String::from_utf8(log).unwrap();
            assert!(log.contains("deep_in_the_servant"), "{way:?}: {log}");
            orb.shutdown(true).unwrap();
            HEARD.lock().unwrap().clear();
        }
        let outside = std::thread::spawn(|| panic!("outside of upcalls")).join();
        assert!(outside.is_err());
        let heard = std::mem::take(&mut *HEARD.lock().unwrap());
        assert!(heard.len() == 1 && heard[0].contains("outside of upcalls"));
        let _ = std::panic::take_hook();
    });
}
