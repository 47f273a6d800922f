//! Events of IDL types: a supplier pushes a value, consumers of its type get a reference to it, and all others see
//! the same event, with the value as its `any`.

use crate::{Data, Event, RtecEventData};
use punctual::stub::{Any, CdrError, Marshal, Typed, Unmarshal};
use punctual_rtevent::{Consumer, Header, Pushed, codes};
use std::marker::PhantomData;
use std::sync::Arc;

/// Returns the type of events that carry values of an IDL type: the CRC-32 of its repository id, or of its TypeCode as
/// text if it has none, without its highest bit and not below the first type of users. Other programs compute the same
/// number.
#[must_use]
pub fn kind<T: Typed + ?Sized>() -> i32 {
    let type_code = T::type_code();
    let checksum = match type_code.id() {
        Ok(id) if !id.is_empty() => crc32fast::hash(id.as_bytes()),
        _ => crc32fast::hash(type_code.to_string().as_bytes()),
    };
    let kind = (checksum & 0x7fff_ffff) as i32;
    kind.max(codes::FIRST_OF_USERS)
}

/// Makes an event of a value, which is marshaled here, once for all consumers.
///
/// # Errors
/// The value cannot be marshaled.
pub fn event<T: Typed + Marshal + ?Sized>(source: i32, value: &T) -> Result<Event, CdrError> {
    let data = RtecEventData {
        any_value: Any::new(value)?,
        ..RtecEventData::default()
    };
    let header = Header::new(kind::<T>(), source);
    Ok(Event::new(header, Arc::new(data.into())))
}

/// Makes a consumer that calls the function with each value of an IDL type, and its event's header. An event whose `any`
/// has no such value counts as a push that failed.
pub fn consumer<T: Typed + Unmarshal + 'static>(
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
