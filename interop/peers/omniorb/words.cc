// Values in words. Text is given as hexadecimal code points, floating point as bits.
#include "words.hh"
#include <cstdio>
#include <cstring>
#include <sstream>

using std::string;

namespace {

string hex(unsigned long long value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*llx", digits, value);
    return text;
}

template <class T> string number(T value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

string colour(params::Colour c) {
    switch (c) {
    case params::red: return "red";
    case params::green: return "green";
    case params::blue: return "blue";
    default: return "?";
    }
}

template <class D> string member(D discriminator, const char* name, const string& value) {
    return number(discriminator) + ":" + name + "=" + value;
}

}  // namespace

string bits(CORBA::Float v) {
    CORBA::ULong raw;
    std::memcpy(&raw, &v, sizeof raw);
    return hex(raw, 8);
}

string bits(CORBA::Double v) {
    CORBA::ULongLong raw;
    std::memcpy(&raw, &v, sizeof raw);
    return hex(raw, 16);
}

string words(const params::Numbers& v) {
    std::ostringstream out;
    out << "b=" << int(v.b) << " o=" << int(v.o) << " s=" << v.s << " us=" << v.us << " l=" << v.l
        << " ul=" << v.ul << " ll=" << v.ll << " ull=" << v.ull << " f=" << bits(v.f)
        << " d=" << bits(v.d);
    return out.str();
}

string words(char c) { return hex(static_cast<unsigned char>(c), 2); }

string words(const char* text) {
    string out;
    for (; *text; ++text) out += words(*text) + ",";
    return out;
}

string words(const CORBA::WChar* text) {
    string out;
    for (; *text; ++text) {
        unsigned long point = static_cast<unsigned long>(*text);
        unsigned long low = static_cast<unsigned long>(text[1]);
        // Pairs of surrogates, where wide characters are UTF-16, are one character.
        if (point >= 0xd800 && point < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
            ++text;
        }
        out += hex(point, 2) + ",";
    }
    return out;
}

string words(const params::Point& v) {
    return "(" + number(int(v.kind)) + " " + bits(v.x) + " " + words(char(v.mark)) + " "
        + number(v.y) + ")";
}

string words(const params::Person& v) {
    return "(" + words(v.name.in()) + " " + words(v.label.in()) + " " + colour(v.favourite) + ")";
}

string words(const params::Line& v) {
    return words(v.origin) + words(v.goal) + words(v.owner);
}

string words(const params::Tree& v) {
    string out = words(v.label.in()) + "[";
    for (CORBA::ULong i = 0; i < v.branches.length(); ++i) out += words(v.branches[i]);
    return out + "]";
}

string words(const params::Longs& v) {
    string out;
    for (CORBA::ULong i = 0; i < v.length(); ++i) out += number(v[i]) + ",";
    return out;
}

string words(const CORBA::Fixed& v) {
    CORBA::String_var text = v.NP_asString();
    return text.in();
}

string words(const params::ByShort& v) {
    switch (v._d()) {
    case -1: return member(v._d(), "minus", number(v.minus()));
    case 0: case 1: return member(v._d(), "few", words(v.few()));
    case 100: return member(v._d(), "many", words(v.many()));
    default: return number(v._d()) + ":";
    }
}

string words(const params::ByUShort& v) {
    if (v._d() == 65535) return member(v._d(), "most", number(int(v.most())));
    return member(v._d(), "other", words(v.other()));
}

string words(const params::ByLong& v) {
    if (v._d() == 1) return member(v._d(), "one", bits(v.one()));
    return member(v._d(), "rest", words(v.rest()));
}

string words(const params::ByULong& v) {
    if (v._d() == 0) return member(v._d(), "list", words(v.list()));
    if (v._d() != 4294967295U) return number(v._d()) + ":";
    string numbers;
    const params::Matrix_slice* matrix = v.large();
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 2; ++j) numbers += number(matrix[i][j]) + ",";
    return member(v._d(), "large", numbers);
}

string words(const params::ByLongLong& v) {
    if (v._d() == -5) return member(v._d(), "d", bits(v.d()));
    if (v._d() == 5) return member(v._d(), "f", bits(v.f()));
    return number(v._d()) + ":";
}

string words(const params::ByULongLong& v) {
    if (v._d() == 18446744073709551615ULL) return member(v._d(), "b", number(int(v.b())));
    return member(v._d(), "s", number(v.s()));
}

string words(const params::ByBoolean& v) {
    if (v._d()) return member(1, "yes", number(v.yes()));
    return member(0, "no", words(v.no()));
}

string words(const params::ByHalf& v) {
    return v._d() ? member(1, "yes", number(v.yes())) : string("0:");
}

string words(const params::ByChar& v) {
    switch (v._d()) {
    case 'a': return member(v._d(), "a", number(v.a()));
    case 'b': case 'c': return member(v._d(), "b", words(v.b()));
    default: return member(v._d(), "rest", number(int(v.rest())));
    }
}

string words(const params::ByColour& v) {
    if (v._d() == params::red) return colour(v._d()) + ":owner=" + words(v.owner());
    string all;
    for (CORBA::ULong i = 0; i < v.others().length(); ++i) all += colour(v.others()[i]) + ",";
    return colour(v._d()) + ":others=" + all;
}

void raise_system(const char* kind, CORBA::ULong minor, CORBA::ULong completed) {
    CORBA::CompletionStatus status = static_cast<CORBA::CompletionStatus>(completed);
#define RAISE(name) \
    if (!std::strcmp(kind, #name)) throw CORBA::name(minor, status);
    OMNIORB_FOR_EACH_SYS_EXCEPTION(RAISE)
#undef RAISE
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO);
}
