//! Traits implemented by the Rust type of every IDL type, and their implementations for composed
//! types.

use crate::decoder::Decoder;
use crate::each::{unmarshal_array_with, vec_with};
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::view::View;

/// Type whose values can be encoded in CDR.
pub trait Marshal {
    /// Writes the value.
    ///
    /// # Errors
    /// A violation of the value's type, the code sets or the limits.
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError>;

    /// Writes the elements of an array or sequence, without a length. Primitive types do it in
    /// bulk.
    ///
    /// # Errors
    /// Those of [`Marshal::marshal`].
    #[inline]
    fn marshal_slice(values: &[Self], out: &mut Encoder<'_>) -> Result<(), CdrError>
    where
        Self: Sized,
    {
        values.iter().try_for_each(|value| value.marshal(out))
    }
}

/// Type whose values can be decoded from CDR.
pub trait Unmarshal: Sized {
    /// Least number of bytes that a value takes, padding not counted. A sequence is refused when it
    /// announces more elements than could be there.
    const MIN_SIZE: usize;

    /// Reads a value.
    ///
    /// # Errors
    /// A [`CdrError`] for malformed input.
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError>;

    /// Reads `length` elements. Memory is allocated in proportion to the bytes that are left,
    /// whatever `length` says.
    ///
    /// # Errors
    /// Those of [`Unmarshal::unmarshal`].
    #[inline]
    fn unmarshal_vec(input: &mut Decoder<'_>, length: usize) -> Result<Vec<Self>, CdrError> {
        vec_with(input, length, |input| Self::unmarshal(input))
    }

    /// Reads the elements of an array.
    ///
    /// # Errors
    /// Those of [`Unmarshal::unmarshal`].
    #[inline]
    fn unmarshal_array<const N: usize>(input: &mut Decoder<'_>) -> Result<[Self; N], CdrError> {
        unmarshal_array_with(input, |input| Self::unmarshal(input))
    }

    /// Reads a value into memory of its own; large arrays never touch the stack.
    ///
    /// # Errors
    /// Those of [`Unmarshal::unmarshal`].
    #[inline]
    fn unmarshal_boxed(input: &mut Decoder<'_>) -> Result<Box<Self>, CdrError> {
        Self::unmarshal(input).map(Box::new)
    }

    /// Reads a value in place of this one, whose memory is reused where it has any.
    ///
    /// # Errors
    /// Those of [`Unmarshal::unmarshal`]; the value is then unspecified.
    #[inline]
    fn unmarshal_into(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        *self = Self::unmarshal(input)?;
        Ok(())
    }

    /// Reads `length` elements in place of those in `values`, whose memory is reused.
    ///
    /// # Errors
    /// Those of [`Unmarshal::unmarshal`]; the contents of `values` are then unspecified.
    #[inline]
    fn unmarshal_vec_into(
        input: &mut Decoder<'_>,
        length: usize,
        values: &mut Vec<Self>,
    ) -> Result<(), CdrError> {
        values.truncate(length);
        for value in values.iter_mut() {
            value.unmarshal_into(input)?;
        }
        let justified = input.remaining() / size_of::<Self>().max(1);
        values.reserve((length - values.len()).min(justified));
        while values.len() < length {
            values.push(Self::unmarshal(input)?);
        }
        Ok(())
    }

    /// Reads `length` elements as a view of the input where their layout, order and alignment
    /// allow it, from memory of the thread where they are plain data, and as a vector otherwise.
    ///
    /// # Errors
    /// Those of [`Unmarshal::unmarshal`].
    #[inline]
    fn unmarshal_view<'d>(
        input: &mut Decoder<'d>,
        length: usize,
    ) -> Result<View<'d, Self>, CdrError> {
        Self::unmarshal_vec(input, length).map(View::from)
    }
}

/// Type that has a nil value on the wire: object references and value types. It makes
/// `Option<Self>` a type that can be written and read, for the crate that owns `Self`.
pub trait Nilable: Sized {
    /// Writes a value or nil.
    ///
    /// # Errors
    /// Those of [`Marshal::marshal`].
    fn marshal_nilable(this: Option<&Self>, out: &mut Encoder<'_>) -> Result<(), CdrError>;

    /// Reads a value or nil.
    ///
    /// # Errors
    /// Those of [`Unmarshal::unmarshal`].
    fn unmarshal_nilable(input: &mut Decoder<'_>) -> Result<Option<Self>, CdrError>;
}

impl<T: Nilable> Marshal for Option<T> {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        T::marshal_nilable(self.as_ref(), out)
    }
}

impl<T: Nilable> Unmarshal for Option<T> {
    // The null value type is one `long`.
    const MIN_SIZE: usize = 4;

    #[inline]
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        T::unmarshal_nilable(input)
    }
}

impl<T: Marshal + ?Sized> Marshal for &T {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        (**self).marshal(out)
    }
}

impl<T: Marshal + ?Sized> Marshal for Box<T> {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        (**self).marshal(out)
    }
}

impl<T: Unmarshal> Unmarshal for Box<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    #[inline]
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        T::unmarshal_boxed(input)
    }

    #[inline]
    fn unmarshal_into(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        (**self).unmarshal_into(input)
    }
}

/// Writes a sequence as its length, followed by its elements.
impl<T: Marshal> Marshal for [T] {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_length(self.len())?;
        T::marshal_slice(self, out)
    }
}

/// Writes a sequence as its length, followed by its elements.
impl<T: Marshal> Marshal for Vec<T> {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.as_slice().marshal(out)
    }
}

/// Reads a sequence as its length, followed by its elements.
impl<T: Unmarshal> Unmarshal for Vec<T> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let length = input.get_length(T::MIN_SIZE)?;
        T::unmarshal_vec(input, length)
    }

    #[inline]
    fn unmarshal_into(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        let length = input.get_length(T::MIN_SIZE)?;
        T::unmarshal_vec_into(input, length, self)
    }
}

/// Writes an array as its elements, without a length.
impl<T: Marshal, const N: usize> Marshal for [T; N] {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        T::marshal_slice(self, out)
    }

    #[inline]
    fn marshal_slice(values: &[Self], out: &mut Encoder<'_>) -> Result<(), CdrError> {
        T::marshal_slice(values.as_flattened(), out)
    }
}

/// Reads an array as its elements, without a length.
impl<T: Unmarshal, const N: usize> Unmarshal for [T; N] {
    const MIN_SIZE: usize = T::MIN_SIZE * N;

    #[inline]
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        T::unmarshal_array(input)
    }

    fn unmarshal_boxed(input: &mut Decoder<'_>) -> Result<Box<Self>, CdrError> {
        let values = T::unmarshal_vec(input, N)?.into_boxed_slice();
        values
            .try_into()
            .map_err(|_| CdrError::Invalid("wrong array length"))
    }
}
