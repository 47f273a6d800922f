//! Events of IDL types: a supplier pushes a value, consumers of its type get a reference to it, and all others see
//! the same event, with the value as its `any`.
//!
//! The compiler implements [`EventValue`] for types with `@event`. For types of foreign IDL a program implements it,
//! with a number that it chooses or with that of [`type_of_id`].

use crate::{Data, Event, RtecEventData};
pub use punctual::stub::EventValue;
use punctual::stub::{Any, CdrError, Marshal, Typed, Unmarshal};
use punctual_rtevent::{
    Consumer, Filter, Header, Publications, Pushed, Selector, Subscription, codes,
};
use std::marker::PhantomData;
use std::sync::Arc;

/// Returns the type that `@event` gives to a type with this repository id if its IDL states no number: the CRC-32 of the
/// id, without its highest bit and not below the first type of users.
#[must_use]
pub fn type_of_id(repository_id: &str) -> i32 {
    let checksum = crc32fast::hash(repository_id.as_bytes());
    (checksum & 0x7fff_ffff)
        .cast_signed()
        .max(codes::FIRST_OF_USERS)
}

/// Returns a subscription to all events that carry a `T`, of all sources.
#[must_use]
pub fn subscription<T: EventValue>() -> Subscription {
    Subscription::new(Filter::event(T::EVENT_TYPE, 0))
}

/// Returns the publications of a supplier of events that carry a `T`; source 0 is every source.
#[must_use]
pub fn publications<T: EventValue>(source: i32) -> Publications {
    Publications::new(vec![Selector::new(T::EVENT_TYPE, source)])
}

/// Makes an event of a value, which is marshaled here, once for all consumers.
///
/// # Errors
/// The value cannot be marshaled.
pub fn event<T: EventValue + Typed + Marshal>(source: i32, value: &T) -> Result<Event, CdrError> {
    let data = RtecEventData {
        any_value: Any::new(value)?,
        ..RtecEventData::default()
    };
    let header = Header::new(T::EVENT_TYPE, source);
    Ok(Event::new(header, Arc::new(data.into())))
}

/// Makes a consumer that calls the function with each value of an IDL type, and its event's header. An event whose `any`
/// has no such value counts as a push that failed.
pub fn consumer<T: EventValue + Typed + Unmarshal + 'static>(
    take: impl Fn(&Header, &T) + Send + Sync + 'static,
) -> Arc<dyn Consumer<Data>> {
    Arc::new(Taker {
        take,
        values: PhantomData,
    })
}

struct Taker<T, F> {
    take: F,
    values: PhantomData<fn(&T)>,
}

impl<T, F> Consumer<Data> for Taker<T, F>
where
    T: Typed + Unmarshal + 'static,
    F: Fn(&Header, &T) + Send + Sync,
{
    fn push(&self, events: &[Event]) -> Pushed {
        let mut pushed = Pushed::Done;
        for event in events {
            match event.data.contents().any_value.extract::<T>() {
                Ok(value) => (self.take)(&event.header, &value),
                Err(error) => pushed = Pushed::Failed(error.to_string()),
            }
        }
        pushed
    }
}
