//! `IRObject` and `Contained` (§14.5.2, §14.5.3).

use punctual::SystemException;

use super::adapters::kind_of_unnamed;
use super::server::{Result, Server};
use crate::corba::{self, ContainedServant, DefinitionKind, IrObjectServant, contained};
use crate::definitions::ROOT;
use crate::refusal::Refusal;
use crate::store::Type;

impl IrObjectServant for Server {
    fn def_kind(&self) -> Result<DefinitionKind> {
        let ty = self.current_type()?;
        match &ty {
            Type::Defined(number) => {
                let kind = self.look(|definitions| definitions.kind(*number));
                kind.ok_or_else(|| Refusal::NoSuchDefinition.into())
            }
            unnamed => Ok(kind_of_unnamed(unnamed)),
        }
    }

    fn destroy(&self) -> Result<()> {
        match self.current_type()? {
            Type::Defined(number) => self.change(move |definitions| definitions.destroy(number)),
            // BAD_INV_ORDER for a primitive (§14.5.2.2); other types cannot be removed either.
            Type::Primitive(_) => Err(Refusal::InUse("each type".to_owned()).into()),
            _ => Ok(()),
        }
    }
}

impl ContainedServant for Server {
    fn id(&self) -> Result<String> {
        Ok(self.definition()?.1.id)
    }

    fn set_id(&self, value: &str) -> Result<()> {
        let (number, value) = (self.current()?, value.to_owned());
        self.change(move |definitions| definitions.set_id(number, &value))
    }

    fn name(&self) -> Result<String> {
        Ok(self.definition()?.1.name)
    }

    fn set_name(&self, value: &str) -> Result<()> {
        let (number, definition) = self.definition()?;
        let (container, value) = (definition.container, value.to_owned());
        self.change(move |definitions| definitions.relocate(number, container, &value))
    }

    fn version(&self) -> Result<String> {
        Ok(self.definition()?.1.version)
    }

    fn set_version(&self, value: &str) -> Result<()> {
        let (number, value) = (self.current()?, value.to_owned());
        self.change(move |definitions| definitions.set_version(number, &value))
    }

    fn defined_in(&self) -> Result<Option<corba::Container>> {
        let (_, definition) = self.definition()?;
        Ok(self.typed(definition.container))
    }

    fn absolute_name(&self) -> Result<String> {
        let number = self.current()?;
        Ok(self.look(|definitions| definitions.absolute_name(number)))
    }

    fn containing_repository(&self) -> Result<Option<corba::Repository>> {
        Ok(self.typed(ROOT))
    }

    fn describe(&self) -> Result<contained::Description> {
        let (kind, value) = self.answer().description(self.current()?)?;
        Ok(contained::Description { kind, value })
    }

    fn r#move(
        &self,
        new_container: Option<&corba::Container>,
        new_name: &str,
        new_version: &str,
    ) -> std::result::Result<(), SystemException> {
        let number = self.current()?;
        let container = self.number_in(new_container)?;
        let (name, version) = (new_name.to_owned(), new_version.to_owned());
        self.change(move |definitions| {
            let before = definitions.get(number).map(|d| d.version.clone());
            definitions.set_version(number, &version)?;
            definitions
                .relocate(number, container, &name)
                .or_else(|refusal| {
                    definitions.set_version(number, &before.unwrap_or_default())?;
                    Err(refusal)
                })
        })
    }
}
