//! Interfaces of `demux.idl`: servants that only count, and calls by an operation's number.

use super::idl::demux::{
    Hundred, HundredServant, One, OneServant, Ten, TenServant, ThrowHundred, ThrowHundredServant,
    ThrowOne, ThrowOneServant, ThrowTen, ThrowTenServant,
};
use crate::Result;
use punctual::dynamic::Request;
use punctual::poa::servant_of;
use punctual::{Interface, ObjectRef, Servant, SystemException, TypeCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Called = std::result::Result<(), SystemException>;

/// Servant that does nothing. Each has memory of its own, as real servants do.
#[derive(Debug)]
pub(crate) struct Idle;

/// Servant that counts the calls it receives.
#[derive(Debug)]
pub(crate) struct Counted(pub(crate) Arc<AtomicU64>);

/// Typed reference to an object with one, ten or a hundred operations.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    One(One),
    Ten(Ten),
    Hundred(Hundred),
    ThrowOne(ThrowOne),
    ThrowTen(ThrowTen),
    ThrowHundred(ThrowHundred),
    /// Object whose operations are called by the dynamic invocation interface, two-way or one-way.
    Dynamic(ObjectRef, bool),
}

macro_rules! called {
    ($interface:ident, $servant:ident, $table:ident: $($operation:ident)+) => {
        impl $servant for Idle {
            $(fn $operation(&self) -> Called {
                Ok(())
            })+
        }

        /// Methods of the stub, indexed by the operation's number.
        const $table: &[fn(&$interface) -> Called] =
            &[$($interface::$operation),+];
    };
}

macro_rules! thrown {
    ($interface:ident, $servant:ident, $table:ident: $($operation:ident)+) => {
        impl $servant for Counted {
            $(fn $operation(&self) -> Called {
                self.0.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })+
        }

        impl $servant for Idle {
            $(fn $operation(&self) -> Called {
                Ok(())
            })+
        }

        /// Methods of the stub, indexed by the operation's number.
        const $table: &[fn(&$interface) -> Called] =
            &[$($interface::$operation),+];
    };
}

called! {
    One, OneServant, ONE:
        call_00
}

called! {
    Ten, TenServant, TEN:
        call_00 call_01 call_02 call_03 call_04 call_05 call_06 call_07
        call_08 call_09
}

called! {
    Hundred, HundredServant, HUNDRED:
        call_00 call_01 call_02 call_03 call_04 call_05 call_06 call_07
        call_08 call_09 call_10 call_11 call_12 call_13 call_14 call_15
        call_16 call_17 call_18 call_19 call_20 call_21 call_22 call_23
        call_24 call_25 call_26 call_27 call_28 call_29 call_30 call_31
        call_32 call_33 call_34 call_35 call_36 call_37 call_38 call_39
        call_40 call_41 call_42 call_43 call_44 call_45 call_46 call_47
        call_48 call_49 call_50 call_51 call_52 call_53 call_54 call_55
        call_56 call_57 call_58 call_59 call_60 call_61 call_62 call_63
        call_64 call_65 call_66 call_67 call_68 call_69 call_70 call_71
        call_72 call_73 call_74 call_75 call_76 call_77 call_78 call_79
        call_80 call_81 call_82 call_83 call_84 call_85 call_86 call_87
        call_88 call_89 call_90 call_91 call_92 call_93 call_94 call_95
        call_96 call_97 call_98 call_99
}

thrown! {
    ThrowOne, ThrowOneServant, THROW_ONE:
        throw_00
}

thrown! {
    ThrowTen, ThrowTenServant, THROW_TEN:
        throw_00 throw_01 throw_02 throw_03 throw_04 throw_05 throw_06 throw_07
        throw_08 throw_09
}

thrown! {
    ThrowHundred, ThrowHundredServant, THROW_HUNDRED:
        throw_00 throw_01 throw_02 throw_03 throw_04 throw_05 throw_06 throw_07
        throw_08 throw_09 throw_10 throw_11 throw_12 throw_13 throw_14 throw_15
        throw_16 throw_17 throw_18 throw_19 throw_20 throw_21 throw_22 throw_23
        throw_24 throw_25 throw_26 throw_27 throw_28 throw_29 throw_30 throw_31
        throw_32 throw_33 throw_34 throw_35 throw_36 throw_37 throw_38 throw_39
        throw_40 throw_41 throw_42 throw_43 throw_44 throw_45 throw_46 throw_47
        throw_48 throw_49 throw_50 throw_51 throw_52 throw_53 throw_54 throw_55
        throw_56 throw_57 throw_58 throw_59 throw_60 throw_61 throw_62 throw_63
        throw_64 throw_65 throw_66 throw_67 throw_68 throw_69 throw_70 throw_71
        throw_72 throw_73 throw_74 throw_75 throw_76 throw_77 throw_78 throw_79
        throw_80 throw_81 throw_82 throw_83 throw_84 throw_85 throw_86 throw_87
        throw_88 throw_89 throw_90 throw_91 throw_92 throw_93 throw_94 throw_95
        throw_96 throw_97 throw_98 throw_99
}

/// Returns a servant whose interface has 1, 10 or 100 operations.
pub(crate) fn servant(operations: u32, thrown: Option<&Arc<AtomicU64>>) -> Arc<dyn Servant> {
    match (operations, thrown) {
        (1, None) => servant_of::<One, _>(Idle),
        (10, None) => servant_of::<Ten, _>(Idle),
        (_, None) => servant_of::<Hundred, _>(Idle),
        (1, Some(count)) => servant_of::<ThrowOne, _>(Counted(count.clone())),
        (10, Some(count)) => servant_of::<ThrowTen, _>(Counted(count.clone())),
        (_, Some(count)) => servant_of::<ThrowHundred, _>(Counted(count.clone())),
    }
}

/// Returns a servant whose interface has the given number of one-way operations, which do nothing.
pub(crate) fn deaf_servant(operations: u32) -> Arc<dyn Servant> {
    match operations {
        1 => servant_of::<ThrowOne, _>(Idle),
        10 => servant_of::<ThrowTen, _>(Idle),
        _ => servant_of::<ThrowHundred, _>(Idle),
    }
}

impl Target {
    /// Returns a target for an object whose interface has the given number of operations.
    pub(crate) fn new(object: ObjectRef, operations: u32, one_way: bool) -> Self {
        match (operations, one_way) {
            (1, false) => Self::One(One::from_object(object)),
            (10, false) => Self::Ten(Ten::from_object(object)),
            (_, false) => Self::Hundred(Hundred::from_object(object)),
            (1, true) => Self::ThrowOne(ThrowOne::from_object(object)),
            (10, true) => Self::ThrowTen(ThrowTen::from_object(object)),
            (_, true) => Self::ThrowHundred(ThrowHundred::from_object(object)),
        }
    }

    /// Returns a target for an object that is called without stubs.
    pub(crate) fn dynamic(object: ObjectRef, one_way: bool) -> Self {
        Self::Dynamic(object, one_way)
    }

    /// Calls the operation with the given index.
    pub(crate) fn call(&self, operation: usize) -> Result<()> {
        let called = match self {
            Self::One(object) => ONE[operation](object),
            Self::Ten(object) => TEN[operation](object),
            Self::Hundred(object) => HUNDRED[operation](object),
            Self::ThrowOne(object) => THROW_ONE[operation](object),
            Self::ThrowTen(object) => THROW_TEN[operation](object),
            Self::ThrowHundred(object) => THROW_HUNDRED[operation](object),
            Self::Dynamic(object, one_way) => return call_dynamically(object, operation, *one_way),
        };
        Ok(called?)
    }
}

/// Calls an operation by a new request of the dynamic invocation interface.
fn call_dynamically(object: &ObjectRef, operation: usize, one_way: bool) -> Result<()> {
    if one_way {
        return Ok(Request::new(object, &format!("throw_{operation:02}")).send_oneway()?);
    }
    let mut request = Request::new(object, &format!("call_{operation:02}"));
    request.set_return_type(&TypeCode::VOID);
    Ok(request.invoke()?)
}
