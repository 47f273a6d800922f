//! Filters of the tests that are objects of another program.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use punctual::{Any, SystemException, SystemExceptionKind as Kind, TypeCode};
use punctual_notification::cos_notification::{Property, StructuredEvent};
use punctual_notification::cos_notify_comm::NotifySubscribe;
use punctual_notification::cos_notify_filter as filter;
use punctual_notification::cos_notify_filter::{
    ConstraintExp, ConstraintId, ConstraintInfo, MappingConstraintInfo, MappingConstraintPair,
};

use crate::support::until;

/// Rule by which a filter judges numbers.
type Rule = Box<dyn Fn(i32) -> bool + Send>;

/// Filter that judges events by their numbers. Clones share it.
#[derive(Clone)]
pub(crate) struct Judge(Arc<State>);

struct State {
    rule: Mutex<Rule>,
    /// Numbers of the events about which the filter was asked: by `match`, and by `match_structured`.
    asked: Mutex<(Vec<i32>, Vec<i32>)>,
    is_blocked: Mutex<bool>,
    unblocked: Condvar,
    raises: Mutex<Option<SystemException>>,
}

/// Mapping filter that gives a value to events that a filter lets through, and another one to all else.
#[derive(Clone)]
pub(crate) struct Valuer {
    pub(crate) judge: Judge,
    pub(crate) value: Any,
    pub(crate) default: Any,
}

impl Judge {
    pub(crate) fn new(rule: impl Fn(i32) -> bool + Send + 'static) -> Self {
        Self(Arc::new(State {
            rule: Mutex::new(Box::new(rule)),
            asked: Mutex::default(),
            is_blocked: Mutex::default(),
            unblocked: Condvar::new(),
            raises: Mutex::default(),
        }))
    }

    /// Returns the filter that lets numbers through.
    pub(crate) fn of(numbers: &'static [i32]) -> Self {
        Self::new(|number| numbers.contains(&number))
    }

    /// Applies another rule, as a change of constraints does.
    pub(crate) fn change(&self, rule: impl Fn(i32) -> bool + Send + 'static) {
        *self.0.rule.lock() = Box::new(rule);
    }

    /// Returns the numbers of the events that came by `match_structured`.
    pub(crate) fn asked(&self) -> Vec<i32> {
        self.0.asked.lock().1.clone()
    }

    /// Returns the numbers of the events that came by `match`.
    pub(crate) fn asked_by_any(&self) -> Vec<i32> {
        self.0.asked.lock().0.clone()
    }

    /// Waits until the filter has been asked so often.
    pub(crate) fn wait_for(&self, count: usize) {
        until(|| self.asked().len() >= count);
    }

    /// Lets each call wait until the filter is unblocked.
    pub(crate) fn block(&self, is_blocked: bool) {
        *self.0.is_blocked.lock() = is_blocked;
        self.0.unblocked.notify_all();
    }

    /// Makes each call raise an exception, or none.
    pub(crate) fn raise(&self, exception: Option<SystemException>) {
        *self.0.raises.lock() = exception;
    }

    fn judge(&self, number: i32) -> Result<bool, SystemException> {
        let mut is_blocked = self.0.is_blocked.lock();
        while *is_blocked {
            self.0.unblocked.wait(&mut is_blocked);
        }
        drop(is_blocked);
        match self.0.raises.lock().clone() {
            Some(exception) => Err(exception),
            None => Ok((self.0.rule.lock())(number)),
        }
    }

    fn judge_any(&self, any: &Any) -> Result<bool, SystemException> {
        let number = any.extract().unwrap();
        self.0.asked.lock().0.push(number);
        self.judge(number)
    }

    fn judge_structured(&self, event: &StructuredEvent) -> Result<bool, SystemException> {
        let number = event.remainder_of_body.extract().unwrap();
        self.0.asked.lock().1.push(number);
        self.judge(number)
    }
}

/// Returns the exception of operations that no test calls.
fn missing() -> SystemException {
    Kind::NoImplement.because("the filter has no constraints")
}

impl filter::FilterServant for Judge {
    fn constraint_grammar(&self) -> Result<String, SystemException> {
        Ok("NUMBERS".to_owned())
    }

    fn add_constraints(
        &self,
        _: &[ConstraintExp],
    ) -> Result<Vec<ConstraintInfo>, filter::FilterAddConstraintsError> {
        Err(missing().into())
    }

    fn modify_constraints(
        &self,
        _: &[ConstraintId],
        _: &[ConstraintInfo],
    ) -> Result<(), filter::FilterModifyConstraintsError> {
        Err(missing().into())
    }

    fn get_constraints(
        &self,
        _: &[ConstraintId],
    ) -> Result<Vec<ConstraintInfo>, filter::FilterGetConstraintsError> {
        Err(missing().into())
    }

    fn get_all_constraints(&self) -> Result<Vec<ConstraintInfo>, SystemException> {
        Err(missing())
    }

    fn remove_all_constraints(&self) -> Result<(), SystemException> {
        Err(missing())
    }

    fn destroy(&self) -> Result<(), SystemException> {
        Err(missing())
    }

    fn r#match(&self, filterable_data: &Any) -> Result<bool, filter::FilterMatchError> {
        Ok(self.judge_any(filterable_data)?)
    }

    fn match_structured(
        &self,
        filterable_data: &StructuredEvent,
    ) -> Result<bool, filter::FilterMatchStructuredError> {
        Ok(self.judge_structured(filterable_data)?)
    }

    fn match_typed(&self, _: &[Property]) -> Result<bool, filter::FilterMatchTypedError> {
        Err(missing().into())
    }

    fn attach_callback(&self, _: Option<&NotifySubscribe>) -> Result<i32, SystemException> {
        Err(missing())
    }

    fn detach_callback(&self, _: i32) -> Result<(), filter::FilterDetachCallbackError> {
        Err(missing().into())
    }

    fn get_callbacks(&self) -> Result<Vec<i32>, SystemException> {
        Err(missing())
    }
}

impl Valuer {
    fn value(&self, is_met: bool) -> (bool, Any) {
        match is_met {
            true => (true, self.value.clone()),
            false => (false, self.default.clone()),
        }
    }
}

impl filter::MappingFilterServant for Valuer {
    fn constraint_grammar(&self) -> Result<String, SystemException> {
        Ok("NUMBERS".to_owned())
    }

    fn value_type(&self) -> Result<TypeCode, SystemException> {
        Ok(self.default.type_code().clone())
    }

    fn default_value(&self) -> Result<Any, SystemException> {
        Ok(self.default.clone())
    }

    fn add_mapping_constraints(
        &self,
        _: &[MappingConstraintPair],
    ) -> Result<Vec<MappingConstraintInfo>, filter::MappingFilterAddMappingConstraintsError> {
        Err(missing().into())
    }

    fn modify_mapping_constraints(
        &self,
        _: &[ConstraintId],
        _: &[MappingConstraintInfo],
    ) -> Result<(), filter::MappingFilterModifyMappingConstraintsError> {
        Err(missing().into())
    }

    fn get_mapping_constraints(
        &self,
        _: &[ConstraintId],
    ) -> Result<Vec<MappingConstraintInfo>, filter::MappingFilterGetMappingConstraintsError> {
        Err(missing().into())
    }

    fn get_all_mapping_constraints(&self) -> Result<Vec<MappingConstraintInfo>, SystemException> {
        Err(missing())
    }

    fn remove_all_mapping_constraints(&self) -> Result<(), SystemException> {
        Err(missing())
    }

    fn destroy(&self) -> Result<(), SystemException> {
        Err(missing())
    }

    fn r#match(
        &self,
        filterable_data: &Any,
    ) -> Result<(bool, Any), filter::MappingFilterMatchError> {
        Ok(self.value(self.judge.judge_any(filterable_data)?))
    }

    fn match_structured(
        &self,
        filterable_data: &StructuredEvent,
    ) -> Result<(bool, Any), filter::MappingFilterMatchStructuredError> {
        Ok(self.value(self.judge.judge_structured(filterable_data)?))
    }

    fn match_typed(
        &self,
        _: &[Property],
    ) -> Result<(bool, Any), filter::MappingFilterMatchTypedError> {
        Err(missing().into())
    }
}
