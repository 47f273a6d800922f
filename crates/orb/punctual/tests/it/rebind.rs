//! Rebinding of a bound reference, and the cases that are left to the caller.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::policy::Rebind;
use punctual::stub::{Arc, DispatchError, Dispatched, ServerCall};
use punctual::{
    Interface, ObjectRef, Orb, Policy, SetOverride, SystemException, SystemExceptionKind as Kind,
};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::{Answering, Echo, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

fn under(echo: &Echo, rebind: Rebind) -> Echo {
    let object = echo.as_object();
    let with = object.set_policy_overrides(&[Policy::Rebind(rebind)], SetOverride::Add);
    Echo::from_object(with.unwrap())
}

/// Answers up to `most` requests on a connection, and closes it then.
fn answer(listener: &TcpListener, most: usize) {
    let (mut stream, _) = listener.accept().unwrap();
    let native = u8::from(cfg!(target_endian = "little"));
    for _ in 0..most {
        let mut head = [0; 16];
        if stream.read_exact(&mut head).is_err() {
            return;
        }
        let size = u32::from_ne_bytes(head[8..12].try_into().unwrap());
        let mut rest = vec![0; size as usize - 4];
        stream.read_exact(&mut rest).unwrap();
        let (kind, body) = match head[7] {
            // LocateRequest: the object is here.
            3 => (4, 1_u32.to_ne_bytes().to_vec()),
            _ => (1, vec![0; 8]),
        };
        let size = u32::try_from(4 + body.len()).unwrap().to_ne_bytes();
        let reply = [
            b"GIOP\x01\x02",
            &[native, kind][..],
            &size,
            &head[12..],
            &body,
        ];
        stream.write_all(&reply.concat()).unwrap();
    }
    let close = [b"GIOP\x01\x02", &[native, 5][..], &[0; 4]].concat();
    stream.write_all(&close).unwrap();
}

#[test]
fn a_closed_connection_is_opened_again_unless_that_is_forbidden() {
    let _watchdog = watchdog(LIMIT);
    for rebind in [Rebind::Transparent, Rebind::NoRebind, Rebind::NoReconnect] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = Orb::builder().build().unwrap();
        let object = client.string_to_object(&format!("corbaloc::1.2@127.0.0.1:{port}/key"));
        let echo = under(&Echo::from_object(object.unwrap()), rebind);
        let (say, heard) = std::sync::mpsc::channel();
        let server = std::thread::spawn(move || {
            answer(&listener, 1);
            say.send(()).unwrap();
            answer(&listener, usize::MAX);
        });
        echo.panic().unwrap();
        // The connection is closed.
        heard.recv().unwrap();
        if rebind == Rebind::NoReconnect {
            for _ in 0..2 {
                let error = echo.panic().unwrap_err();
                assert_eq!(error.kind(), Kind::Rebind, "{error}");
            }
            echo.as_object().validate_connection().unwrap();
        }
        echo.panic().unwrap();
        client.shutdown(true).unwrap();
        server.join().unwrap();
    }
}

/// Servant that answers until it is told to forward, and forwards from then on.
struct Moving {
    to: ObjectRef,
    has_moved: AtomicBool,
}

impl Answering for Moving {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match self.has_moved.load(Ordering::SeqCst) {
            true => Err(DispatchError::forward(&self.to)),
            false => call.reply(|out| {
                out.put_u32(0);
                Ok(())
            }),
        }
    }
}

#[test]
fn a_bound_reference_follows_forwards_where_it_may() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    *pair.servant.pings.lock().unwrap() = 7;
    let made: Echo = pair.poa.servant_to_reference(&pair.servant).unwrap();
    let heard = |has_moved: [bool; 2], rebind| {
        let moving = Arc::new(Moving {
            to: made.as_object().clone(),
            has_moved: AtomicBool::new(has_moved[0]),
        });
        let reference: Echo = pair.poa.activate(moving.clone()).unwrap();
        let echo = under(&pair.as_client(&reference), rebind);
        let first = echo.pings();
        moving.has_moved.store(has_moved[1], Ordering::SeqCst);
        let second = echo.pings();
        [first, second].map(|one| one.map_err(|error: SystemException| error.kind()))
    };
    assert_eq!(heard([false, true], Rebind::Transparent), [Ok(0), Ok(7)]);
    for rebind in [Rebind::NoRebind, Rebind::NoReconnect] {
        let forbidden = [Ok(0), Err(Kind::Rebind)];
        assert_eq!(heard([false, true], rebind), forbidden, "{rebind:?}");
        // The first call binds, wherever it leads.
        assert_eq!(heard([true, true], rebind), [Ok(7), Ok(7)], "{rebind:?}");
    }
}
