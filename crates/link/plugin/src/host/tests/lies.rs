//! Tests of tables whose functions violate the ABI.

use super::*;

/// Number of dropped connection handles, to check that invalid ones are dropped, too.
static GIVEN_BACK: AtomicUsize = AtomicUsize::new(0);

const HANDLE: *mut u8 = ptr::dangling_mut();

unsafe extern "C" fn open(_: *mut Failure, link: *mut *mut RawLink) -> c_int {
    // SAFETY: the host's own condition.
    unsafe { link.write(HANDLE.cast()) };
    OK
}

unsafe extern "C" fn nothing_open(_: *mut Failure, _: *mut *mut RawLink) -> c_int {
    OK
}

unsafe extern "C" fn drop_link(_: *mut RawLink) {}

unsafe extern "C" fn name(_: *const RawLink, to: *mut Text) {
    say("lies", to);
}

unsafe extern "C" fn guarantees(_: *const RawLink, raw: *mut RawGuarantees) {
    // SAFETY: the host's own condition.
    unsafe { (*raw).reliable = 1 };
}

unsafe extern "C" fn connect(
    _: *const RawLink,
    _: *mut Failure,
    _: Text,
    _: *const abi::Property,
    _: usize,
    nanoseconds: i64,
    connection: *mut *mut RawConnection,
) -> c_int {
    // Without a deadline it returns no connection.
    if nanoseconds != abi::NEVER {
        // SAFETY: the host's own condition.
        unsafe { connection.write(HANDLE.cast()) };
    }
    OK
}

unsafe extern "C" fn listen(
    _: *const RawLink,
    _: *mut Failure,
    _: Text,
    _: *const abi::Property,
    _: usize,
    _: *mut *mut RawAcceptor,
) -> c_int {
    -1
}

unsafe extern "C" fn send(
    _: *const RawConnection,
    _: *mut Failure,
    _: *const Part,
    _: usize,
    _: i64,
    sent: *mut usize,
) -> c_int {
    // SAFETY: the host's own condition.
    unsafe { sent.write(usize::MAX) };
    abi::CLOSED
}

unsafe extern "C" fn receive(
    _: *const RawConnection,
    _: *mut Failure,
    _: *mut u8,
    capacity: usize,
    wanted: usize,
    _: i64,
    count: *mut usize,
    more: *mut usize,
) -> c_int {
    // SAFETY: the host's own condition.
    unsafe {
        // Nothing, or more than there is room for.
        count.write(if wanted == 1 { 0 } else { capacity + 1 });
        more.write(usize::MAX);
    }
    OK
}

unsafe extern "C" fn endless(
    _: *const RawConnection,
    _: *mut Failure,
    octets: *mut u8,
    _: usize,
    _: usize,
    _: i64,
    count: *mut usize,
    more: *mut usize,
) -> c_int {
    // SAFETY: the host's own condition: there is room for at least one.
    unsafe {
        octets.write(b'x');
        count.write(1);
        more.write(3);
    }
    OK
}

unsafe extern "C" fn pending(_: *const RawConnection) -> c_int {
    77
}

unsafe extern "C" fn place(_: *const RawConnection, to: *mut Text) {
    say("here", to);
}

unsafe extern "C" fn bad_place(_: *const RawConnection, to: *mut Text) {
    say("he\nre", to);
}

unsafe extern "C" fn no_descriptor(_: *const RawConnection) -> c_int {
    abi::NO_DESCRIPTOR
}

unsafe extern "C" fn negative_descriptor(_: *const RawConnection) -> c_int {
    -7
}

unsafe extern "C" fn closed_descriptor(_: *const RawConnection) -> c_int {
    c_int::MAX
}

unsafe extern "C" fn drop_connection(_: *mut RawConnection) {
    GIVEN_BACK.fetch_add(1, Ordering::SeqCst);
}

fn say(text: &'static str, to: *mut Text) {
    let text = Text {
        octets: text.as_ptr(),
        length: text.len(),
    };
    // SAFETY: the host's own condition.
    unsafe { to.write(text) };
}

const LIES: Table = Table {
    flags: 0,
    open: Some(open),
    drop_link: Some(drop_link),
    name: Some(name),
    guarantees: Some(guarantees),
    connect: Some(connect),
    listen: Some(listen),
    send: Some(send),
    receive: Some(receive),
    pending: Some(pending),
    peer: Some(place),
    local: Some(place),
    descriptor: Some(no_descriptor),
    drop_connection: Some(drop_connection),
    ..export::table(open)
};

fn leak(table: Table) -> &'static Table {
    Box::leak(Box::new(table))
}

fn refused(table: Table) -> String {
    take_in(leak(table)).unwrap_err().to_string()
}

fn connected(table: Table) -> Result<Arc<dyn Connection>, LinkError> {
    let soon = Deadline::after(Duration::from_secs(1));
    take_in(leak(table))
        .unwrap()
        .connect(&Address::new("lies", "here"), &Properties::NONE, soon)
}

#[test]
fn a_link_that_is_null_is_refused() {
    let table = Table {
        open: Some(nothing_open),
        ..LIES
    };
    assert!(refused(table).ends_with("its link does not open: it returned null"));
}

#[test]
fn a_name_that_no_address_could_bear_is_refused() {
    unsafe extern "C" fn none(_: *const RawLink, _: *mut Text) {}
    unsafe extern "C" fn spaced(_: *const RawLink, to: *mut Text) {
        say("a link", to);
    }
    unsafe extern "C" fn long(_: *const RawLink, to: *mut Text) {
        say(
            "a234567890123456789012345678901234567890123456789012345678901234567890",
            to,
        );
    }
    for (name, said) in [
        (
            none as unsafe extern "C" fn(_, _),
            "``: expected a letter followed by",
        ),
        (spaced, "`a link`: expected a letter followed by"),
        (long, "it is too long"),
    ] {
        let error = refused(Table {
            name: Some(name),
            ..LIES
        });
        let expected = format!("the name of its link is invalid: {said}");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn guarantees_that_there_are_not_are_refused() {
    unsafe extern "C" fn two(_: *const RawLink, raw: *mut RawGuarantees) {
        // SAFETY: the host's own condition.
        unsafe { (*raw).ordered = 2 };
    }
    unsafe extern "C" fn framing(_: *const RawLink, raw: *mut RawGuarantees) {
        // SAFETY: the host's own condition.
        unsafe { (*raw).framing = 9 };
    }
    unsafe extern "C" fn reserved(_: *const RawLink, raw: *mut RawGuarantees) {
        // SAFETY: the host's own condition.
        unsafe { (*raw).reserved[4] = 1 };
    }
    for (guarantees, said) in [
        (
            two as unsafe extern "C" fn(_, _),
            "a flag is neither 0 nor 1",
        ),
        (framing, "neither a stream nor datagrams"),
        (reserved, "reserved bytes are not 0"),
    ] {
        let error = refused(Table {
            guarantees: Some(guarantees),
            ..LIES
        });
        assert!(error.ends_with(said), "{error}");
    }
}

#[test]
fn no_table_and_an_unaligned_one_are_refused() {
    let check = |table| {
        // SAFETY: neither is read: null, and not aligned.
        unsafe { Library::with_table(Path::new("x.so"), table, None) }
            .unwrap_err()
            .to_string()
    };
    assert!(
        check(ptr::null())
            .ends_with("`punctual_link_plugin` returned null instead of a table of functions")
    );
    assert!(check(ptr::from_ref(leak(LIES)).wrapping_byte_add(1)).contains("not aligned"));
}

#[test]
fn each_function_that_is_null_is_named() {
    let missing = [
        (
            Table {
                close: None,
                ..LIES
            },
            "close",
        ),
        (
            Table {
                drop_connection: None,
                ..LIES
            },
            "drop_connection",
        ),
        (Table { open: None, ..LIES }, "open"),
    ];
    for (table, name) in missing {
        let error = take_in(leak(table)).unwrap_err();
        assert!(
            matches!(error.fault, Fault::NullFunction(null) if null == name),
            "{error}"
        );
    }
}

#[test]
fn a_table_may_go_on_behind_what_is_known() {
    #[repr(C)]
    struct Longer {
        table: Table,
        more: [u64; 4],
    }
    let longer: &'static Longer = Box::leak(Box::new(Longer {
        table: Table {
            size: u32::try_from(size_of::<Longer>()).unwrap(),
            ..LIES
        },
        more: [u64::MAX; 4],
    }));
    assert_eq!(take_in(&longer.table).unwrap().name(), "lies");
    assert_eq!(longer.more, [u64::MAX; 4]);
}

#[test]
fn success_without_a_connection_is_an_error() {
    let link = take_in(leak(LIES)).unwrap();
    let error = link
        .connect(
            &Address::new("lies", "here"),
            &Properties::NONE,
            Deadline::NEVER,
        )
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("returned null in place of a connection"),
        "{error}"
    );
    let error = link
        .listen(&Address::new("lies", "here"), &Properties::NONE)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("returned the unknown code -1"), "{error}");
}

#[test]
fn a_connection_with_a_bad_address_or_descriptor_is_given_back() {
    let before = GIVEN_BACK.load(Ordering::SeqCst);
    for (table, said) in [
        (
            Table {
                peer: Some(bad_place),
                ..LIES
            },
            "gave a bad address of a peer: it has control characters",
        ),
        (
            Table {
                descriptor: Some(negative_descriptor),
                ..LIES
            },
            "gave a descriptor that is not open: -7",
        ),
        (
            Table {
                descriptor: Some(closed_descriptor),
                ..LIES
            },
            "gave a descriptor that is not open: 2147483647",
        ),
    ] {
        let error = connected(table).unwrap_err().to_string();
        assert!(error.ends_with(said), "{error}");
    }
    assert!(GIVEN_BACK.load(Ordering::SeqCst) >= before + 3);
}

#[test]
fn counts_that_cannot_be_are_errors_and_never_lengths() {
    let connection = connected(LIES).unwrap();
    let failed = connection
        .send(&[IoSlice::new(b"four")], Deadline::NEVER)
        .unwrap_err();
    assert_eq!(failed.sent, 4);
    assert!(matches!(failed.error.cause, Cause::Closed));
    let mut block = connection.lend(0);
    block.extend_from_slice(b"held");
    for need in [5, 8] {
        let error = connection
            .receive(&mut block, need, Deadline::NEVER)
            .unwrap_err();
        assert!(
            error.to_string().contains("octets with room for"),
            "{error}"
        );
        assert_eq!(&*block, b"held");
    }
    assert_eq!(connection.pending(), Pending::End);
}

#[test]
fn a_library_that_always_has_more_is_not_read_for_ever() {
    let table = Table {
        receive: Some(endless),
        ..LIES
    };
    let connection = connected(table).unwrap();
    let mut block = connection.lend(0);
    assert_eq!(
        connection.receive(&mut block, 1, Deadline::NEVER).unwrap(),
        4
    );
    assert_eq!(&*block, b"xxxx");
}
