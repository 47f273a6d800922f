//! Valuetypes as generated code has them, written by hand:
//!
//! ```idl
//! valuetype Node { public long number; public Node next; public sequence<Node> more; };
//! valuetype Far : truncatable Node { public string text; public Node last; };
//! custom valuetype Own { private string text; };
//! ```

use std::any::{Any, TypeId};
use std::sync::Arc;

use punctual_cdr::{
    CdrError, CustomMarshal, DataInputStream, DataOutputStream, Decoder, Encoder, Environment,
    Formal, FormalValue, Graph, HoldsValues, Marshal, Nilable, ReadStep, Unmarshal, ValueFactory,
    ValueRef, ValueState, ValueType, WriteStep, marshal_value, unmarshal_value,
};

macro_rules! handle {
    ($name:ident $state:ident $id:literal $factory:expr) => {
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct $name(pub(crate) ValueRef);

        impl ValueType for $name {
            const REPOSITORY_ID: &'static str = $id;
            fn from_value(value: ValueRef) -> Self {
                Self(value)
            }
            fn as_value(&self) -> &ValueRef {
                &self.0
            }
            fn default_factory() -> Option<Arc<dyn ValueFactory>> {
                Some(Arc::new($factory))
            }
        }

        impl $name {
            pub(crate) fn new(state: $state) -> Self {
                Self(ValueRef::new(Arc::new($factory), Box::new(state)))
            }
            #[allow(dead_code)]
            pub(crate) fn beside(other: &ValueRef, state: $state) -> Self {
                Self(other.beside(Arc::new($factory), Box::new(state)))
            }
        }

        impl HoldsValues for $name {
            fn adopt(&mut self, graph: &Graph) {
                self.0.adopt(graph);
            }
        }

        impl Nilable for $name {
            fn marshal_nilable(this: Option<&Self>, out: &mut Encoder<'_>) -> Result<(), CdrError> {
                marshal_value(this, out)
            }
            fn unmarshal_nilable(input: &mut Decoder<'_>) -> Result<Option<Self>, CdrError> {
                unmarshal_value(input)
            }
        }
    };
}

handle!(Node NodeState "IDL:Node:1.0" NodeFactory);
handle!(Far FarState "IDL:Far:1.0" FarFactory);
handle!(Own OwnState "IDL:Own:1.0" OwnFactory);

#[derive(Clone, Debug, Default)]
pub(crate) struct NodeState {
    pub(crate) number: i32,
    pub(crate) next: Option<Node>,
    pub(crate) more: Vec<Option<Node>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FarState {
    pub(crate) base: NodeState,
    pub(crate) text: String,
    pub(crate) last: Option<Node>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct OwnState {
    pub(crate) text: String,
}

const NODE_STEPS: usize = 3;

impl ValueState for NodeState {
    fn write_step(&self, step: usize, out: &mut Encoder<'_>) -> Result<WriteStep, CdrError> {
        match step {
            0 => out.put_i32(self.number),
            1 => return Ok(WriteStep::Value(self.next.clone().map(|node| node.0))),
            2 => self.more.marshal(out)?,
            _ => return Ok(WriteStep::End),
        }
        Ok(WriteStep::Wrote)
    }

    fn read_step(&mut self, step: usize, input: &mut Decoder<'_>) -> Result<ReadStep, CdrError> {
        match step {
            0 => self.number = input.get_i32()?,
            1 => return Ok(ReadStep::Value),
            2 => self.more = Vec::unmarshal(input)?,
            _ => return Ok(ReadStep::End),
        }
        Ok(ReadStep::Read)
    }

    fn formal(&self, _step: usize) -> &dyn FormalValue {
        const { &Formal::<Node>::new() }
    }

    fn link(&mut self, _step: usize, value: Option<ValueRef>) {
        self.next = value.map(Node);
    }

    fn adopt(&mut self, graph: &Graph) {
        self.next.adopt(graph);
        self.more.adopt(graph);
    }

    fn part(&self, wanted: TypeId) -> Option<&dyn Any> {
        (wanted == TypeId::of::<Self>()).then_some(self)
    }

    fn part_mut(&mut self, wanted: TypeId) -> Option<&mut dyn Any> {
        (wanted == TypeId::of::<Self>()).then_some(self)
    }
}

impl ValueState for FarState {
    fn write_step(&self, step: usize, out: &mut Encoder<'_>) -> Result<WriteStep, CdrError> {
        match step {
            0..NODE_STEPS => return self.base.write_step(step, out),
            3 => out.put_string(&self.text)?,
            4 => return Ok(WriteStep::Value(self.last.clone().map(|node| node.0))),
            _ => return Ok(WriteStep::End),
        }
        Ok(WriteStep::Wrote)
    }

    fn read_step(&mut self, step: usize, input: &mut Decoder<'_>) -> Result<ReadStep, CdrError> {
        match step {
            0..NODE_STEPS => return self.base.read_step(step, input),
            3 => self.text = input.get_string()?.into(),
            4 => return Ok(ReadStep::Value),
            _ => return Ok(ReadStep::End),
        }
        Ok(ReadStep::Read)
    }

    fn formal(&self, step: usize) -> &dyn FormalValue {
        self.base.formal(step)
    }

    fn link(&mut self, step: usize, value: Option<ValueRef>) {
        match step {
            0..NODE_STEPS => self.base.link(step, value),
            _ => self.last = value.map(Node),
        }
    }

    fn adopt(&mut self, graph: &Graph) {
        self.base.adopt(graph);
        self.last.adopt(graph);
    }

    fn part(&self, wanted: TypeId) -> Option<&dyn Any> {
        if wanted == TypeId::of::<Self>() {
            return Some(self);
        }
        self.base.part(wanted)
    }

    fn part_mut(&mut self, wanted: TypeId) -> Option<&mut dyn Any> {
        if wanted == TypeId::of::<Self>() {
            return Some(self);
        }
        self.base.part_mut(wanted)
    }
}

impl ValueState for OwnState {
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

    fn part(&self, wanted: TypeId) -> Option<&dyn Any> {
        (wanted == TypeId::of::<Self>()).then_some(self)
    }

    fn part_mut(&mut self, wanted: TypeId) -> Option<&mut dyn Any> {
        (wanted == TypeId::of::<Self>()).then_some(self)
    }
}

/// Writes a number, the text, and another number that is not read back.
impl CustomMarshal for OwnState {
    fn marshal(&self, os: &mut DataOutputStream<'_, '_>) -> Result<(), CdrError> {
        os.write_short(7)?;
        os.write_string(&self.text)?;
        os.write_long(-1)
    }

    fn unmarshal(&mut self, is: &mut DataInputStream<'_, '_>) -> Result<(), CdrError> {
        assert_eq!(is.read_short()?, 7);
        self.text = is.read_string()?;
        Ok(())
    }
}

pub(crate) struct NodeFactory;
pub(crate) struct FarFactory;
pub(crate) struct OwnFactory;

impl ValueFactory for NodeFactory {
    fn repository_id(&self) -> &str {
        Node::REPOSITORY_ID
    }
    fn kinds(&self) -> &[TypeId] {
        const { &[TypeId::of::<Node>()] }
    }
    fn create(&self) -> Box<dyn ValueState> {
        Box::<NodeState>::default()
    }
}

impl ValueFactory for FarFactory {
    fn repository_id(&self) -> &str {
        Far::REPOSITORY_ID
    }
    fn truncatable_to(&self, at: usize) -> Option<&str> {
        (at == 0).then_some(Node::REPOSITORY_ID)
    }
    fn kinds(&self) -> &[TypeId] {
        const { &[TypeId::of::<Far>(), TypeId::of::<Node>()] }
    }
    fn create(&self) -> Box<dyn ValueState> {
        Box::<FarState>::default()
    }
}

impl ValueFactory for OwnFactory {
    fn repository_id(&self) -> &str {
        Own::REPOSITORY_ID
    }
    fn is_custom(&self) -> bool {
        true
    }
    fn kinds(&self) -> &[TypeId] {
        const { &[TypeId::of::<Own>()] }
    }
    fn create(&self) -> Box<dyn ValueState> {
        Box::<OwnState>::default()
    }
}

/// Environment that has factories for all valuetypes of these tests.
#[derive(Debug)]
pub(crate) struct KnowsAll;

impl Environment for KnowsAll {
    fn share(&self) -> Arc<dyn Environment> {
        Arc::new(KnowsAll)
    }

    fn value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
        match id {
            Node::REPOSITORY_ID => Node::default_factory(),
            Far::REPOSITORY_ID => Far::default_factory(),
            Own::REPOSITORY_ID => Own::default_factory(),
            _ => None,
        }
    }
}
