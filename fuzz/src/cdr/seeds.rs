//! Seeds: values of the kinds that [`super::run`] reads.

use super::MORE;
use super::custom::Custom;
use crate::Seed;
use punctual_cdr::{
    Block, ByteOrder, CdrError, Char, Coding, Encoder, Fixed, LongDouble, Marshal, NarrowCodeSet,
};
use std::collections::BTreeMap;

/// Returns the seeds, in both byte orders and each version.
///
/// # Panics
/// A seed cannot be written.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    for (order_flag, order) in [(0, ByteOrder::Big), (1, ByteOrder::Little)] {
        for (number, version) in super::VERSIONS.into_iter().enumerate() {
            // One octet gives both: wide text is UTF-16 in the last two versions, and not
            // negotiated in the first.
            for how in (0..=255_u8).filter(|how| {
                how & 1 == order_flag && usize::from(how >> 1) % 3 == number && how >> 3 == 1
            }) {
                for (name, kind, write) in values() {
                    let coding = Coding {
                        version,
                        ..Coding::default()
                    };
                    let mut out = Encoder::new(Block::default(), order, coding);
                    if write(&mut out).is_ok() {
                        let name = format!("{name}-{version}-{order:?}");
                        all.push((name, input([how, 0], &[kind], &out.into_block())));
                    }
                }
            }
        }
        all.extend(lent(order_flag, order));
        all.extend(structs(order_flag, order));
    }
    for (set, narrow) in (0..).zip(NarrowCodeSet::all()) {
        // Text that is in most of them, and a letter for each octet.
        let octets: Vec<u8> = (0xa0..=0xff_u8).collect();
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        octets.marshal(&mut out).expect("it can be written");
        let text = [0, 0, 0, 3, 0xc3, 0xa4, 0];
        let name = |what: &str| format!("{what}-{}", narrow.name().replace([' ', '/'], "-"));
        all.push((name("letters"), input([0, set], &[19], &out.into_block())));
        all.push((name("text"), input([0, set], &[9], &text)));
        all.push((name("shown"), input([0, set], &[MORE + 24], &[0])));
    }
    all
}

/// Returns runs of structs that begin at each alignment; with valid characters, invalid ones, and
/// too few.
fn structs(order_flag: u8, order: ByteOrder) -> Vec<Seed> {
    let mut all = Vec::new();
    for kind in 0..8 {
        for before in 0..4 {
            for (letter, left) in [(b'A', 400), (0xc1, 400), (b'A', 70)] {
                let mut out = Encoder::new(Block::default(), order, Coding::default());
                let octets = [letter; 400];
                (0..before).for_each(|_| out.put_u8(7));
                out.put_u32(3);
                out.put_bytes(&octets[..left]);
                let mut kinds = vec![1; before];
                kinds.push(MORE + super::STRUCTS + kind);
                let name = format!("structs-{kind}-{before}-{letter}-{left}-{order:?}");
                let how = order_flag | 4 | 8;
                all.push((name.clone(), input([how, 0], &kinds, &out.into_block())));
            }
        }
    }
    all
}

/// Makes an input of `how`, the code set, the kinds of values, and the values.
fn input(head: [u8; 2], kinds: &[u8], octets: &[u8]) -> Vec<u8> {
    let mut all = [0; super::VALUES];
    // Reading ends behind the last one, of which nothing is left.
    all.fill(4);
    all[..kinds.len()].copy_from_slice(kinds);
    [&head[..], &all, octets].concat()
}

type Write = Box<dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError>>;

fn of<T: Marshal + 'static>(value: T) -> Write {
    Box::new(move |out| value.marshal(out))
}

fn wide(text: &'static str) -> Write {
    Box::new(move |out| out.put_wstring(text))
}

fn values() -> Vec<(String, u8, Write)> {
    let texts = ["eins", "zwei", ""].map(str::to_owned).to_vec();
    let map = BTreeMap::from([(1_u16, "one".to_owned()), (2, "two".to_owned())]);
    let mut all = vec![
        ("octet-signed", MORE, of(-3_i8)),
        ("ulonglong", MORE + 1, of(7_u64)),
        ("boxed", MORE + 2, of("boxed".to_owned())),
        ("map", MORE + 3, of(map)),
        (
            "into-string",
            MORE + 7,
            of(["eins".to_owned(), "zwei".to_owned()]),
        ),
        (
            "into-strings",
            MORE + 8,
            of([texts.clone(), vec!["drei".to_owned(); 4]]),
        ),
        ("into-shorts", MORE + 9, of([vec![1_u16, 2], vec![3; 5]])),
        (
            "into-doubles",
            MORE + 10,
            of([vec![0.5_f64], vec![f64::NAN; 2]]),
        ),
        ("into-box", MORE + 11, of([1_u32, 2])),
        ("view-longs", MORE + 12, of(vec![1_u32, 2, 3])),
        ("view-octets", MORE + 13, of(vec![-1_i8, 2])),
        ("view-strings", MORE + 14, of(texts.clone())),
        ("view-chars", MORE + 15, of(vec![Char(b'a'); 9])),
        ("bounded", MORE + 16, of(texts.clone())),
        ("bounded-over", MORE + 16, of(vec!["x".to_owned(); 6])),
        ("bounded-text", MORE + 17, of("five5".to_owned())),
        ("bounded-text-over", MORE + 17, of("longer".to_owned())),
        ("bounded-wide", MORE + 18, wide("f\u{fc}nf")),
        ("bounded-wide-over", MORE + 18, wide("longer")),
        (
            "floats",
            MORE + 19,
            of(([0.5_f32, -1.0], [Char(b'x'); 3]).0),
        ),
        (
            "wchars",
            MORE + 20,
            of(vec!['a', '\u{df}', '\u{feff}', '\u{1f600}']),
        ),
        ("wchars-plain", MORE + 20, of(vec!['a', '\u{df}'])),
        ("wide", MORE + 21, wide("w\u{e9}it \u{1f600}")),
        ("wide-marked", MORE + 21, wide("\u{feff}x")),
        (
            "optional",
            MORE + 22,
            Box::new(|out| {
                out.put_bool(true);
                7_u64.marshal(out)
            }),
        ),
        ("optional-none", MORE + 22, of(false)),
        ("floats-many", MORE + 25, of(vec![0.5_f32; 70])),
        ("custom", MORE + 26, of(Custom::sample())),
        ("custom-wide", MORE + 27, of('\u{df}')),
        ("shown", MORE + 24, of(0_u8)),
        (
            "blocks",
            MORE + 23,
            of([vec![1_u16, 0xffff, 2, 0xffff], vec![0xffff; 40]].concat()),
        ),
        ("blocks-small", MORE + 23, of(vec![5_u16; 60])),
        ("doubles", MORE + 4, long_doubles(1.0, -0.5, 1.0)),
        (
            "doubles-subnormal",
            MORE + 4,
            long_doubles(5e-324, 1e-310, 5e-324),
        ),
        (
            "doubles-endless",
            MORE + 4,
            long_doubles(f64::NEG_INFINITY, f64::INFINITY, 0.0),
        ),
        (
            "doubles-none",
            MORE + 4,
            long_doubles(f64::NAN, 1.0, f64::NAN),
        ),
    ];
    // Too great for a `double`, too small, between two, and a NaN that only the last octet marks.
    for (name, bits) in [
        ("great", 0x7000_u128 << 112),
        ("small", 1_u128),
        ("between", 0x3fff_u128 << 112 | 1 << 59),
        ("rounded-up", 0x3fff_u128 << 112 | 3 << 59),
        ("none-below", 0x7fff_u128 << 112 | 1),
        ("subnormal", 0x3bf0_u128 << 112 | 1 << 100),
    ] {
        all.push((
            name,
            MORE + 4,
            Box::new(move |out| {
                LongDouble::from_bits(bits).marshal(out)?;
                LongDouble::from_f64(1.0).marshal(out)?;
                1.0_f64.marshal(out)
            }),
        ));
    }
    let mut all: Vec<_> = all
        .into_iter()
        .map(|(name, kind, write)| (name.to_owned(), kind, write))
        .collect();
    let most = 10_i128.pow(31) - 1;
    for (number, (one, other)) in [
        (0, 0),
        (1_250_000, 1250),
        (most, 999_999_999),
        (-most, -1),
        (7, 3),
        (1_234_567, -5),
        (1_500_000, 1500),
    ]
    .into_iter()
    .enumerate()
    {
        let (one, other): (Fixed<31, 6>, Fixed<9, 3>) =
            (Fixed::literal(one), Fixed::literal(other));
        all.push((
            format!("decimals-{number}"),
            MORE + 5,
            Box::new(move |out| {
                one.marshal(out)?;
                other.marshal(out)
            }),
        ));
    }
    for (number, text) in [
        "12.5d",
        "-0.125",
        "+7",
        "100",
        "1.2345678",
        ".",
        "1x",
        "1.00000000000000000000000000000000001",
        "99999999999999999999999999999999",
        "12300",
        "0.0",
    ]
    .into_iter()
    .enumerate()
    {
        all.push((
            format!("decimal-text-{number}"),
            MORE + 6,
            of(text.to_owned()),
        ));
    }
    all
}

fn long_doubles(one: f64, other: f64, double: f64) -> Write {
    Box::new(move |out| {
        LongDouble::from_f64(one).marshal(out)?;
        LongDouble::from_f64(other).marshal(out)?;
        double.marshal(out)
    })
}

/// Returns a seed for each kind that may be lent: the run's offset and length, then the octets.
fn lent(flag: u8, order: ByteOrder) -> Vec<Seed> {
    let coding = Coding::default();
    let octets = |write: &dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError>| {
        let mut out = Encoder::new(Block::default(), order, coding);
        write(&mut out).expect("it can be written");
        // A value behind the run.
        out.put_u32(5);
        out.into_block().into_vec()
    };
    let how = flag | 2 << 1 | 1 << 3;
    [
        (
            "octets",
            0,
            1,
            2,
            octets(&|out| vec![1_u8; 16].marshal(out)),
        ),
        (
            "shorts",
            1,
            1,
            2,
            octets(&|out| vec![1_u16; 8].marshal(out)),
        ),
        ("longs", 2, 2, 2, octets(&|out| vec![1_i64; 2].marshal(out))),
        ("array", 3, 0, 2, octets(&|out| [1_u32; 4].marshal(out))),
        (
            "array-octets",
            4,
            0,
            2,
            octets(&|out| [1_u8; 16].marshal(out)),
        ),
        ("seen", 7, 1, 2, octets(&|out| vec![1_u8; 16].marshal(out))),
        ("view", 8, 1, 2, octets(&|out| vec![1_u32; 4].marshal(out))),
        ("skipped", 9, 0, 1, octets(&|out| 1_u64.marshal(out))),
        (
            "elsewhere",
            5,
            1,
            1,
            octets(&|out| "text and more".to_owned().marshal(out)),
        ),
        (
            "long-run",
            0,
            1,
            255,
            octets(&|out| vec![3_u8; 2040].marshal(out)),
        ),
    ]
    .into_iter()
    .map(|(name, kind, at, length, octets)| {
        let octets = [&[at, length], &*octets].concat();
        (
            format!("lent-{name}-{order:?}"),
            input([how, 0x80], &[kind, 6], &octets),
        )
    })
    .collect()
}
