//! Link whose functions all panic, except those that make and drop it.

use super::*;

#[derive(Debug)]
struct Panics;

impl Link for Panics {
    fn name(&self) -> &str {
        "panics"
    }

    fn guarantees(&self) -> Guarantees {
        Iiop::default().guarantees()
    }

    fn connect(
        &self,
        address: &Address,
        _: &Properties,
        _: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        assert_eq!(address.place(), "connect", "on purpose");
        Ok(Arc::new(PanickingConnection(address.clone())))
    }

    fn listen(&self, _: &Address, _: &Properties) -> Result<Box<dyn Acceptor>, LinkError> {
        std::panic::panic_any(7);
    }
}

#[derive(Debug)]
struct PanickingConnection(Address);

impl Connection for PanickingConnection {
    fn lend(&self, _: usize) -> Block {
        panic!("on purpose")
    }

    fn send(&self, _: &[IoSlice<'_>], _: Deadline) -> Result<(), SendError> {
        panic!("on purpose")
    }

    fn receive(&self, _: &mut Block, _: usize, _: Deadline) -> Result<usize, LinkError> {
        panic!("on purpose")
    }

    fn pending(&self) -> Pending {
        panic!("on purpose")
    }

    fn close(&self) {
        panic!("on purpose")
    }

    fn peer(&self) -> &Address {
        &self.0
    }

    fn local(&self) -> &Address {
        &self.0
    }

    fn waitable(&self) -> Waitable<'_> {
        panic!("on purpose")
    }
}

unsafe extern "C" fn open(failure: *mut Failure, link: *mut *mut RawLink) -> c_int {
    // SAFETY: the host's own conditions.
    unsafe { export::open(failure, link, || Panics) }
}

static PANICS: Table = export::table(open);

#[test]
fn a_panic_ends_at_the_boundary_and_tells_its_words() {
    let link = take_in(&PANICS).unwrap();
    let bad = Address::new("panics", "elsewhere");
    let error = link
        .connect(&bad, &Properties::NONE, Deadline::NEVER)
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("connecting: the link's library `in-process` panicked: "),
        "{text}"
    );
    assert!(text.contains("on purpose"), "{text}");
    let error = link
        .listen(&bad, &Properties::NONE)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("panicked: with a payload that is not text"),
        "{error}"
    );
}

#[test]
fn a_send_that_panicked_may_have_sent_something() {
    let link = take_in(&PANICS).unwrap();
    let place = Address::new("panics", "connect");
    let connection = link
        .connect(&place, &Properties::NONE, Deadline::NEVER)
        .unwrap();
    let failed = connection
        .send(&[IoSlice::new(b"once")], Deadline::NEVER)
        .unwrap_err();
    assert!(failed.sent > 0);
    let mut block = connection.lend(0);
    assert!(connection.receive(&mut block, 1, Deadline::NEVER).is_err());
    assert_eq!(connection.pending(), Pending::End);
    assert!(matches!(connection.waitable(), Waitable::Own));
    connection.close();
}

#[test]
fn a_link_that_cannot_be_made_is_refused() {
    unsafe extern "C" fn open(failure: *mut Failure, link: *mut *mut RawLink) -> c_int {
        // SAFETY: the host's own conditions.
        unsafe { export::open(failure, link, || -> Panics { panic!("no luck") }) }
    }
    static UNMADE: Table = export::table(open);
    let error = take_in(&UNMADE).unwrap_err().to_string();
    assert!(
        error.ends_with("its link does not open: it panicked: no luck"),
        "{error}"
    );
}
