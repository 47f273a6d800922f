//! Macro that generated code calls for a struct of plain data.

/// Implements [`PlainData`](crate::PlainData), [`Marshal`](crate::Marshal) and
/// [`Unmarshal`](crate::Unmarshal) for a `repr(C)` struct, all members of which are plain data and
/// are named in the order of their declaration.
///
/// The compiler proves that no member is left out, that each has the stated type, and the order of
/// the members in memory. Nothing that the caller writes is `unsafe`.
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Point {
///     x: i16,
///     y: f64,
/// }
/// punctual_cdr::plain_struct! { Point { x: i16, y: f64 } }
/// ```
///
/// A member of another kind is refused:
/// ```compile_fail
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Flag {
///     raised: bool,
/// }
/// punctual_cdr::plain_struct! { Flag { raised: bool } }
/// ```
///
/// So is a missing member:
/// ```compile_fail
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Point {
///     x: i16,
///     y: f64,
/// }
/// punctual_cdr::plain_struct! { Point { x: i16 } }
/// ```
///
/// And another order in memory than that of the declaration:
/// ```compile_fail
/// #[derive(Clone, Copy)]
/// struct Point {
///     x: u8,
///     y: f64,
///     z: u8,
/// }
/// punctual_cdr::plain_struct! { Point { x: u8, y: f64, z: u8 } }
/// ```
#[macro_export]
macro_rules! plain_struct {
    ($name:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        const _: () = {
            const PARTS: &[$crate::Part] = &[$($crate::Part {
                offset: ::core::mem::offset_of!($name, $field),
                layout: <$type as $crate::PlainData>::LAYOUT,
            }),+];
            const SIZE: usize = ::core::mem::size_of::<$name>();
            const _: () = $crate::prove_order(SIZE, PARTS);

            // SAFETY: `in_other_order` names each member with its type, or it would not compile;
            // all of those are plain data, and `Copy` means that dropping a value does nothing: any
            // bytes are a value. Bytes outside of members are zeroed as gaps, since `prove_order`
            // has found each member behind the one before; gaps inside of members are zeroed by
            // their own types.
            unsafe impl $crate::PlainData for $name {
                const LAYOUT: $crate::Layout = $crate::Layout::structure(SIZE, PARTS);

                #[inline]
                fn in_other_order(self) -> Self {
                    Self { $($field: <$type as $crate::PlainData>::in_other_order(self.$field)),+ }
                }

                #[inline]
                fn chars(&self) -> u8 {
                    0 $(| <$type as $crate::PlainData>::chars(&self.$field))+
                }

                #[inline]
                fn clear_padding(memory: &mut [::core::mem::MaybeUninit<u8>]) {
                    ::core::assert!(memory.len() == SIZE, "memory of one value");
                    let mut index = 0;
                    $({
                        let offset = ::core::mem::offset_of!(Self, $field);
                        let size = ::core::mem::size_of::<$type>();
                        <$type as $crate::PlainData>::clear_padding(
                            $crate::member(memory, offset, size),
                        );
                        let end = $crate::gap_end(SIZE, PARTS, index);
                        $crate::clear(memory, offset + size, end);
                        index += 1;
                    })+
                    let _ = index;
                }
            }

            impl $crate::Marshal for $name {
                #[inline]
                fn marshal(
                    &self,
                    out: &mut $crate::Encoder<'_>,
                ) -> ::core::result::Result<(), $crate::CdrError> {
                    $($crate::Marshal::marshal(&self.$field, out)?;)+
                    ::core::result::Result::Ok(())
                }

                #[inline]
                fn marshal_slice(
                    values: &[Self],
                    out: &mut $crate::Encoder<'_>,
                ) -> ::core::result::Result<(), $crate::CdrError> {
                    $crate::marshal_structs(values, out)
                }
            }

            impl $crate::Unmarshal for $name {
                const MIN_SIZE: usize = 0 $(+ <$type as $crate::Unmarshal>::MIN_SIZE)+;

                #[inline]
                fn unmarshal(
                    input: &mut $crate::Decoder<'_>,
                ) -> ::core::result::Result<Self, $crate::CdrError> {
                    ::core::result::Result::Ok(Self {
                        $($field: <$type as $crate::Unmarshal>::unmarshal(input)?),+
                    })
                }

                #[inline]
                fn unmarshal_vec(
                    input: &mut $crate::Decoder<'_>,
                    length: usize,
                ) -> ::core::result::Result<::std::vec::Vec<Self>, $crate::CdrError> {
                    let mut values = ::std::vec::Vec::new();
                    $crate::unmarshal_structs(input, length, &mut values)?;
                    ::core::result::Result::Ok(values)
                }

                #[inline]
                fn unmarshal_vec_into(
                    input: &mut $crate::Decoder<'_>,
                    length: usize,
                    values: &mut ::std::vec::Vec<Self>,
                ) -> ::core::result::Result<(), $crate::CdrError> {
                    $crate::unmarshal_structs(input, length, values)
                }

                #[inline]
                fn unmarshal_view<'d>(
                    input: &mut $crate::Decoder<'d>,
                    length: usize,
                ) -> ::core::result::Result<$crate::View<'d, Self>, $crate::CdrError> {
                    $crate::view_structs(input, length)
                }
            }
        };
    };
}
