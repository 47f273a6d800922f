//! Textual descriptions of values, by which the received values are compared with the sent ones.
//!
//! Text is given as hexadecimal code points, floating point as bits. Peers write the same words in
//! languages of their own, so a mistake that both ends of one ORB share shows.

use crate::params as p;

/// Value with a textual description, by which received and sent values are compared.
pub(crate) trait Words {
    /// Returns the textual description of the value.
    fn words(&self) -> String;
}

impl Words for str {
    fn words(&self) -> String {
        self.chars()
            .map(|c| format!("{:02x},", u32::from(c)))
            .collect()
    }
}

impl Words for [i32] {
    fn words(&self) -> String {
        self.iter().map(|number| format!("{number},")).collect()
    }
}

impl Words for p::Matrix {
    fn words(&self) -> String {
        self.as_flattened().words()
    }
}

impl Words for p::Colour {
    fn words(&self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

impl Words for p::Numbers {
    fn words(&self) -> String {
        format!(
            "b={} o={} s={} us={} l={} ul={} ll={} ull={} f={:08x} d={:016x}",
            u8::from(self.b),
            self.o,
            self.s,
            self.us,
            self.l,
            self.ul,
            self.ll,
            self.ull,
            self.f.to_bits(),
            self.d.to_bits()
        )
    }
}

impl Words for p::Point {
    fn words(&self) -> String {
        let (x, mark) = (self.x.to_bits(), u8::from(self.mark));
        format!("({} {x:016x} {mark:02x} {})", self.kind, self.y)
    }
}

impl Words for p::Person {
    fn words(&self) -> String {
        let (name, label) = (self.name.words(), self.label.words());
        format!("({name} {label} {})", self.favourite.words())
    }
}

impl Words for p::Line {
    fn words(&self) -> String {
        self.origin.words() + &self.goal.words() + &self.owner.words()
    }
}

impl Words for p::Tree {
    fn words(&self) -> String {
        let branches: String = self.branches.iter().map(Words::words).collect();
        format!("{}[{branches}]", self.label.words())
    }
}

/// Describes a union: its discriminator, then its member's name and value, if there is one.
fn union(discriminator: impl std::fmt::Display, member: Option<(&str, String)>) -> String {
    match member {
        Some((name, value)) => format!("{discriminator}:{name}={value}"),
        None => format!("{discriminator}:"),
    }
}

/// Implements `Words` for a union: each line has the form `variant(value) => "member" description`.
macro_rules! union_words {
    ($name:ident, $shown:expr; $($variant:pat => $member:expr,)+) => {
        impl Words for p::$name {
            fn words(&self) -> String {
                #[allow(unused_imports)]
                use p::$name::*;
                let member = match self { $($variant => $member,)+ };
                let shown: fn(&Self) -> String = $shown;
                union(shown(self), member)
            }
        }
    };
}

union_words! { ByShort, |u| u.discriminator().to_string();
    Minus(l) => Some(("minus", l.to_string())),
    Few(_, s) => Some(("few", s.words())),
    Many(point) => Some(("many", point.words())),
    Unlabeled(_) => None,
}
union_words! { ByUShort, |u| u.discriminator().to_string();
    Most(o) => Some(("most", o.to_string())),
    Other(_, s) => Some(("other", s.words())),
}
union_words! { ByLong, |u| u.discriminator().to_string();
    One(d) => Some(("one", format!("{:016x}", d.to_bits()))),
    Rest(_, tag) => Some(("rest", tag.words())),
}
union_words! { ByULong, |u| u.discriminator().to_string();
    Large(matrix) => Some(("large", matrix.words())),
    List(longs) => Some(("list", longs.words())),
    Unlabeled(_) => None,
}
union_words! { ByLongLong, |u| u.discriminator().to_string();
    D(d) => Some(("d", format!("{:016x}", d.to_bits()))),
    F(f) => Some(("f", format!("{:08x}", f.to_bits()))),
    Unlabeled(_) => None,
}
union_words! { ByULongLong, |u| u.discriminator().to_string();
    B(b) => Some(("b", u8::from(*b).to_string())),
    S(_, s) => Some(("s", s.to_string())),
}
union_words! { ByBoolean, |u| u8::from(u.discriminator()).to_string();
    Yes(l) => Some(("yes", l.to_string())),
    No(s) => Some(("no", s.words())),
}
union_words! { ByHalf, |u| u8::from(u.discriminator()).to_string();
    Yes(l) => Some(("yes", l.to_string())),
    Unlabeled(_) => None,
}
union_words! { ByChar, |u| char::from(u.discriminator()).to_string();
    A(l) => Some(("a", l.to_string())),
    B(_, s) => Some(("b", s.words())),
    Rest(_, o) => Some(("rest", o.to_string())),
}
union_words! { ByColour, |u| u.discriminator().words();
    Owner(person) => Some(("owner", person.words())),
    Others(_, colours) => {
        Some(("others", colours.iter().map(|c| c.words() + ",").collect()))
    },
}
