//! Fuzz target for values of every type that generated code reads; the input's first octets select
//! the types.

mod custom;
mod lent;
mod memory;
mod numbers;
mod sequences;
mod structs;

pub(crate) use lent::Run;

use punctual_cdr::{
    Block, ByteOrder, CdrError, Char, CodeSets, Coding, Decoder, Encoder, Fixed, GiopVersion,
    LongDouble, Marshal, NarrowCodeSet, Unmarshal, WideCodeSet,
};
use std::collections::BTreeMap;

const VERSIONS: [GiopVersion; 3] = [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2];

/// Maximum number of values that are read from one input.
const VALUES: usize = 16;

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, input) = crate::choice(input);
    let (set, input) = crate::choice(input);
    let (kinds, octets) = input.split_at(input.len().min(VALUES));
    let order = ByteOrder::from_flag(how & 1);
    let runs_are_lent = set & 0x80 != 0;
    let set = set & 0x7f;
    let narrow = NarrowCodeSet::all().nth(usize::from(set) % NarrowCodeSet::all().count());
    let coding = Coding {
        version: VERSIONS[usize::from(how >> 1) % VERSIONS.len()],
        code_sets: CodeSets {
            narrow: narrow.unwrap_or(NarrowCodeSet::Utf8),
            wide: [None, Some(WideCodeSet::Utf16), Some(WideCodeSet::Ucs2)]
                [usize::from(how >> 3) % 3],
        },
        ..Coding::default()
    };
    if runs_are_lent {
        return lent::run(kinds, octets, order, coding);
    }
    let mut decoder = Decoder::new(octets, order, coding);
    for kind in kinds {
        if read(*kind, &mut decoder).is_err() {
            return;
        }
    }
}

/// Lowest input byte that selects one of the value kinds read by [`more`].
const MORE: u8 = 192;

fn read(kind: u8, input: &mut Decoder<'_>) -> Result<(), CdrError> {
    if kind >= MORE {
        return more(kind - MORE, input);
    }
    match kind % 24 {
        0 => again::<bool>(input),
        1 => again::<u8>(input),
        2 => again::<i16>(input),
        3 => again::<u32>(input),
        4 => again::<i64>(input),
        5 => input.get_f32().map(drop),
        6 => input.get_f64().map(drop),
        7 => LongDouble::unmarshal(input).map(drop),
        8 => again::<Char>(input),
        9 => again::<String>(input),
        10 => again::<Fixed<31, 6>>(input),
        11 => again::<Fixed<4, 2>>(input),
        12 => again::<Vec<u8>>(input),
        13 => again::<Vec<u16>>(input),
        14 => again::<Vec<i64>>(input),
        15 => again::<Vec<String>>(input),
        16 => again::<Vec<Vec<u32>>>(input),
        17 => again::<[u32; 3]>(input),
        18 => again::<Vec<bool>>(input),
        19 => again::<Vec<Char>>(input),
        20 => again::<char>(input),
        21 => input.get_wstring().map(drop),
        22 => {
            let mut content = input.encapsulation()?;
            content.nested(String::unmarshal).map(drop)
        }
        _ => input.align(8),
    }
}

/// First of the value kinds in [`more`] that are structs.
const STRUCTS: u8 = 56;

fn more(kind: u8, input: &mut Decoder<'_>) -> Result<(), CdrError> {
    if kind >= STRUCTS {
        return structs::read(kind - STRUCTS, input);
    }
    match kind % 28 {
        0 => again::<i8>(input),
        1 => again::<u64>(input),
        2 => again::<Box<String>>(input),
        3 => again::<BTreeMap<u16, String>>(input),
        4 => numbers::long_double(input),
        5 => numbers::decimals(input),
        6 => numbers::decimal_of_text(input),
        7 => sequences::into::<String>(input),
        8 => sequences::into::<Vec<String>>(input),
        9 => sequences::into::<Vec<u16>>(input),
        10 => sequences::into::<Vec<f64>>(input),
        11 => sequences::into::<Box<u32>>(input),
        12 => sequences::view::<u32>(input),
        13 => sequences::view::<i8>(input),
        14 => sequences::view::<String>(input),
        15 => sequences::view::<Char>(input),
        16 => sequences::bounded(input),
        17 => sequences::bounded_text(input),
        18 => sequences::bounded_wide_text(input),
        19 => again::<[f32; 2]>(input).and_then(|()| again::<[Char; 3]>(input)),
        20 => again::<Vec<char>>(input),
        21 => again::<Wide>(input),
        22 => sequences::optional(input),
        23 => memory::blocks(input),
        25 => again::<Vec<f32>>(input),
        26 => custom::streams(input),
        27 => custom::wide(input),
        _ => {
            shown(input);
            input.skip(1)
        }
    }
}

/// Checks the textual descriptions of encodings, and the lookup of a code set by its number.
fn shown(input: &Decoder<'_>) {
    let coding = input.coding();
    let shown = format!("{coding:?}");
    let narrow = coding.code_sets.narrow;
    assert!(shown.contains("limits") && !narrow.name().is_empty());
    assert_eq!(NarrowCodeSet::from_id(narrow.id()), Some(narrow));
    assert_eq!(input.order().other().other(), input.order());
    assert_eq!(Char(b'x').to_string(), "x");
}

/// Wide string; in Rust it is a string like any other, but it is marshaled as wide text.
#[derive(PartialEq)]
struct Wide(String);

impl Marshal for Wide {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_wstring(&self.0)
    }
}

impl Unmarshal for Wide {
    const MIN_SIZE: usize = 4;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        input.get_wstring().map(Self)
    }
}

/// Reads a value, and checks that it is the same after writing and reading.
fn again<T: Marshal + Unmarshal + PartialEq>(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let value = T::unmarshal(input)?;
    let mut out = Encoder::new(Block::default(), input.order(), *input.coding());
    match value.marshal(&mut out) {
        Ok(()) => {
            let block = out.into_block();
            let mut written = Decoder::new(&block, input.order(), *input.coding());
            let other = T::unmarshal(&mut written).expect("what was written is read");
            // A NaN is not equal to itself.
            let is_itself = value.eq(&value);
            assert_eq!(other == value, is_itself);
        }
        // Some encodings are read but not written; wide text may contain the terminator of other
        // text.
        Err(CdrError::CharacterNotInCodeSet | CdrError::InnerNul) => {}
        Err(error) => panic!("what was read is not written: {error}"),
    }
    Ok(())
}
