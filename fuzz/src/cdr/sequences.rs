//! Ways of reading other than into a new value: into an existing value, as a view of the message,
//! or with a bound.

use punctual_cdr::{
    Block, CdrError, Decoder, Encoder, Marshal, Unmarshal, marshal_bounded, marshal_bounded_string,
    marshal_bounded_wstring, marshal_optional, unmarshal_bounded, unmarshal_bounded_into,
    unmarshal_bounded_str, unmarshal_bounded_string, unmarshal_bounded_string_into,
    unmarshal_bounded_wstring, unmarshal_bounded_wstring_into, unmarshal_optional, unmarshal_slice,
    unmarshal_slice_bounded,
};
use std::fmt::Debug;

const BOUND: u32 = 5;

/// Checks that a value read into an existing one equals the value read as a new one.
pub(super) fn into<T: Unmarshal + PartialEq + Debug + Clone + Default>(
    input: &mut Decoder<'_>,
) -> Result<(), CdrError> {
    let mut before = T::default();
    let first = before.unmarshal_into(&mut input.clone());
    let alone = T::unmarshal(&mut input.clone());
    assert_eq!(first.is_ok(), alone.is_ok());
    let alone = T::unmarshal(input)?;
    assert_same(&before, &alone);
    // The second value behind the first is read as well, if there is one.
    if let Ok(second) = T::unmarshal(&mut input.clone()) {
        before.unmarshal_into(input)?;
        assert_same(&before, &second);
    }
    Ok(())
}

/// Checks that two values are equal, or at least have equal descriptions: a NaN is not equal to
/// itself.
fn assert_same<T: PartialEq + Debug>(one: &T, other: &T) {
    assert!(one == other || format!("{one:?}") == format!("{other:?}"));
}

/// Checks that a view of the message equals the values read from it.
pub(super) fn view<T: Unmarshal + PartialEq + Debug + 'static>(
    input: &mut Decoder<'_>,
) -> Result<(), CdrError> {
    let mut bounded = input.clone();
    let read = Vec::<T>::unmarshal(&mut input.clone());
    let seen = unmarshal_slice::<T>(input)?;
    assert_eq!(Ok(&*seen), read.as_deref());
    assert_eq!(seen.as_ref(), &*seen);
    assert!(!format!("{seen:?} {}", seen.is_borrowed()).is_empty());
    let few = unmarshal_slice_bounded::<T>(&mut bounded, BOUND);
    assert_eq!(few.is_ok(), seen.len() <= BOUND as usize);
    Ok(())
}

fn written(
    input: &Decoder<'_>,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<(), CdrError> {
    let mut out = Encoder::new(Block::default(), input.order(), *input.coding());
    write(&mut out)
}

/// Checks that all ways of reading a bounded sequence accept the same input, and that what they
/// accept can be written.
pub(super) fn bounded(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let mut into = vec!["old".to_owned()];
    let how = unmarshal_bounded_into(&mut into, &mut input.clone(), BOUND);
    let read = unmarshal_bounded::<String>(input, BOUND);
    assert_eq!(how.is_ok(), read.is_ok());
    let read = read?;
    assert_eq!(into, read);
    match written(input, |out| marshal_bounded(&read, BOUND, out)) {
        Ok(()) | Err(CdrError::CharacterNotInCodeSet) => Ok(()),
        Err(error) => panic!("what was read is not written: {error}"),
    }
}

/// Checks bounded strings in the same way as bounded sequences.
pub(super) fn bounded_text(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let mut into = "old".to_owned();
    let how = unmarshal_bounded_string_into(&mut into, &mut input.clone(), BOUND);
    let seen = unmarshal_bounded_str(&mut input.clone(), BOUND).map(|text| text.into_owned());
    let read = unmarshal_bounded_string(input, BOUND);
    assert_eq!((how.is_ok(), &seen), (read.is_ok(), &read));
    let read = read?;
    assert_eq!(into, read);
    match written(input, |out| marshal_bounded_string(&read, BOUND, out)) {
        Ok(()) | Err(CdrError::CharacterNotInCodeSet) => Ok(()),
        Err(error) => panic!("what was read is not written: {error}"),
    }
}

/// Checks bounded wide strings in the same way as bounded sequences.
pub(super) fn bounded_wide_text(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let mut into = "old".to_owned();
    let how = unmarshal_bounded_wstring_into(&mut into, &mut input.clone(), BOUND);
    let read = unmarshal_bounded_wstring(input, BOUND);
    assert_eq!(how.is_ok(), read.is_ok());
    let read = read?;
    assert_eq!(into, read);
    match written(input, |out| marshal_bounded_wstring(&read, BOUND, out)) {
        Ok(()) | Err(CdrError::CharacterNotInCodeSet | CdrError::InnerNul) => Ok(()),
        Err(error) => panic!("what was read is not written: {error}"),
    }
}

/// Checks that an optional value, or its absence, is written as it was read.
pub(super) fn optional(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let begin = input.clone();
    let value = unmarshal_optional(input, u64::unmarshal)?;
    let mut out = Encoder::new(Block::default(), input.order(), *input.coding());
    marshal_optional(value.as_ref(), &mut out, u64::marshal)?;
    let written = out.into_block();
    let mut again = Decoder::new(&written, begin.order(), *begin.coding());
    assert_eq!(unmarshal_optional(&mut again, u64::unmarshal), Ok(value));
    Ok(())
}
