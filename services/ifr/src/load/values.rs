//! Valuetypes: their bases, initializers and state.

use punctual_idl::model::{DeclId, DeclKind, Declaration, Parameter, ValueFlavour, ValueType};

use super::{Loading, scope_of};
use crate::corba::{DefinitionKind, PRIVATE_MEMBER, PUBLIC_MEMBER};
use crate::definitions::Definitions;
use crate::refusal::Refusal;
use crate::store::{self, Definition, Details, Number, Value, ValueMember};

impl Loading<'_> {
    pub(super) fn value(&self, value: &ValueType) -> Result<Value, Refusal> {
        let spec = self.spec;
        let has_state = |id: &&DeclId| {
            matches!(&spec[**id].kind,
                DeclKind::ValueType(v) if v.flavour != ValueFlavour::Abstract)
        };
        let (base, abstract_bases): (Vec<&DeclId>, Vec<&DeclId>) =
            value.bases.iter().partition(has_state);
        let numbers = |ids: Vec<&DeclId>| self.all(&ids.into_iter().copied().collect::<Vec<_>>());
        let parameter = |parameter: &Parameter| {
            Ok(store::Member {
                name: parameter.name.clone(),
                kind: self.ty(&parameter.ty)?,
            })
        };
        let factories = value.factories.iter().map(|factory| {
            let parameters = factory.parameters.iter().map(parameter);
            Ok(store::Initializer {
                name: factory.name.clone(),
                parameters: parameters.collect::<Result<_, Refusal>>()?,
            })
        });
        Ok(Value {
            is_abstract: value.flavour == ValueFlavour::Abstract,
            is_custom: value.flavour == ValueFlavour::Custom,
            is_truncatable: value.truncatable,
            base: numbers(base)?,
            abstract_bases: numbers(abstract_bases)?,
            supported: self.all(&value.supports)?,
            factories: factories.collect::<Result<_, Refusal>>()?,
        })
    }

    /// Defines the state members, which are definitions of their own, but parts of the value in
    /// IDL's model.
    pub(super) fn state(
        &mut self,
        definitions: &mut Definitions,
        declaration: &Declaration,
        value: &ValueType,
        number: Number,
    ) -> Result<(), Refusal> {
        let (scope, version) = scope_of(&declaration.repository_id);
        let known = definitions.own_contents(number).iter().copied();
        let members =
            known.filter(|one| definitions.kind(*one) == Some(DefinitionKind::DkValueMember));
        let members: Vec<Number> = members.collect();
        let names = members
            .iter()
            .filter_map(|one| Some(&definitions.get(*one)?.name));
        // The order of members is that of their numbers.
        if !names.eq(value.state.iter().map(|state| &state.member.name)) {
            for member in members {
                definitions.destroy(member)?;
            }
        }
        for state in &value.state {
            let id = format!("{scope}/{}:{version}", state.member.name);
            let what = Details::ValueMember(ValueMember {
                kind: self.ty(&state.member.ty)?,
                access: match state.public {
                    true => PUBLIC_MEMBER,
                    false => PRIVATE_MEMBER,
                },
            });
            match definitions.by_id(&id) {
                Some(known) => definitions.set_details(known, what)?,
                None => {
                    self.new += 1;
                    definitions.create(Definition {
                        id,
                        name: state.member.name.clone(),
                        version: version.to_owned(),
                        container: number,
                        what,
                    })?;
                }
            }
        }
        Ok(())
    }
}
