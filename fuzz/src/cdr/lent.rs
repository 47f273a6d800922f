//! Lent runs: bytes of a message that stay in separate (shared) memory. Values must read as if the
//! runs were part of the message.

use crate::choice;
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Lender, Lent, Marshal, Segment,
    Unmarshal, unmarshal_slice,
};
use std::fmt::Debug;
use std::sync::Arc;

/// Moves a run of the octets to separate memory, as the first two octets say, and compares the
/// values read with the run lent and with it in place.
pub(super) fn run(kinds: &[u8], octets: &[u8], order: ByteOrder, coding: Coding<'_>) {
    let (at, octets) = choice(octets);
    let (length, octets) = choice(octets);
    let at = (usize::from(at) * 4).min(octets.len());
    let end = (at + usize::from(length) * 8).min(octets.len());
    let own = [&octets[..at], &octets[end..]].concat();
    let lent = [Lent {
        at,
        segment: Arc::new(Run(octets[at..end].to_vec())),
    }];
    assert_eq!(lent[0].segment.is_empty(), at == end);
    let mut beside = Decoder::with_lent(&own, &lent, order, coding);
    let mut within = Decoder::new(octets, order, coding);
    for kind in kinds {
        if read(*kind, &mut beside, &mut within).is_err() {
            break;
        }
        assert_eq!(beside.remaining(), within.remaining());
    }
    sent(octets, order, coding);
}

fn read(kind: u8, beside: &mut Decoder<'_>, within: &mut Decoder<'_>) -> Result<(), CdrError> {
    match kind % 10 {
        0 => same::<Vec<u8>>(beside, within),
        1 => same::<Vec<u16>>(beside, within),
        2 => same::<Vec<i64>>(beside, within),
        3 => same::<[u32; 4]>(beside, within),
        4 => same::<[u8; 16]>(beside, within),
        5 => same::<String>(beside, within),
        6 => same::<u32>(beside, within),
        7 => {
            let octets = beside.get_octets()?;
            assert_eq!(within.get_octets(), Ok(octets));
            Ok(())
        }
        8 => {
            let seen = unmarshal_slice::<u32>(beside)?;
            let read = unmarshal_slice::<u32>(within)?;
            assert_eq!(*seen, *read);
            Ok(())
        }
        _ => {
            beside.skip(8)?;
            within.skip(8)
        }
    }
}

/// Checks that a value reads equally whether a run of its message is lent or not. The decoder may
/// refuse runs at some positions.
fn same<T: Unmarshal + PartialEq + Debug>(
    beside: &mut Decoder<'_>,
    within: &mut Decoder<'_>,
) -> Result<(), CdrError> {
    let value = T::unmarshal(beside)?;
    assert_eq!(T::unmarshal(within), Ok(value));
    Ok(())
}

/// Checks that octets that are sent as a lent run arrive unchanged.
fn sent(octets: &[u8], order: ByteOrder, coding: Coding<'_>) {
    let mut out = Encoder::new(Block::default(), order, coding);
    out.set_lender(Some(&Runs));
    let text = "text".to_owned();
    // A run is never among the first octets of a message, which are its header.
    out.put_u64(0);
    let longs: Vec<u64> = octets.iter().copied().map(u64::from).collect();
    let written = (octets.marshal(&mut out))
        .and_then(|()| text.marshal(&mut out))
        .and_then(|()| longs.marshal(&mut out));
    written.expect("they can be written");
    let block = out.into_block();
    let mut stretches = Vec::new();
    block.for_each_stretch(|stretch| stretches.extend_from_slice(stretch));
    assert_eq!(stretches.len(), block.full_len());
    let mut beside = Decoder::with_lent(&block, block.lent(), order, coding);
    let mut within = Decoder::new(&stretches, order, coding);
    for input in [&mut beside, &mut within] {
        assert_eq!(u64::unmarshal(input), Ok(0));
        assert_eq!(Vec::<u8>::unmarshal(input).as_deref(), Ok(octets));
        assert_eq!(String::unmarshal(input).as_ref(), Ok(&text));
        assert_eq!(Vec::<u64>::unmarshal(input).as_ref(), Ok(&longs));
        assert_eq!(input.remaining(), 0);
    }
}

/// Lent run, stored in a buffer of its own.
#[derive(Debug)]
pub(crate) struct Run(pub(crate) Vec<u8>);

impl Segment for Run {
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

/// Lender of every run that is at least 1,024 bytes long.
#[derive(Debug)]
struct Runs;

impl Lender for Runs {
    fn threshold(&self) -> usize {
        1024
    }

    fn lend(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        Some(Arc::new(Run(octets.to_vec())))
    }
}
