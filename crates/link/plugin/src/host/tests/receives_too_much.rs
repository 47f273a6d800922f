//! Link whose connection receives more than requested, partly in segments attached to the block
//! instead of in the block itself.

use super::*;

const ALL: usize = 300_000;

#[derive(Debug)]
struct Gushes(Arc<BlockPool>);

#[derive(Debug)]
struct Beside(Vec<u8>);

impl Segment for Beside {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn as_slice(&self) -> &[u8] {
        &self.0
    }

    fn copy_to(&self, to: &mut [u8]) {
        to.copy_from_slice(&self.0);
    }
}

fn place() -> &'static Address {
    static PLACE: std::sync::OnceLock<Address> = std::sync::OnceLock::new();
    PLACE.get_or_init(|| Address::new("gushes", ""))
}

impl Link for Gushes {
    fn name(&self) -> &str {
        "gushes"
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            reliable: false,
            ordered: true,
            framing: Framing::Datagram,
            largest: Some(9000),
        }
    }

    fn connect(
        &self,
        _: &Address,
        _: &Properties,
        _: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        Ok(Arc::new(Self(self.0.clone())))
    }

    fn listen(&self, _: &Address, _: &Properties) -> Result<Box<dyn Acceptor>, LinkError> {
        Err(LinkError {
            phase: Phase::Resolve,
            cause: Cause::TooLarge(9000),
        })
    }
}

impl Connection for Gushes {
    fn lend(&self, capacity: usize) -> Block {
        self.0.lend(capacity)
    }

    fn send(&self, _: &[IoSlice<'_>], _: Deadline) -> Result<(), SendError> {
        Ok(())
    }

    fn receive(&self, block: &mut Block, _: usize, _: Deadline) -> Result<usize, LinkError> {
        block.extend_from_slice(&[1; ALL]);
        block.attach(Arc::new(Beside(vec![2; ALL])));
        block.extend_from_slice(&[3; ALL]);
        Ok(3 * ALL)
    }

    fn pending(&self) -> Pending {
        Pending::Nothing
    }

    fn close(&self) {}

    fn peer(&self) -> &Address {
        place()
    }

    fn local(&self) -> &Address {
        place()
    }

    fn waitable(&self) -> Waitable<'_> {
        Waitable::Own
    }
}

unsafe extern "C" fn open(failure: *mut Failure, link: *mut *mut RawLink) -> c_int {
    // SAFETY: the host's own conditions.
    unsafe { export::open(failure, link, || Gushes(BlockPool::new(2, 1 << 20))) }
}

static GUSHES: Table = export::table(open);

#[test]
fn what_the_library_holds_is_fetched_at_once_and_segments_come_in_line() {
    let link = take_in(&GUSHES).unwrap();
    let connection = link
        .connect(place(), &Properties::NONE, Deadline::NEVER)
        .unwrap();
    let mut block = connection.lend(0);
    block.extend_from_slice(b"held");
    let received = connection.receive(&mut block, 8, Deadline::NEVER).unwrap();
    assert_eq!(received, 3 * ALL);
    let expected: Vec<u8> = [&b"held"[..], &[1; ALL], &[2; ALL], &[3; ALL]].concat();
    assert!(*block == *expected);
    assert_eq!(connection.pending(), Pending::Nothing);
}

#[test]
fn datagrams_and_their_largest_size_are_known_and_a_phase_arrives() {
    let link = take_in(&GUSHES).unwrap();
    assert_eq!(link.guarantees(), Gushes(BlockPool::new(1, 0)).guarantees());
    let error = link.listen(place(), &Properties::NONE).unwrap_err();
    assert_eq!(error.phase, Phase::Resolve);
    assert!(matches!(error.cause, Cause::TooLarge(9000)));
}
