//! Bitmasks and bitsets (IDL 4.2, §7.4.13.4.3).

use super::{Parser, Preamble};
use crate::lexer::Kind;
use crate::model::{
    Annotation, Bitfield, Bitmask, Bitset, ConstValue, DeclId, DeclKind, Flag, Primitive, Type,
};
use crate::session::{Checked, Reported};
use crate::source::Place;

/// Number of bits of the largest IDL integer type.
const MOST_BITS: u8 = 64;

/// Default number of bits of a bitmask without `@bit_bound`.
const USUAL_BITS: u8 = 32;

impl Parser<'_> {
    /// Returns whether `bitmask` or `bitset` is meant as the keyword: `bitmask name {`, `bitset
    /// name : base`.
    pub(super) fn begins_bits(&self) -> bool {
        self.peek_at(1).kind == Kind::Ident
            && matches!(self.peek_at(2).kind, Kind::LBrace | Kind::Colon)
    }

    pub(super) fn bits(&mut self, preamble: Preamble) -> Checked<()> {
        if self.at_word("bitmask") {
            self.bitmask(preamble)
        } else {
            self.bitset(preamble)
        }
    }

    fn bitmask(&mut self, preamble: Preamble) -> Checked<()> {
        self.bump();
        let name = self.identifier("the bitmask's name")?;
        let bits = self.bit_bound(&preamble.annotations, name.place);
        let kind = |flags| DeclKind::Bitmask(Bitmask { bits, flags });
        let id = self.declare(&name, preamble, kind(Vec::new()));
        let mut flags = Vec::new();
        let result = self.inside(id, |this| this.flags(bits, &mut flags));
        self.spec.declarations[id.index()].kind = kind(flags);
        result?;
        self.semicolon()
    }

    /// Returns the number of bits of a bitmask, from `@bit_bound` or by default.
    fn bit_bound(&mut self, annotations: &[Annotation], place: Place) -> u8 {
        let Some(said) = number(annotations, "bit_bound") else {
            return USUAL_BITS;
        };
        match u8::try_from(said) {
            Ok(bits @ 1..=MOST_BITS) => bits,
            _ => {
                let message = format!("a bitmask has 1 to {MOST_BITS} bits");
                let label = format!("`@bit_bound({said})`");
                self.error(place, message, &label);
                MOST_BITS
            }
        }
    }

    fn flags(&mut self, bits: u8, flags: &mut Vec<Flag>) -> Checked<()> {
        self.expect(Kind::LBrace)?;
        loop {
            let flag = self.flag(bits, flags)?;
            flags.push(flag);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if self.eat(Kind::RBrace) {
            return Ok(());
        }
        Err(self.expected("`,` or `}`"))
    }

    fn flag(&mut self, bits: u8, before: &[Flag]) -> Checked<Flag> {
        let Preamble { doc, annotations } = self.preamble()?;
        let name = self.identifier("a flag's name")?;
        self.enter_slot(&name, "flag");
        let next = before
            .last()
            .map_or(0, |flag| i128::from(flag.position) + 1);
        let wanted = number(&annotations, "position").unwrap_or(next);
        let position = u8::try_from(wanted).ok().filter(|&p| p < bits);
        let position = position.unwrap_or_else(|| {
            let message = format!("bit {wanted} is beyond the bitmask's {bits} bits");
            let help =
                "`@bit_bound` before the bitmask says how many bits it has, 32 if there is none";
            self.error_with_help(name.place, message, "not in the bitmask", help);
            0
        });
        if let Some(other) = before.iter().find(|flag| flag.position == position)
            && !self.session.has_errors()
        {
            let earlier = Place::from(&other.location);
            let message = format!("two flags have bit {position}");
            let error = self.session.error_at(name.place, message, "again here");
            let error = self.session.and(error, earlier, "first here");
            self.session.report(error);
        }
        Ok(Flag {
            name: name.text.to_string(),
            position,
            doc,
            annotations,
            location: self.session.location(name.place),
        })
    }

    fn bitset(&mut self, preamble: Preamble) -> Checked<()> {
        self.bump();
        let name = self.identifier("the bitset's name")?;
        let base = match self.eat(Kind::Colon) {
            true => Some(self.base_bitset()?),
            false => None,
        };
        let inherited_bits = base.map_or(0, |base| match &self.spec[base].kind {
            DeclKind::Bitset(base) => base.bits,
            _ => 0,
        });
        let empty = Bitset {
            base,
            inherited_bits,
            bits: inherited_bits,
            fields: Vec::new(),
        };
        let id = self.declare(&name, preamble, DeclKind::Bitset(empty.clone()));
        let mut bitset = empty;
        let result = self.inside(id, |this| {
            this.inherit_fields(base, name.place)?;
            this.braced(|this| this.bitfield(&mut bitset))
        });
        let is_empty = bitset.bits == 0;
        self.spec.declarations[id.index()].kind = DeclKind::Bitset(bitset);
        result?;
        if is_empty && !self.session.has_errors() {
            let message = format!("the bitset `{}` has no bits", name.text);
            self.error(name.place, message, "IDL requires at least one field");
        }
        self.semicolon()
    }

    fn base_bitset(&mut self) -> Checked<DeclId> {
        let start = self.peek().place;
        let ty = self.type_spec()?;
        if let Type::Named(id) = self.spec.resolve(&ty)
            && matches!(self.spec[*id].kind, DeclKind::Bitset(_))
        {
            return Ok(*id);
        }
        let place = start.to(self.previous());
        let message = "a bitset can only inherit from another bitset";
        Err(self.error(place, message, "no bitset"))
    }

    /// Enters the names of a base's fields, which are fields of the derived bitset as well.
    fn inherit_fields(&mut self, base: Option<DeclId>, place: Place) -> Checked<()> {
        let mut next = base;
        while let Some(DeclKind::Bitset(bitset)) = next.map(|id| self.spec[id].kind.clone()) {
            self.session.spend(1 + bitset.fields.len(), place)?;
            for field in &bitset.fields {
                let name = super::Name {
                    text: field.name.as_str().into(),
                    place: Place::from(&field.location),
                };
                self.enter_slot(&name, "field");
            }
            next = bitset.base;
        }
        Ok(())
    }

    /// Reads a bit field declaration: `bitfield<3> a;`, `bitfield<7, short> b, c;`, `bitfield<4>;`.
    fn bitfield(&mut self, bitset: &mut Bitset) -> Checked<()> {
        let preamble = self.preamble()?;
        if !self.eat_word("bitfield") {
            return Err(self.expected("`bitfield`"));
        }
        let start = self.expect(Kind::Lt)?.place;
        self.open_angles += 1;
        let inner = self.bitfield_inner();
        self.open_angles -= 1;
        let (bits, ty) = inner?;
        self.expect(Kind::Gt)?;
        let place = start.to(self.previous());
        if self.at(Kind::Semicolon) {
            self.take_bits(bitset, bits, place)?;
        }
        while self.at(Kind::Ident) {
            let name = self.identifier("the field's name")?;
            self.enter_slot(&name, "field");
            let position = self.take_bits(bitset, bits, place)?;
            bitset.fields.push(Bitfield {
                name: name.text.to_string(),
                position,
                bits,
                ty,
                doc: preamble.doc.clone(),
                annotations: preamble.annotations.clone(),
                location: self.session.location(name.place),
            });
            self.eat(Kind::Comma);
        }
        self.semicolon()
    }

    fn bitfield_inner(&mut self) -> Checked<(u8, Primitive)> {
        let start = self.peek().place;
        let bits = self.positive("the width of a field")?;
        let place = start.to(self.previous());
        let Some(bits) = u8::try_from(bits).ok().filter(|&bits| bits <= MOST_BITS) else {
            let message = format!("a field has at most {MOST_BITS} bits");
            return Err(self.error(place, message, "too wide"));
        };
        if !self.eat(Kind::Comma) {
            return Ok((bits, usual_type(bits)));
        }
        let start = self.peek().place;
        let ty = self.type_spec()?;
        let place = start.to(self.previous());
        let Some((ty, most)) = seen_as(self.spec.resolve(&ty)) else {
            let message = "a field is a boolean or an integer";
            return Err(self.error(place, message, "neither of them"));
        };
        if bits > most {
            let message = format!("`{}` has no {bits} bits", ty.idl_name());
            return Err(self.error(place, message, &format!("has {most}")));
        }
        Ok((bits, ty))
    }

    /// Reserves bits for a field of the bitset, and returns the position of the first.
    fn take_bits(&mut self, bitset: &mut Bitset, bits: u8, place: Place) -> Checked<u8> {
        let position = bitset.bits;
        if bits > MOST_BITS - position {
            let message = format!("a bitset has at most {MOST_BITS} bits");
            self.error(place, message, "no room for these");
            return Err(Reported);
        }
        bitset.bits = position + bits;
        Ok(position)
    }
}

/// Returns the default type of a bit field (§7.4.13.4.3.3).
fn usual_type(bits: u8) -> Primitive {
    match bits {
        1 => Primitive::Boolean,
        2..=8 => Primitive::Octet,
        9..=16 => Primitive::UShort,
        17..=32 => Primitive::ULong,
        _ => Primitive::ULongLong,
    }
}

/// Returns the type that a field may have, and its number of bits.
fn seen_as(ty: &Type) -> Option<(Primitive, u8)> {
    let Type::Primitive(primitive) = ty else {
        return None;
    };
    let bits = match primitive {
        Primitive::Boolean => 1,
        Primitive::Octet | Primitive::Int8 | Primitive::UInt8 => 8,
        Primitive::Short | Primitive::UShort => 16,
        Primitive::Long | Primitive::ULong => 32,
        Primitive::LongLong | Primitive::ULongLong => 64,
        _ => return None,
    };
    Some((*primitive, bits))
}

/// Returns the numeric argument of the annotation with the given name.
fn number(annotations: &[Annotation], name: &str) -> Option<i128> {
    match Annotation::find(annotations, name)?.constant("value")? {
        ConstValue::Integer(number) => Some(*number),
        _ => None,
    }
}
