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

/// Object with one, ten or a hundred operations: calls the one with the given index.
pub(crate) struct Target(Box<dyn Fn(usize) -> Result<()>>);

/// Implements two interfaces with the same operations, of which those of the second are one-ways, and makes their targets.
macro_rules! operations {
    ($target:ident: $two_way:ident $servant:ident $one_way:ident $thrown:ident: $($operation:ident)+) => {
        impl $servant for Idle {
            $(fn $operation(&self) -> Called {
                Ok(())
            })+
        }

        impl $thrown for Idle {
            $(fn $operation(&self) -> Called {
                Ok(())
            })+
        }

        impl $thrown for Counted {
            $(fn $operation(&self) -> Called {
                self.0.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })+
        }

        fn $target(object: ObjectRef, is_one_way: bool) -> Target {
            const CALLED: &[fn(&$two_way) -> Called] = &[$($two_way::$operation),+];
            const THROWN: &[fn(&$one_way) -> Called] = &[$($one_way::$operation),+];
            if is_one_way {
                let object = $one_way::from_object(object);
                return Target(Box::new(move |operation| Ok(THROWN[operation](&object)?)));
            }
            let object = $two_way::from_object(object);
            Target(Box::new(move |operation| Ok(CALLED[operation](&object)?)))
        }
    };
}

operations! {
    one: One OneServant ThrowOne ThrowOneServant:
        call_00
}

operations! {
    ten: Ten TenServant ThrowTen ThrowTenServant:
        call_00 call_01 call_02 call_03 call_04 call_05 call_06 call_07 call_08 call_09
}

operations! {
    hundred: Hundred HundredServant ThrowHundred ThrowHundredServant:
        call_00 call_01 call_02 call_03 call_04 call_05 call_06 call_07 call_08 call_09
        call_10 call_11 call_12 call_13 call_14 call_15 call_16 call_17 call_18 call_19
        call_20 call_21 call_22 call_23 call_24 call_25 call_26 call_27 call_28 call_29
        call_30 call_31 call_32 call_33 call_34 call_35 call_36 call_37 call_38 call_39
        call_40 call_41 call_42 call_43 call_44 call_45 call_46 call_47 call_48 call_49
        call_50 call_51 call_52 call_53 call_54 call_55 call_56 call_57 call_58 call_59
        call_60 call_61 call_62 call_63 call_64 call_65 call_66 call_67 call_68 call_69
        call_70 call_71 call_72 call_73 call_74 call_75 call_76 call_77 call_78 call_79
        call_80 call_81 call_82 call_83 call_84 call_85 call_86 call_87 call_88 call_89
        call_90 call_91 call_92 call_93 call_94 call_95 call_96 call_97 call_98 call_99
}

/// Returns a servant whose interface has 1, 10 or 100 operations; with a counter, these are one-ways that are counted.
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
        match operations {
            1 => one(object, one_way),
            10 => ten(object, one_way),
            _ => hundred(object, one_way),
        }
    }

    /// Returns a target for an object that is called without stubs, by a new request of the dynamic invocation interface for
    /// each call.
    pub(crate) fn dynamic(object: ObjectRef, one_way: bool) -> Self {
        Self(Box::new(move |operation| {
            let mut request = Request::new(&object, &format!("call_{operation:02}"));
            if one_way {
                return Ok(request.send_oneway()?);
            }
            request.set_return_type(&TypeCode::VOID);
            Ok(request.invoke()?)
        }))
    }

    /// Calls the operation with the given index.
    pub(crate) fn call(&self, operation: usize) -> Result<()> {
        (self.0)(operation)
    }
}
