// The client: calls with literal values, whose answers are compared with literal ones.
#include "cases.hh"
#include "cubit.hh"
#include "roles.hh"
#include "words.hh"
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstring>
#include <ctime>
#include <functional>
#include <iostream>
#include <limits>

using std::string;

namespace {

/** The twist of each operation: returned is `b`, and `a` comes back as `b` and as `c`. */
template <class T, class Call> void twist(T a, T b, Call call) {
    T inout = b, out = T();
    T result = call(a, inout, out);
    // By their octets: a NaN is not equal to itself, and -0 is equal to 0.
    hold(!std::memcmp(&result, &b, sizeof(T)), "the result is another");
    hold(!std::memcmp(&inout, &a, sizeof(T)), "the inout parameter is another");
    hold(!std::memcmp(&out, &a, sizeof(T)), "the out parameter is another");
}

#define TWIST(type, operation, ...)                                                         \
    test(#operation, [&] {                                                                  \
        const type pairs[][2] = __VA_ARGS__;                                                \
        for (auto& pair : pairs)                                                            \
            twist<type>(pair[0], pair[1], [&](type a, type& b, type& c) {                   \
                return object->operation(a, b, c);                                          \
            });                                                                             \
    })

void call_numbers(params::Parameters_ptr object) {
    typedef std::numeric_limits<CORBA::Float> F;
    typedef std::numeric_limits<CORBA::Double> D;
    TWIST(CORBA::Boolean, e_boolean, {{true, false}, {false, true}});
    TWIST(CORBA::Octet, e_octet, {{0, 255}, {128, 1}});
    TWIST(CORBA::Short, e_short, {{SHRT_MIN, SHRT_MAX}, {0, -1}});
    TWIST(CORBA::UShort, e_ushort, {{USHRT_MAX, 0}, {32768, 1}});
    TWIST(CORBA::Long, e_long, {{INT_MIN, INT_MAX}, {0, -1}});
    TWIST(CORBA::ULong, e_ulong, {{UINT_MAX, 0}, {2147483648U, 1}});
    TWIST(CORBA::LongLong, e_longlong, {{LLONG_MIN, LLONG_MAX}, {0, -1}});
    TWIST(CORBA::ULongLong, e_ulonglong, {{ULLONG_MAX, 0}, {1ULL << 63, 1}});
    TWIST(CORBA::Float, e_float,
          {{F::quiet_NaN(), -0.0F}, {F::infinity(), -F::infinity()},
           {F::denorm_min(), FLT_MAX}, {FLT_MIN, 0.0F}});
    TWIST(CORBA::Double, e_double,
          {{D::quiet_NaN(), -0.0}, {D::infinity(), -D::infinity()},
           {D::denorm_min(), DBL_MAX}, {DBL_MIN, 0.0}});
    TWIST(CORBA::Char, e_char, {{'x', '\0'}, {'\x7f', '~'}});
    TWIST(params::Colour, e_colour, {{params::blue, params::red}, {params::green, params::blue}});
}

void call_text(params::Parameters_ptr object) {
    test("e_string", [&] {
        CORBA::String_var b = CORBA::string_dup(""), c;
        same(object->e_string("gr\xfc\xdf" "e \xe9", b.inout(), c.out()), "");
        same(b.in(), string("gr\xfc\xdf" "e \xe9"));
        same(c.in(), string("gr\xfc\xdf" "e \xe9"));
        string longest(1 << 20, '\xe9');
        same(object->e_string("", b.inout(), c.out()), "gr\xfc\xdf" "e \xe9");
        b = CORBA::string_dup(longest.c_str());
        CORBA::String_var result = object->e_string("", b.inout(), c.out());
        hold(longest == result.in(), "1 MiB of text came back changed");
    });
    test("e_tag", [&] {
        CORBA::String_var b = CORBA::string_dup("12345678"), c;
        same(object->e_tag("", b.inout(), c.out()), "12345678");
        same(b.in(), string(""));
        b = CORBA::string_dup("");
        same(object->e_tag("\xe9" "23456", b.inout(), c.out()), "");
        same(c.in(), string("\xe9" "23456"));
    });
}

/** In UTF-8 it takes two octets, and a char is one. */
void call_beyond_ascii(params::Describe_ptr object, bool utf8) {
    test("char beyond ASCII", [&] {
        if (!utf8) return same(object->say_text('\xe9', "", ""), "e9  ");
        try {
            CORBA::String_var said = object->say_text('\xe9', "", "");
            throw Wrong{"a character of two octets has travelled"};
        } catch (const CORBA::DATA_CONVERSION&) {
        }
    });
}

// Beyond the Basic Multilingual Plane: U+1F980, in UTF-16, as omniORB's wide characters are.
const CORBA::WChar CRAB[] = {'a', 0x20ac, 0xd83e, 0xdd80, 0xdf, 0};
const CORBA::WChar FULL[] = {0x20ac, 0x20ac, 0x20ac, 0x20ac, 0x20ac, 0x20ac, 0x20ac, 0xffee, 0};
const CORBA::WChar NONE[] = {0};

void call_wide(params::Parameters_ptr object) {
    TWIST(CORBA::WChar, e_wchar, {{0x20ac, 'x'}, {0xe9, 0xffee}});
    test("e_wstring", [&] {
        CORBA::WString_var b = CORBA::wstring_dup(NONE), c;
        CORBA::WString_var result = object->e_wstring(CRAB, b.inout(), c.out());
        same(words(result.in()), words(NONE));
        same(words(b.in()), words(CRAB));
        same(words(c.in()), words(CRAB));
    });
    test("e_widetag", [&] {
        CORBA::WString_var b = CORBA::wstring_dup(NONE), c;
        CORBA::WString_var result = object->e_widetag(FULL, b.inout(), c.out());
        same(words(result.in()), words(NONE));
        same(words(b.in()), words(FULL));
        same(words(c.in()), words(FULL));
    });
}

void call_decimals(params::Parameters_ptr object) {
    test("e_huge", [&] {
        params::Huge a(CORBA::Fixed("9999999999999999999999999999999"));
        params::Huge b(CORBA::Fixed("-1")), c;
        CORBA::Fixed result(object->e_huge(a, b, c));
        same(words(result), "-1");
        same(words(CORBA::Fixed(b)), "9999999999999999999999999999999");
        same(words(CORBA::Fixed(c)), "9999999999999999999999999999999");
    });
    test("e_fraction", [&] {
        params::Fraction a(CORBA::Fixed("0.0001")), b(CORBA::Fixed("-0.9999")), c;
        CORBA::Fixed result(object->e_fraction(a, b, c));
        same(words(result), words(CORBA::Fixed("-0.9999")));
        same(words(CORBA::Fixed(c)), words(CORBA::Fixed("0.0001")));
    });
}

void describe_structures(params::Describe_ptr object) {
    test("say_numbers", [&] {
        params::Numbers v;
        v.b = true;
        v.o = 255;
        v.s = SHRT_MIN;
        v.us = USHRT_MAX;
        v.l = INT_MIN;
        v.ul = UINT_MAX;
        v.ll = LLONG_MIN;
        v.ull = ULLONG_MAX;
        v.f = -0.0F;
        v.d = std::numeric_limits<double>::infinity();
        same(object->say_numbers(v),
             "b=1 o=255 s=-32768 us=65535 l=-2147483648 ul=4294967295 ll=-9223372036854775808 "
             "ull=18446744073709551615 f=80000000 d=7ff0000000000000");
    });
    test("say_text", [&] {
        same(object->say_text('~', "gr\xfc\xdf", "12345678"),
             "7e 67,72,fc,df, 31,32,33,34,35,36,37,38,");
        same(object->say_text('\0', "", ""), "00  ");
    });
    test("say_decimals", [&] {
        same(object->say_decimals(params::Money(CORBA::Fixed("-1234567.89")),
                                  params::Huge(CORBA::Fixed("9999999999999999999999999999999")),
                                  params::Fraction(CORBA::Fixed("0.0001"))),
             "-1234567.89 9999999999999999999999999999999 0.0001");
    });
    test("say_shapes", [&] {
        params::Line l;
        l.origin.kind = 1;
        l.origin.x = 1.5;
        l.origin.mark = 'o';
        l.origin.y = -1;
        l.goal.kind = 255;
        l.goal.x = -0.0;
        l.goal.mark = '~';
        l.goal.y = SHRT_MAX;
        l.owner.name = "A";
        l.owner.label = "";
        l.owner.favourite = params::blue;
        params::Tree t;
        t.label = "r";
        t.branches.length(2);
        t.branches[0].label = "a";
        t.branches[1].label = "b";
        t.branches[1].branches.length(1);
        t.branches[1].branches[0].label = "";
        const params::Matrix m = {{1, 2}, {3, 4}, {5, -6}};
        params::Words w;
        w[0] = "x";
        w[1] = "";
        params::Rows r;
        r.length(3);
        r[0].length(2);
        r[0][0] = 1;
        r[0][1] = -2;
        r[2].length(1);
        r[2][0] = 3;
        same(object->say_shapes(l, t, m, w, r),
             "(1 3ff8000000000000 6f -1)(255 8000000000000000 7e 32767)(41,  blue) "
             "72,[61,[]62,[[]]] 1,2,3,4,5,-6, 78,| 1,-2,||3,|");
    });
}

/** A value of a union, made in one expression. */
template <class U> U made(const std::function<void(U&)>& set) {
    U value;
    set(value);
    return value;
}

#define UNION(type, statement) made<params::type>([&](params::type& u) { statement; })

void describe_unions(params::Describe_ptr object) {
    params::Point point;
    point.kind = 9;
    point.x = 2;
    point.mark = '!';
    point.y = 4;
    params::Longs longs(2);
    longs.length(2);
    longs[0] = 7;
    longs[1] = -8;
    const params::Matrix matrix = {{1, 2}, {3, 4}, {5, 6}};
    params::Person person;
    person.name = "N";
    person.label = "L";
    person.favourite = params::green;
    params::Colours colours;
    colours.length(2);
    colours[0] = params::red;
    colours[1] = params::blue;

    test("say_by_short", [&] {
        same(object->say_by_short(UNION(ByShort, u.minus(-5))), "-1:minus=-5");
        same(object->say_by_short(UNION(ByShort, u.few("x"); u._d(0))), "0:few=78,");
        same(object->say_by_short(UNION(ByShort, u.few("x"); u._d(1))), "1:few=78,");
        same(object->say_by_short(UNION(ByShort, u.many(point))),
             "100:many=(9 4000000000000000 21 4)");
        same(object->say_by_short(UNION(ByShort, u._default(); u._d(-2))), "-2:");
    });
    test("say_by_ushort", [&] {
        same(object->say_by_ushort(UNION(ByUShort, u.most(255))), "65535:most=255");
        same(object->say_by_ushort(UNION(ByUShort, u.other("o"); u._d(3))), "3:other=6f,");
    });
    test("say_by_long", [&] {
        same(object->say_by_long(UNION(ByLong, u.one(1.0))), "1:one=3ff0000000000000");
        same(object->say_by_long(UNION(ByLong, u.rest("t"); u._d(2))), "2:rest=74,");
        same(object->say_by_long(UNION(ByLong, u.rest("t"); u._d(-9))), "-9:rest=74,");
    });
    test("say_by_ulong", [&] {
        same(object->say_by_ulong(UNION(ByULong, u.large(matrix))),
             "4294967295:large=1,2,3,4,5,6,");
        same(object->say_by_ulong(UNION(ByULong, u.list(longs))), "0:list=7,-8,");
        same(object->say_by_ulong(UNION(ByULong, u._default(); u._d(5))), "5:");
    });
    test("say_by_longlong", [&] {
        same(object->say_by_longlong(UNION(ByLongLong, u.d(0.5))), "-5:d=3fe0000000000000");
        same(object->say_by_longlong(UNION(ByLongLong, u.f(0.5F))), "5:f=3f000000");
    });
    test("say_by_ulonglong", [&] {
        same(object->say_by_ulonglong(UNION(ByULongLong, u.b(true))), "18446744073709551615:b=1");
        same(object->say_by_ulonglong(UNION(ByULongLong, u.s(-1); u._d(6))), "6:s=-1");
    });
    test("say_by_boolean", [&] {
        same(object->say_by_boolean(UNION(ByBoolean, u.yes(3))), "1:yes=3");
        same(object->say_by_boolean(UNION(ByBoolean, u.no("n"))), "0:no=6e,");
    });
    test("say_by_half", [&] {
        same(object->say_by_half(UNION(ByHalf, u.yes(3))), "1:yes=3");
        same(object->say_by_half(UNION(ByHalf, u._default())), "0:");
    });
    test("say_by_char", [&] {
        same(object->say_by_char(UNION(ByChar, u.a(3))), "a:a=3");
        same(object->say_by_char(UNION(ByChar, u.b("s"); u._d('c'))), "c:b=73,");
        same(object->say_by_char(UNION(ByChar, u.rest(8); u._d('z'))), "z:rest=8");
    });
    test("say_by_colour", [&] {
        same(object->say_by_colour(UNION(ByColour, u.owner(person))), "red:owner=(4e, 4c, green)");
        same(object->say_by_colour(UNION(ByColour, u.others(colours); u._d(params::blue))),
             "blue:others=red,blue,");
    });
}

void raise(params::Describe_ptr object) {
    test("user exceptions", [&] {
        hold(object->fail(0) == 0, "0 is not 0");
        try {
            object->fail(1);
            throw Wrong{"Empty was not raised"};
        } catch (const params::Empty&) {
        }
        try {
            object->fail(2);
            throw Wrong{"Detailed was not raised"};
        } catch (const params::Detailed& detailed) {
            hold(detailed.code == -2, "another code");
            same(detailed.reason.in(), string("gr\xfc\xdf"));
            same(words(detailed.where), "(7 bfe0000000000000 6d -3)");
            hold(detailed.trail.length() == 2, "another trail");
            same(string(detailed.trail[0]) + string(detailed.trail[1]), "one");
        }
    });
    test("system exceptions", [&] {
        try {
            object->fail_system("NO_PERMISSION", 0x12345678, CORBA::COMPLETED_YES);
            throw Wrong{"NO_PERMISSION was not raised"};
        } catch (const CORBA::NO_PERMISSION& exception) {
            same(exception_words(exception), "NO_PERMISSION minor 0x12345678 completed YES");
        }
        try {
            object->fail_system("BAD_QOS", 0xffffffff, CORBA::COMPLETED_NO);
            throw Wrong{"BAD_QOS was not raised"};
        } catch (const CORBA::BAD_QOS& exception) {
            same(exception_words(exception), "BAD_QOS minor 0xffffffff completed NO");
        }
        try {
            object->fail_system("INTERNAL", 0, CORBA::COMPLETED_MAYBE);
            throw Wrong{"INTERNAL was not raised"};
        } catch (const CORBA::INTERNAL& exception) {
            same(exception_words(exception), "INTERNAL minor 0x0 completed MAYBE");
        }
    });
}

class Named_i : public POA_params::Named {
public:
    char* name() override { return CORBA::string_dup("called back"); }
    char* greet(const char*) override { return CORBA::string_dup(""); }
};

void refer(CORBA::ORB_ptr orb, params::Describe_ptr object) {
    test("references", [&] {
        CORBA::Object_var poa_object = orb->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(poa_object);
        PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        PortableServer::Servant_var<Named_i> servant = new Named_i;
        params::Named_var mine = servant->_this();
        same(object->name_of(mine), "called back");
        same(object->name_of(params::Named::_nil()), "nil");
        params::Describe_var again = object->myself();
        hold(again->_is_equivalent(object), "its own reference is not equivalent");
        same(object->name_of(again), "Punctual");
        CORBA::Object_var nothing = object->nothing();
        hold(CORBA::is_nil(nothing), "nil came back as something");
    });
    test("is_a, non_existent", [&] {
        hold(object->_is_a("IDL:params/Describe:1.0"), "it is no Describe");
        hold(object->_is_a("IDL:params/Named:1.0"), "it is no Named");
        hold(!object->_is_a("IDL:params/Parameters:1.0"), "it is a Parameters");
        hold(!object->_non_existent(), "it does not exist");
    });
    test("one-ways", [&] {
        CORBA::Long before = object->posted();
        for (CORBA::Long i = 1; i <= 100; ++i) object->post(i);
        // They travel on one connection, in order, with the call that asks for the sum.
        hold(object->posted() - before == 5050, "another sum");
    });
}

void large(const char* name, params::Describe_ptr object) {
    test(name, [&] {
        const CORBA::ULong length = 16 << 20;
        params::Octets v(length);
        v.length(length);
        for (CORBA::ULong i = 0; i < length; ++i) v[i] = CORBA::Octet(i ^ (i >> 8) ^ (i >> 16));
        params::Octets_var back = object->invert(v);
        hold(back->length() == length, "another length");
        for (CORBA::ULong i = 0; i < length; ++i)
            if (back[i] != CORBA::Octet(~v[i])) throw Wrong{"another octet at " + std::to_string(i)};
    });
}

void cube(bench::Cubit_ptr cubit) {
    test("cubit", [&] {
        cubit->cube_void();
        hold(cubit->cube_octet(3) == 27, "cube_octet");
        hold(cubit->cube_short(-5) == -125, "cube_short");
        hold(cubit->cube_long(-100) == -1000000, "cube_long");
        bench::Cube c;
        c.o = 2;
        c.l = -3;
        c.s = 4;
        c = cubit->cube_struct(c);
        hold(c.o == 8 && c.l == -27 && c.s == 64, "cube_struct");
        try {
            cubit->cube_long(INT_MAX);
            throw Wrong{"TooLarge was not raised"};
        } catch (const bench::TooLarge& e) {
            hold(e.value == INT_MAX, "another value in TooLarge");
        }
        bench::BinStructSeq bins(3);
        bins.length(3);
        for (CORBA::ULong i = 0; i < 3; ++i) {
            bins[i].s = CORBA::Short(-i);
            bins[i].c = 'c';
            bins[i].l = CORBA::Long(i << 16);
            bins[i].o = CORBA::Octet(i);
            bins[i].d = i / 7.0;
        }
        bench::BinStructSeq_var back = cubit->echo_bin_structs(bins);
        hold(back->length() == 3, "echo_bin_structs");
        for (CORBA::ULong i = 0; i < 3; ++i)
            hold(back[i].s == bins[i].s && back[i].c == bins[i].c && back[i].l == bins[i].l
                     && back[i].o == bins[i].o && back[i].d == bins[i].d,
                 "echo_bin_structs");
        bench::LongSeq longs(1000);
        longs.length(1000);
        for (CORBA::ULong i = 0; i < 1000; ++i) longs[i] = -CORBA::Long(i);
        bench::LongSeq_var same_longs = cubit->echo_longs(longs);
        hold(same_longs->length() == 1000 && same_longs[999] == -999, "echo_longs");
        hold(cubit->echo_64(0x0123456789abcdefULL) == 0x0123456789abcdefULL, "echo_64");
        CORBA::ULongLong before = cubit->pings();
        for (int i = 0; i < 10; ++i) cubit->ping();
        hold(cubit->pings() - before == 10, "pings");
    });
}

}  // namespace

int ask(CORBA::Object_ptr target) {
    params::Describe_var describe = params::Describe::_unchecked_narrow(target);
    try {
        CORBA::String_var name = describe->name();
        std::cout << "name " << name.in() << std::endl;
        return 0;
    } catch (const CORBA::SystemException& exception) {
        std::cout << "raised " << exception_words(exception) << std::endl;
        return 1;
    }
}

int call(CORBA::ORB_ptr orb, const Targets& targets) {
    params::Parameters_var parameters =
        params::Parameters::_unchecked_narrow(targets.parameters);
    params::Describe_var describe = params::Describe::_unchecked_narrow(targets.describe);
    params::Describe_var whole = params::Describe::_unchecked_narrow(targets.whole);
    params::Describe_var forwarder = params::Describe::_unchecked_narrow(targets.forwarder);
    params::Describe_var unknown = params::Describe::_unchecked_narrow(targets.unknown);
    bench::Cubit_var cubit = bench::Cubit::_unchecked_narrow(targets.cubit);

    // First, so that a LocateRequest opens the connection: this ORB sends one at first use.
    test("locate", [&] {
        same(describe->name(), "Punctual");
        try {
            CORBA::String_var name = unknown->name();
            throw Wrong{"an object that is no more has answered"};
        } catch (const CORBA::OBJECT_NOT_EXIST&) {
        }
    });
    test("forward", [&] {
        same(forwarder->name(), "Punctual");
        same(forwarder->greet("you"), "hello, you");
    });
    call_numbers(parameters);
    call_text(parameters);
    call_decimals(parameters);
    call_beyond_ascii(describe, targets.has_utf8);
    describe_structures(describe);
    describe_unions(describe);
    if (targets.has_wide) {
        call_wide(parameters);
        test("say_wide", [&] {
            same(describe->say_wide(0x20ac, CRAB, FULL),
                 "20ac, 61,20ac,1f980,df, "
                 "20ac,20ac,20ac,20ac,20ac,20ac,20ac,ffee,");
        });
    } else {
        test("wide text is refused", [&] {
            try {
                CORBA::String_var said = describe->say_wide(0x20ac, CRAB, FULL);
                throw Wrong{"wide text has travelled"};
            } catch (const CORBA::SystemException&) {
            }
        });
    }
    raise(describe);
    refer(orb, describe);
    cube(cubit);
    large("16 MiB", describe);
    large("16 MiB, one message", whole);
    return done() ? 0 : 1;
}
