// The client: calls with literal values, whose answers are compared with literal ones.

import bench.*;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.function.Consumer;
import org.omg.CORBA.*;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import params.*;

final class Client {
    private static final String CRAB = "a\u20ac\ud83e\udd80\u00df";
    private static final String FULL = "\u20ac".repeat(7) + "\uffee";

    private Client() {}

    static int call(ORB orb, String[] arguments) {
        Parameters parameters = ParametersHelper.unchecked_narrow(orb.string_to_object(arguments[0]));
        Describe describe = describe(orb, arguments[1]);
        Describe whole = describe(orb, arguments[2]);
        Describe forwarder = describe(orb, arguments[3]);
        Describe unknown = describe(orb, arguments[4]);
        Cubit cubit = CubitHelper.unchecked_narrow(orb.string_to_object(arguments[5]));
        boolean wide = arguments[6].equals("wide");
        boolean utf8 = arguments[7].equals("utf-8");

        Cases.test("locate", () -> {
            Cases.same(describe.name(), "Punctual");
            Cases.raises(OBJECT_NOT_EXIST.class, unknown::name);
        });
        Cases.test("forward", () -> {
            Cases.same(forwarder.name(), "Punctual");
            Cases.same(forwarder.greet("you"), "hello, you");
        });
        numbers(parameters);
        texts(parameters);
        decimals(parameters);
        beyondAscii(describe, utf8);
        structures(describe);
        unions(describe);
        if (wide) {
            wide(parameters, describe);
        } else {
            Cases.test("wide text is refused", () ->
                Cases.raises(SystemException.class, () -> describe.say_wide('\u20ac', CRAB, FULL)));
        }
        raise(describe);
        refer(orb, describe);
        cube(cubit);
        large("16 MiB", describe);
        large("16 MiB, one message", whole);
        return Cases.done();
    }

    /** What an object says that it is called, and nothing more. */
    static int ask(ORB orb, String reference) {
        System.out.println("name " + describe(orb, reference).name());
        return 0;
    }

    private static Describe describe(ORB orb, String reference) {
        return DescribeHelper.unchecked_narrow(orb.string_to_object(reference));
    }

    /** A twist in Java's types: returned is `b`, and `a` comes back as `b` and as `c`. */
    interface Twist<T> {
        T[] call(T a, T b) throws Exception;
    }

    @SafeVarargs
    private static <T> void twist(String name, Twist<T> call, T... pairs) {
        Cases.test(name, () -> {
            for (int i = 0; i < pairs.length; i += 2) {
                T a = pairs[i];
                T b = pairs[i + 1];
                T[] back = call.call(a, b);
                // Boxed: a NaN is equal to itself, and -0 is not equal to 0.
                Cases.same(back[0], b);
                Cases.same(back[1], a);
                Cases.same(back[2], a);
            }
        });
    }

    private static void numbers(Parameters object) {
        twist("e_boolean", (a, b) -> {
            BooleanHolder inout = new BooleanHolder(b), out = new BooleanHolder();
            return new Boolean[] {object.e_boolean(a, inout, out), inout.value, out.value};
        }, true, false, false, true);
        twist("e_octet", (a, b) -> {
            ByteHolder inout = new ByteHolder(b), out = new ByteHolder();
            return new Byte[] {object.e_octet(a, inout, out), inout.value, out.value};
        }, (byte) 0, (byte) 255, (byte) 128, (byte) 1);
        twist("e_short", (a, b) -> {
            ShortHolder inout = new ShortHolder(b), out = new ShortHolder();
            return new Short[] {object.e_short(a, inout, out), inout.value, out.value};
        }, Short.MIN_VALUE, Short.MAX_VALUE, (short) 0, (short) -1);
        twist("e_ushort", (a, b) -> {
            ShortHolder inout = new ShortHolder(b), out = new ShortHolder();
            return new Short[] {object.e_ushort(a, inout, out), inout.value, out.value};
        }, (short) 65535, (short) 0, (short) 32768, (short) 1);
        twist("e_long", (a, b) -> {
            IntHolder inout = new IntHolder(b), out = new IntHolder();
            return new Integer[] {object.e_long(a, inout, out), inout.value, out.value};
        }, Integer.MIN_VALUE, Integer.MAX_VALUE, 0, -1);
        twist("e_ulong", (a, b) -> {
            IntHolder inout = new IntHolder(b), out = new IntHolder();
            return new Integer[] {object.e_ulong(a, inout, out), inout.value, out.value};
        }, 0xffffffff, 0, 0x80000000, 1);
        twist("e_longlong", (a, b) -> {
            LongHolder inout = new LongHolder(b), out = new LongHolder();
            return new Long[] {object.e_longlong(a, inout, out), inout.value, out.value};
        }, Long.MIN_VALUE, Long.MAX_VALUE, 0L, -1L);
        twist("e_ulonglong", (a, b) -> {
            LongHolder inout = new LongHolder(b), out = new LongHolder();
            return new Long[] {object.e_ulonglong(a, inout, out), inout.value, out.value};
        }, -1L, 0L, Long.MIN_VALUE, 1L);
        twist("e_float", (a, b) -> {
            FloatHolder inout = new FloatHolder(b), out = new FloatHolder();
            return new Float[] {object.e_float(a, inout, out), inout.value, out.value};
        }, Float.NaN, -0.0F, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
            Float.MIN_VALUE, Float.MAX_VALUE, Float.MIN_NORMAL, 0.0F);
        twist("e_double", (a, b) -> {
            DoubleHolder inout = new DoubleHolder(b), out = new DoubleHolder();
            return new Double[] {object.e_double(a, inout, out), inout.value, out.value};
        }, Double.NaN, -0.0, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY,
            Double.MIN_VALUE, Double.MAX_VALUE, Double.MIN_NORMAL, 0.0);
        twist("e_char", (a, b) -> {
            CharHolder inout = new CharHolder(b), out = new CharHolder();
            return new Character[] {object.e_char(a, inout, out), inout.value, out.value};
        }, 'x', '\0', '\u007f', '~');
        twist("e_colour", (a, b) -> {
            ColourHolder inout = new ColourHolder(b), out = new ColourHolder();
            return new Colour[] {object.e_colour(a, inout, out), inout.value, out.value};
        }, Colour.blue, Colour.red, Colour.green, Colour.blue);
    }

    private static void texts(Parameters object) {
        twist("e_string", (a, b) -> {
            StringHolder inout = new StringHolder(b), out = new StringHolder();
            return new String[] {object.e_string(a, inout, out), inout.value, out.value};
        }, "gr\u00fc\u00dfe \u00e9", "", "", "\u00e9".repeat(1 << 20));
        twist("e_tag", (a, b) -> {
            StringHolder inout = new StringHolder(b), out = new StringHolder();
            return new String[] {object.e_tag(a, inout, out), inout.value, out.value};
        }, "", "12345678", "\u00e923456", "");
    }

    private static void wide(Parameters parameters, Describe describe) {
        twist("e_wchar", (a, b) -> {
            CharHolder inout = new CharHolder(b), out = new CharHolder();
            return new Character[] {parameters.e_wchar(a, inout, out), inout.value, out.value};
        }, '\u20ac', 'x', '\u00e9', '\uffee');
        twist("e_wstring", (a, b) -> {
            StringHolder inout = new StringHolder(b), out = new StringHolder();
            return new String[] {parameters.e_wstring(a, inout, out), inout.value, out.value};
        }, CRAB, "", "", CRAB);
        twist("e_widetag", (a, b) -> {
            StringHolder inout = new StringHolder(b), out = new StringHolder();
            return new String[] {parameters.e_widetag(a, inout, out), inout.value, out.value};
        }, FULL, "", "", FULL);
        Cases.test("say_wide", () -> Cases.same(describe.say_wide('\u20ac', CRAB, FULL),
            "20ac, 61,20ac,1f980,df, 20ac,20ac,20ac,20ac,20ac,20ac,20ac,ffee,"));
    }

    /** Of as many digits as their types: this ORB writes as many as the value has. */
    private static void decimals(Parameters object) {
        BigDecimal huge = new BigDecimal("9".repeat(31));
        twist("e_huge", (a, b) -> {
            HugeHolder inout = new HugeHolder(b), out = new HugeHolder();
            return new BigDecimal[] {object.e_huge(a, inout, out), inout.value, out.value};
        }, huge, huge.negate());
        twist("e_fraction", (a, b) -> {
            FractionHolder inout = new FractionHolder(b), out = new FractionHolder();
            return new BigDecimal[] {object.e_fraction(a, inout, out), inout.value, out.value};
        }, new BigDecimal("0.1234"), new BigDecimal("-0.9999"));
    }

    /** In UTF-8 it takes two octets, and a char is one. */
    private static void beyondAscii(Describe object, boolean utf8) {
        Cases.test("char beyond ASCII", () -> {
            if (utf8) {
                Cases.raises(DATA_CONVERSION.class, () -> object.say_text('\u00e9', "", ""));
            } else {
                Cases.same(object.say_text('\u00e9', "", ""), "e9  ");
            }
        });
    }

    private static void structures(Describe object) {
        Cases.test("say_numbers", () -> Cases.same(
            object.say_numbers(new Numbers(true, (byte) 255, Short.MIN_VALUE, (short) 65535,
                Integer.MIN_VALUE, 0xffffffff, Long.MIN_VALUE, -1L, -0.0F, Double.POSITIVE_INFINITY)),
            "b=1 o=255 s=-32768 us=65535 l=-2147483648 ul=4294967295 ll=-9223372036854775808 "
                + "ull=18446744073709551615 f=80000000 d=7ff0000000000000"));
        Cases.test("say_text", () -> {
            Cases.same(object.say_text('~', "gr\u00fc\u00df", "12345678"),
                "7e 67,72,fc,df, 31,32,33,34,35,36,37,38,");
            Cases.same(object.say_text('\0', "", ""), "00  ");
        });
        Cases.test("say_decimals", () -> Cases.same(
            object.say_decimals(new BigDecimal("-1234567.89"),
                new BigDecimal(BigInteger.TEN.pow(31).subtract(BigInteger.ONE)), new BigDecimal("0.1234")),
            "-1234567.89 9999999999999999999999999999999 0.1234"));
        Cases.test("say_shapes", () -> {
            Line line = new Line(new Point((byte) 1, 1.5, 'o', (short) -1),
                new Point((byte) 255, -0.0, '~', Short.MAX_VALUE), new Person("A", "", Colour.blue));
            Tree second = new Tree("b", new Tree[] {new Tree("", new Tree[0])});
            Tree tree = new Tree("r", new Tree[] {new Tree("a", new Tree[0]), second});
            Cases.same(
                object.say_shapes(line, tree, new int[][] {{1, 2}, {3, 4}, {5, -6}},
                    new String[] {"x", ""}, new int[][] {{1, -2}, {}, {3}}),
                "(1 3ff8000000000000 6f -1)(255 8000000000000000 7e 32767)(41,  blue) "
                    + "72,[61,[]62,[[]]] 1,2,3,4,5,-6, 78,| 1,-2,||3,|");
        });
    }

    private static <U> U made(U value, Consumer<U> set) {
        set.accept(value);
        return value;
    }

    /** A default member has the discriminator that this ORB gives it: it takes no other. */
    private static void unions(Describe object) {
        Cases.test("say_by_short", () -> {
            Point point = new Point((byte) 9, 2, '!', (short) 4);
            Cases.same(object.say_by_short(made(new ByShort(), u -> u.minus(-5))), "-1:minus=-5");
            for (short which = 0; which < 2; ++which) {
                ByShort few = new ByShort();
                few.few(which, "x");
                Cases.same(object.say_by_short(few), which + ":few=78,");
            }
            Cases.same(object.say_by_short(made(new ByShort(), u -> u.many(point))),
                "100:many=(9 4000000000000000 21 4)");
            Cases.same(object.say_by_short(made(new ByShort(), u -> u.__default((short) -2))), "-2:");
        });
        Cases.test("say_by_ushort", () -> {
            Cases.same(object.say_by_ushort(made(new ByUShort(), u -> u.most((byte) 255))), "65535:most=255");
            Cases.same(object.say_by_ushort(made(new ByUShort(), u -> u.other("o"))), "0:other=6f,");
        });
        Cases.test("say_by_long", () -> {
            Cases.same(object.say_by_long(made(new ByLong(), u -> u.one(1.0))), "1:one=3ff0000000000000");
            Cases.same(object.say_by_long(made(new ByLong(), u -> u.rest(2, "t"))), "2:rest=74,");
            Cases.same(object.say_by_long(made(new ByLong(), u -> u.rest("t"))), "0:rest=74,");
        });
        Cases.test("say_by_ulong", () -> {
            int[][] matrix = {{1, 2}, {3, 4}, {5, 6}};
            Cases.same(object.say_by_ulong(made(new ByULong(), u -> u.large(matrix))),
                "4294967295:large=1,2,3,4,5,6,");
            Cases.same(object.say_by_ulong(made(new ByULong(), u -> u.list(new int[] {7, -8}))),
                "0:list=7,-8,");
            Cases.same(object.say_by_ulong(made(new ByULong(), u -> u.__default(5))), "5:");
        });
        Cases.test("say_by_longlong", () -> {
            Cases.same(object.say_by_longlong(made(new ByLongLong(), u -> u.d(0.5))), "-5:d=3fe0000000000000");
            Cases.same(object.say_by_longlong(made(new ByLongLong(), u -> u.f(0.5F))), "5:f=3f000000");
        });
        Cases.test("say_by_ulonglong", () -> {
            Cases.same(object.say_by_ulonglong(made(new ByULongLong(), u -> u.b(true))),
                "18446744073709551615:b=1");
            Cases.same(object.say_by_ulonglong(made(new ByULongLong(), u -> u.s((short) -1))), "0:s=-1");
        });
        Cases.test("say_by_boolean", () -> {
            Cases.same(object.say_by_boolean(made(new ByBoolean(), u -> u.yes(3))), "1:yes=3");
            Cases.same(object.say_by_boolean(made(new ByBoolean(), u -> u.no("n"))), "0:no=6e,");
        });
        Cases.test("say_by_half", () -> {
            Cases.same(object.say_by_half(made(new ByHalf(), u -> u.yes(3))), "1:yes=3");
            Cases.same(object.say_by_half(made(new ByHalf(), ByHalf::__default)), "0:");
        });
        Cases.test("say_by_char", () -> {
            Cases.same(object.say_by_char(made(new ByChar(), u -> u.a(3))), "a:a=3");
            Cases.same(object.say_by_char(made(new ByChar(), u -> u.b('c', "s"))), "c:b=73,");
        });
        Cases.test("say_by_colour", () -> {
            Person owner = new Person("N", "L", Colour.green);
            Colour[] colours = {Colour.red, Colour.blue};
            Cases.same(object.say_by_colour(made(new ByColour(), u -> u.owner(owner))),
                "red:owner=(4e, 4c, green)");
            Cases.same(object.say_by_colour(made(new ByColour(), u -> u.others(Colour.blue, colours))),
                "blue:others=red,blue,");
        });
    }

    private static void raise(Describe object) {
        Cases.test("user exceptions", () -> {
            Cases.same(object.fail(0), 0);
            Cases.raises(Empty.class, () -> object.fail(1));
            Detailed detailed = Cases.raises(Detailed.class, () -> object.fail(2));
            Cases.same(detailed.code, -2);
            Cases.same(detailed.reason, "gr\u00fc\u00df");
            Cases.same(Words.say(detailed.where), "(7 bfe0000000000000 6d -3)");
            Cases.same(String.join("|", detailed.trail), "one|");
        });
        Cases.test("system exceptions", () -> {
            Cases.same(ordered(object, "NO_PERMISSION", 0x12345678, 0),
                "NO_PERMISSION minor 0x12345678 completed YES");
            Cases.same(ordered(object, "BAD_QOS", -1, 1), "BAD_QOS minor 0xffffffff completed NO");
            Cases.same(ordered(object, "INTERNAL", 0, 2), "INTERNAL minor 0x0 completed MAYBE");
        });
    }

    private static String ordered(Describe object, String kind, int minor, int completed) {
        return Words.say(Cases.raises(SystemException.class, () -> object.fail_system(kind, minor, completed)));
    }

    private static final class Mine extends NamedPOA {
        @Override public String name() { return "called back"; }
        @Override public String greet(String who) { return ""; }
    }

    private static void refer(ORB orb, Describe object) {
        Cases.test("references", () -> {
            POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
            poa.the_POAManager().activate();
            Named mine = NamedHelper.narrow(poa.servant_to_reference(new Mine()));
            Cases.same(object.name_of(mine), "called back");
            Cases.same(object.name_of(null), "nil");
            Describe again = object.myself();
            Cases.hold(again._is_equivalent(object), "its own reference is not equivalent");
            Cases.same(object.name_of(again), "Punctual");
            Cases.hold(object.nothing() == null, "nil came back as something");
        });
        Cases.test("is_a, non_existent", () -> {
            Cases.hold(object._is_a("IDL:params/Describe:1.0"), "it is no Describe");
            Cases.hold(object._is_a("IDL:params/Named:1.0"), "it is no Named");
            Cases.hold(!object._is_a("IDL:params/Parameters:1.0"), "it is a Parameters");
            Cases.hold(!object._non_existent(), "it does not exist");
        });
        Cases.test("one-ways", () -> {
            int before = object.posted();
            for (int i = 1; i <= 100; ++i) object.post(i);
            // They travel on one connection, in order, with the call that asks for the sum.
            Cases.same(object.posted() - before, 5050);
        });
    }

    private static void large(String name, Describe object) {
        Cases.test(name, () -> {
            byte[] octets = new byte[16 << 20];
            for (int i = 0; i < octets.length; ++i) octets[i] = (byte) (i ^ (i >> 8) ^ (i >> 16));
            byte[] back = object.invert(octets);
            Cases.same(back.length, octets.length);
            for (int i = 0; i < octets.length; ++i) {
                if (back[i] != (byte) ~octets[i]) throw new AssertionError("another octet at " + i);
            }
        });
    }

    private static void cube(Cubit cubit) {
        Cases.test("cubit", () -> {
            cubit.cube_void();
            Cases.same(cubit.cube_octet((byte) 3), (byte) 27);
            Cases.same(cubit.cube_short((short) -5), (short) -125);
            Cases.same(cubit.cube_long(-100), -1000000);
            Cube cube = cubit.cube_struct(new Cube((byte) 2, -3, (short) 4));
            Cases.hold(cube.o == 8 && cube.l == -27 && cube.s == 64, "cube_struct");
            TooLarge tooLarge = Cases.raises(TooLarge.class, () -> cubit.cube_long(Integer.MAX_VALUE));
            Cases.same(tooLarge.value, Integer.MAX_VALUE);
            BinStruct[] bins = new BinStruct[3];
            for (int i = 0; i < 3; ++i) bins[i] = new BinStruct((short) -i, 'c', i << 16, (byte) i, i / 7.0);
            BinStruct[] back = cubit.echo_bin_structs(bins);
            Cases.same(back.length, 3);
            for (int i = 0; i < 3; ++i) {
                Cases.hold(back[i].s == bins[i].s && back[i].c == bins[i].c && back[i].l == bins[i].l
                    && back[i].o == bins[i].o && back[i].d == bins[i].d, "echo_bin_structs");
            }
            int[] longs = new int[1000];
            for (int i = 0; i < longs.length; ++i) longs[i] = -i;
            Cases.hold(java.util.Arrays.equals(cubit.echo_longs(longs), longs), "echo_longs");
            Cases.same(cubit.echo_64(0x0123456789abcdefL), 0x0123456789abcdefL);
            long before = cubit.pings();
            for (int i = 0; i < 10; ++i) cubit.ping();
            Cases.same(cubit.pings() - before, 10L);
        });
    }
}
