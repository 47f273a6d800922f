//! Making, changing and removing definitions, under the rules of §14.5.1.

use super::validity::{check_name, check_text};
use super::{Definitions, ROOT, bases, key, parents};
use crate::corba::DefinitionKind;
use crate::refusal::Refusal;
use crate::store::{Definition, Details, Number};

/// Maximum nesting of scopes; more than any IDL has.
const DEEPEST_SCOPE: usize = 200;

impl Definitions {
    /// Adds a definition to the repository and returns the definition's number.
    pub(crate) fn create(&mut self, definition: Definition) -> Result<Number, Refusal> {
        if definition.name.is_empty() {
            return Err(Refusal::Invalid("a definition needs a name"));
        }
        if self.by_id.contains_key(&definition.id) {
            return Err(Refusal::IdTaken(definition.id));
        }
        self.check_place(&definition, None)?;
        self.check_uses(&definition.what)?;
        let number = self.last.checked_add(1).ok_or(Refusal::TooDeep)?;
        self.insert(number, definition);
        Ok(number)
    }

    /// Checks that a definition is permitted in its container; `own` is the definition's number if
    /// it exists already.
    fn check_place(&self, definition: &Definition, own: Option<Number>) -> Result<(), Refusal> {
        let container = definition.container;
        let holder = self.kind(container).ok_or(Refusal::NoSuchDefinition)?;
        if !may_contain(holder, definition.what.discriminator()) {
            let name = match container {
                ROOT => "the repository".to_owned(),
                _ => format!("`{}`", self.absolute_name(container)),
            };
            return Err(Refusal::Misplaced(name));
        }
        let depth = std::iter::successors(self.get(container), |d| self.get(d.container)).count();
        if depth >= DEEPEST_SCOPE {
            return Err(Refusal::TooDeep);
        }
        let named = self.by_name(container, &definition.name);
        if named.is_some_and(|number| Some(number) != own) {
            return Err(Refusal::NameTaken(definition.name.clone()));
        }
        Ok(())
    }

    /// Replaces the details of a definition, such as its members or bases.
    pub(crate) fn set_details(&mut self, number: Number, what: Details) -> Result<(), Refusal> {
        self.check_uses(&what)?;
        let definition = self.about_to_change(number)?;
        let (old_bases, old_parents) = (bases(definition), parents(definition).collect::<Vec<_>>());
        let before = std::mem::replace(&mut definition.what, what);
        let new_bases = bases(definition);
        let has_others = !parents(definition).eq(old_parents);
        if let Err(refusal) = self.check_finite(number) {
            if let Some(definition) = self.by_number.get_mut(&number) {
                definition.what = before;
            }
            return Err(refusal);
        }
        self.remove_bases(number, &old_bases);
        self.put_bases(number, &new_bases);
        if has_others {
            self.ancestry.forget_all();
        }
        Ok(())
    }

    /// Changes the repository id of a definition.
    pub(crate) fn set_id(&mut self, number: Number, id: &str) -> Result<(), Refusal> {
        check_text(id)?;
        if self.by_id.get(id).is_some_and(|&other| other != number) {
            return Err(Refusal::IdTaken(id.to_owned()));
        }
        let definition = self.about_to_change(number)?;
        let before = std::mem::replace(&mut definition.id, id.to_owned());
        self.by_id.remove(&before);
        self.by_id.insert(id.to_owned(), number);
        Ok(())
    }

    /// Changes the version of a definition.
    pub(crate) fn set_version(&mut self, number: Number, version: &str) -> Result<(), Refusal> {
        check_text(version)?;
        version.clone_into(&mut self.about_to_change(number)?.version);
        Ok(())
    }

    /// Returns an existing definition to be changed, and records its value before the change.
    fn about_to_change(&mut self, number: Number) -> Result<&mut Definition, Refusal> {
        if self.by_number.contains_key(&number) {
            self.note(number);
        }
        let definition = self.by_number.get_mut(&number);
        definition.ok_or(Refusal::NoSuchDefinition)
    }

    /// Moves a definition into another scope, under another name, or both.
    pub(crate) fn relocate(
        &mut self,
        number: Number,
        container: Number,
        name: &str,
    ) -> Result<(), Refusal> {
        let now = self.get(number).ok_or(Refusal::NoSuchDefinition)?;
        let before = now.container;
        let moved = Definition {
            container,
            name: name.to_owned(),
            ..now.clone()
        };
        let holders = std::iter::successors(Some(container), |&c| Some(self.get(c)?.container));
        if holders.take(DEEPEST_SCOPE).any(|holder| holder == number) {
            return Err(Refusal::Misplaced("a definition inside it".to_owned()));
        }
        check_name(name)?;
        self.check_place(&moved, Some(number))?;
        let named = key(now);
        self.note(number);
        self.remove_name(number, &named);
        self.put_name(number, key(&moved));
        self.by_number.insert(number, moved);
        if let Some(contents) = self.contents.get_mut(&before) {
            contents.retain(|&other| other != number);
        }
        self.contents.entry(container).or_default().push(number);
        Ok(())
    }

    /// Removes a definition with its contents, if no other definition refers to any of it.
    pub(crate) fn destroy(&mut self, number: Number) -> Result<(), Refusal> {
        if number == ROOT {
            return Err(Refusal::InUse("the repository".to_owned()));
        }
        let mut doomed = vec![number];
        let mut at = 0;
        while let Some(&next) = doomed.get(at) {
            doomed.extend(self.own_contents(next));
            at += 1;
        }
        if let Some(user) = self.user_outside(&doomed) {
            return Err(Refusal::InUse(self.absolute_name(user)));
        }
        for number in doomed {
            self.note(number);
            self.contents.remove(&number);
            // No other set contains it, as nothing that remains refers to it.
            self.ancestry.forget(number);
            if let Some(gone) = self.by_number.remove(&number) {
                self.by_id.remove(&gone.id);
                self.remove_name(number, &key(&gone));
                self.remove_bases(number, &bases(&gone));
                if let Some(contents) = self.contents.get_mut(&gone.container) {
                    contents.retain(|&other| other != number);
                }
            }
        }
        Ok(())
    }
}

/// Returns `true` if a definition of kind `holder` may contain one of `kind` (§14.5.4, figure
/// 14.2).
fn may_contain(holder: DefinitionKind, kind: DefinitionKind) -> bool {
    use DefinitionKind as Kind;
    let is_type = matches!(
        kind,
        Kind::DkAlias
            | Kind::DkStruct
            | Kind::DkUnion
            | Kind::DkEnum
            | Kind::DkNative
            | Kind::DkConstant
            | Kind::DkException
    );
    let is_call = matches!(kind, Kind::DkAttribute | Kind::DkOperation);
    match holder {
        Kind::DkRepository | Kind::DkModule => !is_call && kind != Kind::DkValueMember,
        Kind::DkInterface | Kind::DkAbstractInterface | Kind::DkLocalInterface => {
            is_type || is_call
        }
        Kind::DkValue => is_type || is_call || kind == Kind::DkValueMember,
        Kind::DkStruct | Kind::DkUnion | Kind::DkException => {
            matches!(kind, Kind::DkStruct | Kind::DkUnion | Kind::DkEnum)
        }
        _ => false,
    }
}
