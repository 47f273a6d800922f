//! Tests of values among runs that are lent beside a message: offsets count those runs, and chunks
//! hold none.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use punctual_cdr::{
    Block, ByteOrder, CdrError, CustomMarshal, DataInputStream, DataOutputStream, Decoder, Encoder,
    Lender, Marshal, Nilable, Segment, SharedCopy, Unmarshal, ValueRef,
};

use super::coding;
use super::lender::TakesAll;
use super::node::{Far, FarState, Node, NodeState};

#[test]
fn an_indirection_leads_back_over_a_lent_run() {
    let run = vec![7u8; 3001];
    let node = Node::new(NodeState {
        number: 5,
        ..NodeState::default()
    });
    let far = Far::new(FarState {
        text: "chunked".to_owned(),
        last: Some(node.clone()),
        ..FarState::default()
    });
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding());
    out.set_lender(Some(&TakesAll));
    out.put_value(Some(&node.0)).unwrap();
    out.put_octets(&run).unwrap();
    out.put_value(Some(&node.0)).unwrap();
    out.put_value(Some(&far.0)).unwrap();
    out.put_octets(&run).unwrap();
    let block = out.into_block();
    assert_eq!(block.lent().len(), 2);

    let mut input = Decoder::with_lent(&block, block.lent(), ByteOrder::Big, coding());
    let first = Node::unmarshal_nilable(&mut input).unwrap();
    assert_eq!(input.get_octets(), Ok(&run[..]));
    assert_eq!(Node::unmarshal_nilable(&mut input).unwrap(), first);
    let far = Far::unmarshal_nilable(&mut input).unwrap().unwrap();
    assert_eq!(far.0.read(|state: &FarState| state.last.clone()), first);
    assert_eq!(input.get_octets(), Ok(&run[..]));
    assert_eq!(input.remaining(), 0);
}

#[test]
fn what_follows_a_lent_run_is_aligned_and_a_run_with_too_few_octets_before_it_is_refused() {
    for length in 3000..3008 {
        let run = vec![7u8; length];
        for before in [0, 8] {
            let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding());
            out.set_lender(Some(&TakesAll));
            out.put_bytes(&vec![0; before]);
            out.put_octets(&run).unwrap();
            out.put_u64(5);
            let block = out.into_block();
            assert_eq!(block.lent().len(), 1);
            let mut input = Decoder::with_lent(&block, block.lent(), ByteOrder::Big, coding());
            input.skip(before).unwrap();
            // Behind the run, alignment counts from the bytes before it that remain of the last
            // eight.
            if (4 + length) % 8 > before + 4 {
                assert_eq!(input.get_octets(), Err(CdrError::LentElsewhere));
            } else {
                assert_eq!(input.get_octets(), Ok(&run[..]));
                assert_eq!(input.get_u64(), Ok(5));
            }
        }
    }
}

/// State of bytes, which would be lent outside of a chunk.
#[derive(Clone, Debug, Default, PartialEq)]
struct Large(Vec<u8>);

impl CustomMarshal for Large {
    fn marshal(&self, os: &mut DataOutputStream<'_, '_>) -> Result<(), CdrError> {
        os.write(&self.0)
    }

    fn unmarshal(&mut self, is: &mut DataInputStream<'_, '_>) -> Result<(), CdrError> {
        self.0 = is.read()?;
        Ok(())
    }
}

#[test]
fn nothing_is_lent_out_of_a_chunk() {
    let large = Large((0..=255).cycle().take(5000).collect());
    let value = ValueRef::new(Arc::new(large_value::Factory), Box::new(large.clone()));
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding());
    out.set_lender(Some(&TakesAll));
    out.put_value(Some(&value)).unwrap();
    large.0.marshal(&mut out).unwrap();
    let block = out.into_block();
    assert_eq!(block.lent().len(), 1);

    let coding = punctual_cdr::Coding {
        environment: Some(&large_value::Knows),
        ..coding()
    };
    let mut input = Decoder::with_lent(&block, block.lent(), ByteOrder::Big, coding);
    let read = ValueRef::unmarshal(&mut input).unwrap();
    assert_eq!(read.read(Large::clone), large);
    assert_eq!(Vec::<u8>::unmarshal(&mut input).unwrap(), large.0);
}

mod large_value {
    use std::any::{Any, TypeId};

    use punctual_cdr::{
        Environment, Formal, FormalValue, Graph, ReadStep, ValueFactory, ValueState, WriteStep,
    };

    use super::*;

    pub(super) struct Factory;

    impl ValueFactory for Factory {
        fn repository_id(&self) -> &str {
            "IDL:Large:1.0"
        }
        fn is_custom(&self) -> bool {
            true
        }
        fn kinds(&self) -> &[TypeId] {
            &[]
        }
        fn create(&self) -> Box<dyn ValueState> {
            Box::<Large>::default()
        }
    }

    impl ValueState for Large {
        fn write_step(&self, step: usize, out: &mut Encoder<'_>) -> Result<WriteStep, CdrError> {
            if step > 0 {
                return Ok(WriteStep::End);
            }
            CustomMarshal::marshal(self, &mut DataOutputStream::new(out))?;
            Ok(WriteStep::Wrote)
        }
        fn read_step(
            &mut self,
            step: usize,
            input: &mut Decoder<'_>,
        ) -> Result<ReadStep, CdrError> {
            if step > 0 {
                return Ok(ReadStep::End);
            }
            CustomMarshal::unmarshal(self, &mut DataInputStream::new(input))?;
            Ok(ReadStep::Read)
        }
        fn formal(&self, _step: usize) -> &dyn FormalValue {
            const { &Formal::<ValueRef>::new() }
        }
        fn link(&mut self, _step: usize, _value: Option<ValueRef>) {}
        fn adopt(&mut self, _graph: &Graph) {}
        fn part(&self, _wanted: TypeId) -> Option<&dyn Any> {
            Some(self)
        }
        fn part_mut(&mut self, _wanted: TypeId) -> Option<&mut dyn Any> {
            Some(self)
        }
    }

    /// Environment that returns the test's value factory for each repository id.
    pub(super) struct Knows;

    impl Environment for Knows {
        fn share(&self) -> Arc<dyn Environment> {
            Arc::new(Knows)
        }
        fn value_factory(&self, _id: &str) -> Option<Arc<dyn ValueFactory>> {
            Some(Arc::new(Factory))
        }
    }
}

/// Lender of runs of at least 2,000 bytes, which shares copies and counts them.
#[derive(Debug, Default)]
struct Shares(AtomicUsize);

impl Lender for Shares {
    fn threshold(&self) -> usize {
        2000
    }

    fn lend(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        TakesAll.lend(octets)
    }

    fn share(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        TakesAll.lend(octets)
    }
}

/// Returns a message with shared octets, and how many runs it lends.
fn shared(octets: &[u8], copy: &SharedCopy, lender: Option<&dyn Lender>) -> (Vec<u8>, usize) {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding());
    out.set_lender(lender);
    assert_eq!(
        out.lends_runs_of(octets.len()),
        lender.is_some_and(|lender| octets.len() >= lender.threshold())
    );
    out.put_shared_octets(octets, copy).unwrap();
    let block = out.into_block();
    let mut whole = Vec::new();
    block.for_each_stretch(|stretch| whole.extend_from_slice(stretch));
    (whole, block.lent().len())
}

#[test]
fn octets_of_several_messages_are_shared_once_and_all_read_the_same() {
    let (lender, copy) = (Shares::default(), SharedCopy::default());
    let octets = vec![7; 3000];
    let (alone, lent) = shared(&octets, &copy, None);
    assert_eq!((lent, lender.0.load(Ordering::Relaxed)), (0, 0));
    for copy in [copy.clone(), copy] {
        for _ in 0..3 {
            let (message, lent) = shared(&octets, &copy, Some(&lender));
            assert_eq!((message == alone, lent), (true, 1));
        }
    }
    assert_eq!(
        lender.0.load(Ordering::Relaxed),
        2,
        "a copy of its own each"
    );
}

#[test]
fn short_octets_and_those_for_a_lender_that_shares_nothing_are_as_ever() {
    let (lender, copy) = (Shares::default(), SharedCopy::default());
    let (_, lent) = shared(&[7; 1999], &copy, Some(&lender));
    assert_eq!((lent, lender.0.load(Ordering::Relaxed)), (0, 0));
    let (message, lent) = shared(&[7; 3000], &copy, Some(&TakesAll));
    assert_eq!((message.len(), lent), (3004, 1));
}
