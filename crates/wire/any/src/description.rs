//! Interfaces as data: what an Interface Repository tells of them (CORBA 3.3 part 1, §14.5), and what calls
//! are put together from at run time.

use crate::type_code::TypeCode;

/// An interface with all that it inherits (`FullInterfaceDescription`).
#[derive(Clone, Debug, Default)]
pub struct InterfaceDescription {
    /// Its simple name.
    pub name: String,
    /// Its repository id.
    pub id: String,
    /// The repository id of the scope that it is in; empty for the outermost.
    pub defined_in: String,
    /// Its version, `1.0` as a rule.
    pub version: String,
    /// Operations, its own and inherited ones.
    pub operations: Vec<OperationDescription>,
    /// Attributes, its own and inherited ones.
    pub attributes: Vec<AttributeDescription>,
    /// The repository ids of its direct bases.
    pub bases: Vec<String>,
    /// Its TypeCode.
    pub type_code: TypeCode,
}

/// An operation.
#[derive(Clone, Debug, Default)]
pub struct OperationDescription {
    /// Its name, as in requests.
    pub name: String,
    /// Its repository id.
    pub id: String,
    /// Whether it has no reply.
    pub oneway: bool,
    /// What it returns; `void` for nothing.
    pub result: TypeCode,
    /// Its parameters, in order.
    pub parameters: Vec<ParameterDescription>,
    /// The user exceptions that it may raise.
    pub exceptions: Vec<ExceptionDescription>,
    /// The patterns of its `context` clause.
    pub contexts: Vec<String>,
}

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub struct ParameterDescription {
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_code: TypeCode,
    /// Which way it goes.
    pub mode: ParameterMode,
}

/// Which way a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterMode {
    /// To the object.
    In,
    /// From the object.
    Out,
    /// There and back.
    InOut,
}

/// A user exception.
#[derive(Clone, Debug)]
pub struct ExceptionDescription {
    /// Its simple name.
    pub name: String,
    /// Its repository id.
    pub id: String,
    /// Its type.
    pub type_code: TypeCode,
}

/// An attribute.
#[derive(Clone, Debug)]
pub struct AttributeDescription {
    /// Its name; requests call `_get_NAME` and `_set_NAME`.
    pub name: String,
    /// Its repository id.
    pub id: String,
    /// Its type.
    pub type_code: TypeCode,
    /// Whether it can only be read.
    pub readonly: bool,
    /// The user exceptions that reading it may raise.
    pub get_exceptions: Vec<ExceptionDescription>,
    /// The user exceptions that writing it may raise.
    pub put_exceptions: Vec<ExceptionDescription>,
}

impl InterfaceDescription {
    /// The operation that requests call by this name; those of attributes are made of them.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<OperationDescription> {
        if let Some(attribute) = name.strip_prefix("_get_") {
            return self.attribute(attribute).map(AttributeDescription::getter);
        }
        if let Some(attribute) = name.strip_prefix("_set_") {
            return self.attribute(attribute)?.setter();
        }
        let mut operations = self.operations.iter();
        operations.find(|one| one.name == name).cloned()
    }

    /// The attribute of a name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&AttributeDescription> {
        self.attributes.iter().find(|one| one.name == name)
    }
}

impl AttributeDescription {
    /// The operation that reads it.
    #[must_use]
    pub fn getter(&self) -> OperationDescription {
        OperationDescription {
            name: format!("_get_{}", self.name),
            id: self.id.clone(),
            result: self.type_code.clone(),
            exceptions: self.get_exceptions.clone(),
            ..OperationDescription::default()
        }
    }

    /// The operation that writes it, if it can be written.
    #[must_use]
    pub fn setter(&self) -> Option<OperationDescription> {
        (!self.readonly).then(|| OperationDescription {
            name: format!("_set_{}", self.name),
            id: self.id.clone(),
            result: TypeCode::VOID,
            parameters: vec![ParameterDescription {
                name: "value".to_owned(),
                type_code: self.type_code.clone(),
                mode: ParameterMode::In,
            }],
            exceptions: self.put_exceptions.clone(),
            ..OperationDescription::default()
        })
    }
}
