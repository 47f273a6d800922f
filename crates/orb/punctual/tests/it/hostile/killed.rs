//! Processes killed during a call, at either end.

use crate::hostile::links::{Over, Rig, over_every_link};
use crate::hostile::process::Process;
use crate::hostile::tls::Authority;
use crate::support::Echo;
use punctual::{CompletionStatus, Interface, SystemExceptionKind as Kind};

over_every_link! {
    fn a_client_that_is_killed_in_mid_call_leaves_the_others_served(over: Over) {
        if !over.runs_upcalls_at_once() {
            return;
        }
        let rig = Rig::new(over);
        let reference = rig.server.object_to_string(&rig.echo).unwrap();
        let mut clients: Vec<_> = (0..3)
            .map(|_| Process::caller(over, rig.tls.folder(), &reference))
            .collect();
        rig.servant.gate.wait_for_waiters(3);
        rig.others_are_served();
        for client in &mut clients {
            client.kill();
            rig.others_are_served();
        }
        // The answers reach no client.
        rig.servant.gate.open();
        rig.wait_until_at_most(1);
        rig.others_are_served();
    }

    fn a_client_that_is_killed_while_it_holds_and_has_passed_loans_harms_nobody(over: Over) {
        if !over.runs_upcalls_at_once() {
            return;
        }
        let rig = Rig::new(over);
        let reference = rig.server.object_to_string(&rig.echo).unwrap();
        let mut clients: Vec<_> = (0..2)
            .map(|_| Process::lender(over, rig.tls.folder(), &reference))
            .collect();
        rig.servant.gate.wait_for_waiters(2);
        for client in &mut clients {
            client.kill();
        }
        let octets = vec![3; 1 << 20];
        assert_eq!(rig.echo.sum(&octets).unwrap(), 3 << 20);
        // The servants read the data lent by dead clients.
        rig.servant.gate.open();
        rig.wait_until_at_most(1);
        let sums = rig.servant.sums.lock().unwrap().clone();
        assert_eq!(sums, [1 << 20, 1 << 20]);
        assert_eq!(rig.echo.octets(&octets).unwrap(), octets);
    }

    fn a_server_that_is_killed_in_mid_call_is_a_comm_failure_that_may_have_completed(over: Over) {
        let tls = Authority::new();
        let mut server = Process::server(over, tls.folder());
        let reference = server.says();
        let client = over.orb(tls.folder(), |_| {}).build().unwrap();
        let echo = Echo::from_object(client.string_to_object(&reference).unwrap());
        assert_eq!(echo.long(1).unwrap(), 1);
        let error = std::thread::scope(|scope| {
            let call = scope.spawn(|| echo.wait().unwrap_err());
            server.told("wait for a caller");
            server.kill();
            call.join().unwrap()
        });
        assert_eq!(error.kind(), Kind::CommFailure, "{error}");
        assert_eq!(error.completed(), CompletionStatus::Maybe, "{error}");
        // The next call finds no server, and has not begun.
        let error = echo.long(2).unwrap_err();
        assert_eq!(error.kind(), Kind::Transient, "{error}");
        assert_eq!(error.completed(), CompletionStatus::No, "{error}");
    }
}
