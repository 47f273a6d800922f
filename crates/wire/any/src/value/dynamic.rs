//! Valuetypes whose type is known only at run time: their state is values, one for each member.

use std::any::{Any as Anything, TypeId};
use std::cell::RefCell;
use std::sync::{Arc, Weak};

use punctual_cdr::{
    CdrError, Decoder, Encoder, FormalValue, Graph, HoldsValues, ReadStep, ValueFactory, ValueRef,
    ValueState, WriteStep,
};

use super::{Value, state};
use crate::kind::TypeKind;
use crate::type_code::{TypeCode, TypeCodeError, ValueModifier};

/// State of a valuetype, member by member, those of its bases first. A boxed value has one member.
///
/// A value keeps only a pointer to its type: a message may hold a value for each four of its bytes,
/// of a type that takes as much room as the rest.
#[derive(Debug)]
pub struct DynamicValue {
    type_code: Arc<TypeCode>,
    members: Vec<Value>,
}

impl DynamicValue {
    /// Makes a value of this type, in a graph of its own.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`] for a type that is not a valuetype, or one without state;
    /// [`CdrError::Invalid`] if the number of members differs from that of the type and its bases.
    pub fn create(type_code: &TypeCode, members: Vec<Value>) -> Result<ValueRef, CdrError> {
        let (factory, state) = Self::state(type_code, members)?;
        Ok(ValueRef::new(factory, state))
    }

    /// Makes a value as [`DynamicValue::create`] does, in the graph of another value: cycles
    /// through both are freed with the last handle to either.
    ///
    /// # Errors
    /// As [`DynamicValue::create`].
    pub fn create_beside(
        other: &ValueRef,
        type_code: &TypeCode,
        members: Vec<Value>,
    ) -> Result<ValueRef, CdrError> {
        let (factory, state) = Self::state(type_code, members)?;
        Ok(other.beside(factory, state))
    }

    /// Makes a value whose members are set later by [`DynamicValue::assign`], so that one of them
    /// may be the value itself. It is in the graph of `beside`, if that is given.
    #[must_use]
    pub fn begin(factory: &Arc<DynamicFactory>, beside: Option<&ValueRef>) -> ValueRef {
        let state = Box::new(Self::new(Arc::clone(&factory.type_code), Vec::new()));
        let factory = Arc::clone(factory);
        match beside {
            Some(other) => other.beside(factory, state),
            None => ValueRef::new(factory, state),
        }
    }

    fn state(
        type_code: &TypeCode,
        members: Vec<Value>,
    ) -> Result<(Arc<DynamicFactory>, Box<Self>), CdrError> {
        let factory = Self::factory(type_code)?;
        let types = factory.type_code.arena().shapes()?;
        if state::count(types, factory.type_code.at()) != members.len() {
            return Err(CdrError::Invalid(
                "a valuetype has another number of members",
            ));
        }
        let state = Self::new(Arc::clone(&factory.type_code), members);
        Ok((Arc::new(factory), Box::new(state)))
    }

    fn new(type_code: Arc<TypeCode>, members: Vec<Value>) -> Self {
        Self { type_code, members }
    }

    /// Returns the type of the member that belongs to a step; `None` after the last.
    fn member(&self, step: usize) -> Result<Option<FormalType>, CdrError> {
        let types = self.type_code.arena().shapes()?;
        let member = state::member(types, self.type_code.at(), step);
        Ok(member.map(|at| FormalType::new(&self.type_code.part(at))))
    }

    /// Returns the type of a value, and its members; `None` if generated code owns its state.
    #[must_use]
    pub fn of(value: &ValueRef) -> Option<(TypeCode, Vec<Value>)> {
        Self::with_members(value, |type_code, members| {
            (type_code.clone(), members.to_vec())
        })
    }

    /// Returns the result of `look` on the type of a value and its members; `None` if generated
    /// code owns its state.
    ///
    /// The state is locked meanwhile: `look` may read the value again, but not change it.
    pub fn with_members<R>(
        value: &ValueRef,
        look: impl FnOnce(&TypeCode, &[Value]) -> R,
    ) -> Option<R> {
        Self::with_state(value, |this| look(&this.type_code, &this.members))
    }

    fn with_state<R>(value: &ValueRef, look: impl FnOnce(&Self) -> R) -> Option<R> {
        let found = value.with_state(|state| {
            let this = state.part(TypeId::of::<Self>())?.downcast_ref::<Self>()?;
            Some(look(this))
        });
        found.flatten()
    }

    /// Replaces the members of a value.
    ///
    /// # Errors
    /// [`CdrError::Invalid`] if generated code owns its state, or the number of members differs
    /// from the type's.
    pub fn assign(value: &ValueRef, members: Vec<Value>) -> Result<(), CdrError> {
        let count = Self::with_state(value, |this| {
            let types = this.type_code.arena().shapes()?;
            Ok(state::count(types, this.type_code.at()))
        });
        if count.transpose()? != Some(members.len()) {
            return Err(CdrError::Invalid(
                "a valuetype has another number of members",
            ));
        }
        value.replace(members, |this: &mut Self| &mut this.members);
        Ok(())
    }

    /// Returns the names and types of all members of a type's values, those of its bases first.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`] for a type that is not a valuetype.
    pub fn members_of(type_code: &TypeCode) -> Result<Vec<(String, TypeCode)>, CdrError> {
        members_of(&type_code.original_type())
            .map_err(|_| CdrError::BadTypeCode("the type is not a valuetype"))
    }

    fn factory(type_code: &TypeCode) -> Result<DynamicFactory, CdrError> {
        type_code.check()?;
        let type_code = type_code.original_type();
        let modifier = type_code.type_modifier();
        if matches!(
            modifier,
            Ok(ValueModifier::Abstract | ValueModifier::Custom)
        ) {
            return Err(CdrError::UnknownValue);
        }
        if !FormalType(type_code.clone()).is_value() {
            return Err(CdrError::BadTypeCode("the type is not a valuetype"));
        }
        Ok(DynamicFactory {
            type_code: Arc::new(type_code),
        })
    }
}

fn members_of(type_code: &TypeCode) -> Result<Vec<(String, TypeCode)>, TypeCodeError> {
    if type_code.kind() == TypeKind::ValueBox {
        return Ok(vec![("value".into(), type_code.content_type()?)]);
    }
    let mut lines = vec![type_code.clone()];
    // No type is its own base, which was checked before; a chain is no longer than the arena.
    while let Some(base) = lines
        .last()
        .map(TypeCode::concrete_base_type)
        .transpose()?
        .flatten()
    {
        lines.push(base.original_type());
        if lines.len() > type_code.arena().nodes().len() {
            return Err(TypeCodeError::BadKind);
        }
    }
    let mut members = Vec::new();
    for line in lines.iter().rev() {
        for index in 0..line.member_count()? {
            members.push((
                line.member_name(index)?.to_owned(),
                line.member_type(index)?,
            ));
        }
    }
    Ok(members)
}

/// Factory that makes valuetypes from their TypeCode alone.
#[derive(Debug)]
pub struct DynamicFactory {
    type_code: Arc<TypeCode>,
}

impl DynamicFactory {
    /// Makes the factory of a type.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`] for a type that is not a valuetype, [`CdrError::UnknownValue`] for
    /// one without state.
    pub fn new(type_code: &TypeCode) -> Result<Self, CdrError> {
        DynamicValue::factory(type_code)
    }
}

impl ValueFactory for DynamicFactory {
    fn repository_id(&self) -> &str {
        self.type_code.id().unwrap_or_default()
    }

    fn truncatable_to(&self, at: usize) -> Option<&str> {
        let types = self.type_code.arena().shapes().ok()?;
        let base = state::truncatable_to(types, self.type_code.at(), at)?;
        types.node(base).name().map(|name| &*name.id)
    }

    fn has_state_of(&self, id: &str) -> Option<bool> {
        let types = self.type_code.arena().shapes().ok()?;
        Some(state::has_state_of(types, self.type_code.at(), id))
    }

    fn kinds(&self) -> &[TypeId] {
        &[]
    }

    fn create(&self) -> Box<dyn ValueState> {
        let types = self.type_code.arena().shapes();
        let count = types.map_or(0, |types| state::count(types, self.type_code.at()));
        // A type may have many members, of which a message brings few.
        let members = Vec::with_capacity(count.min(4));
        Box::new(DynamicValue::new(Arc::clone(&self.type_code), members))
    }
}

/// Formal type of a value, by its TypeCode. Values of derived types are allowed, too: a TypeCode
/// alone does not tell which types inherit from it.
#[derive(Clone, Debug)]
pub struct FormalType(TypeCode);

impl FormalType {
    /// Makes the formal type that a member or parameter of this TypeCode has.
    #[must_use]
    pub fn new(type_code: &TypeCode) -> Self {
        Self(type_code.original_type())
    }

    /// Returns whether a value made by this factory is allowed for this formal type. A formal type
    /// without state admits all: a TypeCode does not name the abstract bases of a type.
    fn admits_value_of(&self, factory: &dyn ValueFactory) -> bool {
        let is_abstract = matches!(self.0.type_modifier(), Ok(ValueModifier::Abstract));
        let id = self.0.id().unwrap_or_default();
        if !self.is_value() || is_abstract || id.is_empty() || id == VALUE_BASE {
            return true;
        }
        factory.has_state_of(id).unwrap_or(true)
    }

    fn is_value(&self) -> bool {
        matches!(
            self.0.kind(),
            TypeKind::Value | TypeKind::ValueBox | TypeKind::Event
        )
    }
}

impl FormalValue for FormalType {
    fn repository_id(&self) -> &str {
        self.0.id().unwrap_or_default()
    }

    fn factory(&self) -> Option<Arc<dyn ValueFactory>> {
        // The cache is gone while a thread ends.
        let known = RECENT_FACTORIES.try_with(|lately| {
            let lately = lately.borrow();
            let mut used = lately.iter().filter_map(Weak::upgrade);
            used.find(|one| one.type_code.is_same(&self.0))
        });
        if let Ok(Some(known)) = known {
            return Some(known);
        }
        let made = Arc::new(DynamicValue::factory(&self.0).ok()?);
        let _ = RECENT_FACTORIES.try_with(|lately| {
            let mut lately = lately.borrow_mut();
            lately.rotate_right(1);
            let [first, ..] = &mut *lately;
            *first = Arc::downgrade(&made);
        });
        Some(made)
    }

    fn admits(&self, factory: &dyn ValueFactory) -> bool {
        self.admits_value_of(factory)
    }
}

/// Repository id of `CORBA::ValueBase`, from which all valuetypes inherit.
const VALUE_BASE: &str = "IDL:omg.org/CORBA/ValueBase:1.0";

/// Number of value factories that each thread caches.
const REMEMBERED: usize = 4;

thread_local! {
    /// Cache of the factories made most recently: most values of a message are of a few types.
    static RECENT_FACTORIES: RefCell<[Weak<DynamicFactory>; REMEMBERED]> =
        const { RefCell::new([const { Weak::new() }; REMEMBERED]) };
}

/// Formal type of the next member to be read: the first member that `members` lacks.
impl FormalValue for DynamicValue {
    fn repository_id(&self) -> &str {
        let types = self.type_code.arena().shapes().ok();
        let name = types.and_then(|types| {
            let member = state::member(types, self.type_code.at(), self.members.len())?;
            types.node(types.shape(member).original).name()
        });
        name.map_or("", |name| &name.id)
    }

    fn factory(&self) -> Option<Arc<dyn ValueFactory>> {
        self.member(self.members.len()).ok()??.factory()
    }

    fn admits(&self, factory: &dyn ValueFactory) -> bool {
        let member = self.member(self.members.len()).ok().flatten();
        member.is_none_or(|member| member.admits_value_of(factory))
    }
}

impl ValueState for DynamicValue {
    fn write_step(&self, step: usize, out: &mut Encoder<'_>) -> Result<WriteStep, CdrError> {
        match (self.member(step)?, self.members.get(step)) {
            (Some(member), Some(Value::Valuetype(value))) if member.is_value() => {
                Ok(WriteStep::Value(value.clone()))
            }
            (Some(FormalType(member)), Some(value)) => {
                value.marshal(&member, out)?;
                Ok(WriteStep::Wrote)
            }
            // It was begun, and is not complete.
            (Some(_), None) => Err(CdrError::Invalid("the value has another type")),
            (None, _) => Ok(WriteStep::End),
        }
    }

    fn read_step(&mut self, step: usize, input: &mut Decoder<'_>) -> Result<ReadStep, CdrError> {
        match self.member(step)? {
            Some(member) if member.is_value() => Ok(ReadStep::Value),
            Some(FormalType(member)) => {
                self.members.push(Value::unmarshal(&member, input)?);
                Ok(ReadStep::Read)
            }
            None => Ok(ReadStep::End),
        }
    }

    fn formal(&self, _step: usize) -> &dyn FormalValue {
        self
    }

    fn link(&mut self, _step: usize, value: Option<ValueRef>) {
        self.members.push(Value::Valuetype(value));
    }

    fn adopt(&mut self, graph: &Graph) {
        self.members.adopt(graph);
    }

    fn part(&self, wanted: TypeId) -> Option<&dyn Anything> {
        (wanted == TypeId::of::<Self>()).then_some(self)
    }

    fn part_mut(&mut self, wanted: TypeId) -> Option<&mut dyn Anything> {
        (wanted == TypeId::of::<Self>()).then_some(self)
    }
}
