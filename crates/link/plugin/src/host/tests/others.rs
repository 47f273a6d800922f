//! Tests of other kinds of links, exported as tables and loaded from them: datagrams, and files in
//! place of ports.

use super::*;
use punctual_link::diop::Diop;
use punctual_link::uiop::Uiop;

mod datagrams {
    use super::*;

    unsafe extern "C" fn open(failure: *mut Failure, link: *mut *mut RawLink) -> c_int {
        // SAFETY: the host's own conditions.
        unsafe { export::open(failure, link, Diop::default) }
    }

    static DIOP: Table = export::table(open);

    punctual_link_conformance::conformance!(
        datagram: *take_in(&DIOP).unwrap(),
        Address::new("diop", "127.0.0.1:0")
    );
}

mod files {
    use super::*;

    unsafe extern "C" fn open(failure: *mut Failure, link: *mut *mut RawLink) -> c_int {
        // SAFETY: the host's own conditions.
        unsafe { export::open(failure, link, Uiop::default) }
    }

    static UIOP: Table = export::table(open);

    punctual_link_conformance::conformance!(
        stream: *take_in(&UIOP).unwrap(),
        Address::new("uiop", "")
    );
}
