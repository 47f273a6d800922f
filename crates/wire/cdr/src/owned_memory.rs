//! Sequences of octets and numbers that a message takes over: long ones are sent from the memory of their vector, without a
//! copy in the message.

use std::fmt;
use std::sync::Arc;

use crate::bulk::InMemory;
use crate::caller_memory::CallerMemory;
use crate::each::check_bound;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::lend::Segment;
use crate::order::ByteOrder;
use crate::value::Marshal;

/// Writes a `sequence<T, bound>` of octets or numbers. One of [`CallerMemory::LEAST`] bytes or more in the machine's byte order
/// becomes a segment of the block ([`Block::lent`](crate::Block::lent)), unless the encoder has a lender of its own, is inside an
/// encapsulation, or the vector has room for more than twice as many values. For messages that are sent with the segments of
/// their blocks: a server's replies.
///
/// # Errors
/// [`CdrError::BoundExceeded`], and [`CdrError::LengthOverLimit`].
#[inline]
pub fn marshal_owned<T>(values: Vec<T>, bound: u32, out: &mut Encoder<'_>) -> Result<(), CdrError>
where
    T: Marshal + Send + Sync + 'static,
    [T]: InMemory,
{
    check_bound(values.len(), bound)?;
    match size_of_val(values.as_slice()) < CallerMemory::LEAST {
        true => values.marshal(out),
        false => marshal_long(values, out),
    }
}

#[inline(never)]
fn marshal_long<T>(values: Vec<T>, out: &mut Encoder<'_>) -> Result<(), CdrError>
where
    T: Marshal + Send + Sync + 'static,
    [T]: InMemory,
{
    let is_as_in_memory = size_of::<T>() == 1 || out.order() == ByteOrder::NATIVE;
    // A vector with much more room would hold it until the message has been sent.
    let is_roomy = values.capacity() / 2 > values.len();
    if !is_as_in_memory || is_roomy || !out.takes_segments() {
        return values.marshal(out);
    }
    out.put_length(values.len())?;
    out.align(size_of::<T>());
    out.attach(Arc::new(OwnedRun(values)));
    Ok(())
}

/// Run that lies in a vector.
struct OwnedRun<T>(Vec<T>);

impl<T> Segment for OwnedRun<T>
where
    T: Send + Sync,
    [T]: InMemory,
{
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn as_slice(&self) -> &[u8] {
        self.0.octets()
    }

    fn copy_to(&self, to: &mut [u8]) {
        to.copy_from_slice(self.as_slice());
    }
}

impl<T> fmt::Debug for OwnedRun<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The length only: the contents may be secret.
        f.debug_struct("OwnedRun")
            .field("len", &self.0.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lend::Lender;
    use crate::{Block, Coding};

    /// Writes values between others: into a message as a whole, and as their owner gives them up.
    fn both_ways<T>(values: Vec<T>, order: ByteOrder) -> (Vec<u8>, Block)
    where
        T: Marshal + Clone + Send + Sync + 'static,
        [T]: InMemory,
    {
        let encoder = || Encoder::new(Block::default(), order, Coding::default());
        let (mut whole, mut out) = (encoder(), encoder());
        for out in [&mut whole, &mut out] {
            out.put_u8(1);
        }
        values.marshal(&mut whole).unwrap();
        marshal_owned(values, u32::MAX, &mut out).unwrap();
        for out in [&mut whole, &mut out] {
            out.put_u64(2);
        }
        (whole.into_block().into_vec(), out.into_block())
    }

    fn stretches(block: &Block) -> Vec<u8> {
        let mut all = Vec::new();
        block.for_each_stretch(|stretch| all.extend_from_slice(stretch));
        all
    }

    #[test]
    fn a_long_sequence_is_a_segment_and_what_follows_is_aligned_as_if_it_were_in_the_block() {
        let octets = CallerMemory::LEAST + 1;
        let (whole, block) = both_ways(vec![7_u8; octets], ByteOrder::NATIVE);
        assert_eq!(block.lent()[0].segment.len(), octets);
        assert!(block.len() < 32);
        assert_eq!(stretches(&block), whole);
        let (whole, block) = both_ways(vec![0.5_f64; CallerMemory::LEAST], ByteOrder::NATIVE);
        assert_eq!(block.lent()[0].segment.len(), 8 * CallerMemory::LEAST);
        assert_eq!(stretches(&block), whole);
    }

    #[test]
    fn the_segment_is_the_memory_that_was_given_up() {
        let octets = vec![7_u8; CallerMemory::LEAST];
        let place = octets.as_ptr();
        let (_, block) = both_ways(octets.clone(), ByteOrder::NATIVE);
        assert_ne!(block.lent()[0].segment.as_slice().as_ptr(), place);
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        marshal_owned(octets, u32::MAX, &mut out).unwrap();
        assert_eq!(out.block().lent()[0].segment.as_slice().as_ptr(), place);
    }

    #[test]
    fn octets_of_either_order_are_a_segment_and_numbers_of_the_other_order_and_short_ones_are_copied()
     {
        let other = ByteOrder::NATIVE.other();
        let (whole, block) = both_ways(vec![7_u8; CallerMemory::LEAST], other);
        assert_eq!(block.lent().len(), 1);
        assert_eq!(stretches(&block), whole);
        let (whole, block) = both_ways(vec![7_u16; CallerMemory::LEAST], other);
        assert!(block.lent().is_empty());
        assert_eq!(*block, *whole);
        let (whole, block) = both_ways(vec![7_u8; CallerMemory::LEAST - 1], ByteOrder::NATIVE);
        assert!(block.lent().is_empty());
        assert_eq!(*block, *whole);
    }

    #[test]
    fn a_sequence_over_its_bound_is_refused() {
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        let refused = marshal_owned(vec![0_u8; CallerMemory::LEAST], 100, &mut out);
        assert!(matches!(refused, Err(CdrError::BoundExceeded { .. })));
    }

    #[test]
    fn sequences_in_encapsulations_and_those_with_much_more_room_are_copied() {
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        let octets = vec![7_u8; CallerMemory::LEAST];
        out.encapsulation(|out| marshal_owned(octets.clone(), u32::MAX, out))
            .unwrap();
        let encapsulated = Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
            marshal_owned(octets.clone(), u32::MAX, out)
        });
        assert_eq!(encapsulated.unwrap().len(), 8 + octets.len());
        let mut roomy = Vec::with_capacity(3 * octets.len());
        roomy.extend_from_slice(&octets);
        marshal_owned(roomy, u32::MAX, &mut out).unwrap();
        assert!(out.block().lent().is_empty());
        marshal_owned(octets, u32::MAX, &mut out).unwrap();
        assert_eq!(out.block().lent().len(), 1);
    }

    #[derive(Debug)]
    struct Refusing;

    impl Lender for Refusing {
        fn threshold(&self) -> usize {
            0
        }

        fn lend(&self, _: &[u8]) -> Option<Arc<dyn Segment>> {
            None
        }
    }

    #[test]
    fn a_link_that_lends_decides_itself() {
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        out.set_lender(Some(&Refusing));
        marshal_owned(vec![7_u8; CallerMemory::LEAST], u32::MAX, &mut out).unwrap();
        assert!(out.block().lent().is_empty());
        assert_eq!(out.block().len(), 4 + CallerMemory::LEAST);
    }

    #[test]
    fn a_joined_block_is_the_whole_message() {
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        let mut whole = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        for number in 1..4 {
            let values = vec![number; CallerMemory::LEAST];
            values.marshal(&mut whole).unwrap();
            whole.put_u8(9);
            marshal_owned(values, u32::MAX, &mut out).unwrap();
            out.put_u8(9);
        }
        let mut block = out.into_block();
        assert_eq!(block.lent().len(), 3);
        block.join();
        assert!(block.lent().is_empty());
        assert_eq!(*block, *whole.into_block());
    }
}
