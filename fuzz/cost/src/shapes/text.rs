//! Text in code sets other than the machine's own, and other data that must be converted.

use super::{number, written};
use crate::outcome::read_one;
use crate::{Outcome, Shape};
use punctual_cdr::{
    ByteOrder, Char, CodeSets, Coding, Decoder, Fixed, NarrowCodeSet, Unmarshal, WideCodeSet,
};

pub(super) const SHAPES: &[Shape] = &[
    Shape::new("text", "empty strings", empty, read::<Vec<String>>),
    Shape::new("text", "Latin-1", long, read::<String>),
    Shape::new("text", "characters", long, read::<Vec<Char>>),
    Shape::new("wide text", "UTF-16", wide, |octets| {
        read_one(in_sets(octets), |input| input.get_wstring().map(drop))
    }),
    Shape::new("wide text", "empty wide strings", nothing, |octets| {
        read_one(in_sets(octets), |input| {
            let count = input.get_u32()?;
            (0..count).try_for_each(|_| input.get_wstring().map(drop))
        })
    }),
    Shape::new("fixed", "short ones", fixed, read::<Vec<Fixed<1, 0>>>),
    Shape::new(
        "sequences",
        "of sequences without elements",
        nothing,
        read::<Vec<Vec<u64>>>,
    ),
    Shape::new("sequences", "of booleans", booleans, read::<Vec<bool>>),
];

fn read<T: Unmarshal>(octets: &[u8]) -> Outcome {
    read_one(in_sets(octets), |input| T::unmarshal(input).map(drop))
}

fn in_sets(octets: &[u8]) -> Decoder<'_> {
    let code_sets = CodeSets {
        narrow: NarrowCodeSet::Iso8859_1,
        wide: Some(WideCodeSet::Utf16),
    };
    let coding = Coding {
        code_sets,
        ..Coding::default()
    };
    Decoder::new(octets, ByteOrder::Big, coding)
}

fn empty(octets: usize) -> Vec<u8> {
    written(|out| {
        out.put_u32(number(octets / 8));
        (0..octets / 8).try_for_each(|_| out.put_string(""))
    })
}

/// Writes long text beyond ASCII, with its terminating NUL.
fn long(octets: usize) -> Vec<u8> {
    let mut all = number(octets + 1).to_be_bytes().to_vec();
    all.resize(octets + 4, 0xe4);
    all.push(0);
    all
}

fn booleans(octets: usize) -> Vec<u8> {
    let mut all = number(octets).to_be_bytes().to_vec();
    all.resize(octets + 4, 1);
    all
}

fn wide(octets: usize) -> Vec<u8> {
    let mut all = number(octets & !1).to_be_bytes().to_vec();
    all.extend([0x20, 0xac].repeat(octets / 2));
    all
}

/// Writes a sequence of elements of length 0, each of which takes 4 octets.
pub(super) fn nothing(octets: usize) -> Vec<u8> {
    let mut all = number(octets / 4).to_be_bytes().to_vec();
    all.resize(octets / 4 * 4 + 4, 0);
    all
}

fn fixed(octets: usize) -> Vec<u8> {
    let mut all = number(octets).to_be_bytes().to_vec();
    all.resize(octets + 4, 0x1c);
    all
}
