//! Custom value whose unmarshalling ignores the error of a value in it.

use std::any::{Any, TypeId};
use std::sync::Arc;

use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, CustomMarshal, DataInputStream, DataOutputStream, Decoder,
    Encoder, Environment, Formal, FormalValue, Graph, ReadStep, Unmarshal, ValueFactory, ValueRef,
    ValueState, WriteStep,
};

use super::coding;
use super::node::{Node, NodeState};

#[derive(Clone, Debug, Default)]
struct Careless(Option<Node>);

impl CustomMarshal for Careless {
    fn marshal(&self, os: &mut DataOutputStream<'_, '_>) -> Result<(), CdrError> {
        os.write_value(self.0.as_ref())
    }

    fn unmarshal(&mut self, is: &mut DataInputStream<'_, '_>) -> Result<(), CdrError> {
        self.0 = is.read_value().unwrap_or_default();
        Ok(())
    }
}

struct Factory;

impl ValueFactory for Factory {
    fn repository_id(&self) -> &str {
        "IDL:Careless:1.0"
    }
    fn is_custom(&self) -> bool {
        true
    }
    fn kinds(&self) -> &[TypeId] {
        &[]
    }
    fn create(&self) -> Box<dyn ValueState> {
        Box::<Careless>::default()
    }
}

impl ValueState for Careless {
    fn write_step(&self, step: usize, out: &mut Encoder<'_>) -> Result<WriteStep, CdrError> {
        if step > 0 {
            return Ok(WriteStep::End);
        }
        CustomMarshal::marshal(self, &mut DataOutputStream::new(out))?;
        Ok(WriteStep::Wrote)
    }
    fn read_step(&mut self, step: usize, input: &mut Decoder<'_>) -> Result<ReadStep, CdrError> {
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

struct Knows;

impl Environment for Knows {
    fn share(&self) -> Arc<dyn Environment> {
        Arc::new(Self)
    }
    fn value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        (id == "IDL:Careless:1.0").then(|| Arc::new(Factory) as _)
    }
}

/// The outer one of two nodes waits for the inner one, which fails: the data after it is not read
/// as the outer's state.
#[test]
fn what_comes_behind_a_value_that_failed_is_no_part_of_who_waited_for_it() {
    let inner = Node::new(NodeState {
        number: 0x0b0b_0b0b,
        ..NodeState::default()
    });
    let outer = Node::new(NodeState {
        number: 5,
        next: Some(inner),
        ..NodeState::default()
    });
    let careless = ValueRef::new(Arc::new(Factory), Box::new(Careless(Some(outer))));
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding());
    out.put_value(Some(&careless)).unwrap();
    out.put_u32(0xfeed_beef);
    let mut octets = out.into_block().into_vec();
    let number = octets
        .windows(4)
        .position(|four| four == [0x0b; 4])
        .unwrap();
    // Its number is followed by its `next`, which was nil, and is now an invalid tag.
    octets[number + 4..number + 8].copy_from_slice(&[0x12; 4]);
    let coding = Coding {
        environment: Some(&Knows),
        ..coding()
    };
    let mut input = Decoder::new(&octets, ByteOrder::Big, coding);
    let read = ValueRef::unmarshal(&mut input).unwrap();
    assert!(read.read(|state: &Careless| state.0.is_none()));
    assert_eq!(input.get_u32(), Ok(0xfeed_beef));
    assert_eq!(input.remaining(), 0);
}
