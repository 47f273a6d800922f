// The server: a relay of `params::Parameters`, objects of its own, and a locator that forwards.
#include "cubit.hh"
#include "relay.hh"
#include "roles.hh"
#include "words.hh"
#include <cstring>
#include <iostream>
#include <limits>

using std::string;

namespace {

char* copy(const string& text) { return CORBA::string_dup(text.c_str()); }

/** Natively implemented, so that this ORB's reading of the wire shows. */
class Describe_i : public POA_params::Describe {
public:
    char* name() override { return CORBA::string_dup("omniORB"); }
    char* greet(const char* who) override {
        if (!*who) throw params::Refused("nobody");
        return copy(string("hello, ") + who);
    }
    char* say_numbers(const params::Numbers& v) override { return copy(words(v)); }
    char* say_longdouble(CORBA::LongDouble v) override {
        char text[64];
        std::snprintf(text, sizeof text, "%.17Lg", v);
        return CORBA::string_dup(text);
    }
    char* say_text(CORBA::Char c, const char* s, const char* t) override {
        return copy(words(char(c)) + " " + words(s) + " " + words(t));
    }
    char* say_wide(CORBA::WChar c, const CORBA::WChar* s, const CORBA::WChar* t) override {
        const CORBA::WChar one[] = {c, 0};
        return copy(words(one) + " " + words(s) + " " + words(t));
    }
    char* say_decimals(const params::Money& a, const params::Huge& b,
                       const params::Fraction& c) override {
        return copy(words(CORBA::Fixed(a)) + " " + words(CORBA::Fixed(b)) + " "
                    + words(CORBA::Fixed(c)));
    }
    char* say_shapes(const params::Line& l, const params::Tree& t, const params::Matrix m,
                     const params::Words w, const params::Rows& r) override {
        string out = words(l) + " " + words(t) + " ";
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 2; ++j) out += std::to_string(m[i][j]) + ",";
        out += " " + words(w[0].in()) + "|" + words(w[1].in()) + " ";
        for (CORBA::ULong i = 0; i < r.length(); ++i) out += words(r[i]) + "|";
        return copy(out);
    }
    char* say_by_short(const params::ByShort& v) override { return copy(words(v)); }
    char* say_by_ushort(const params::ByUShort& v) override { return copy(words(v)); }
    char* say_by_long(const params::ByLong& v) override { return copy(words(v)); }
    char* say_by_ulong(const params::ByULong& v) override { return copy(words(v)); }
    char* say_by_longlong(const params::ByLongLong& v) override { return copy(words(v)); }
    char* say_by_ulonglong(const params::ByULongLong& v) override { return copy(words(v)); }
    char* say_by_boolean(const params::ByBoolean& v) override { return copy(words(v)); }
    char* say_by_half(const params::ByHalf& v) override { return copy(words(v)); }
    char* say_by_char(const params::ByChar& v) override { return copy(words(v)); }
    char* say_by_colour(const params::ByColour& v) override { return copy(words(v)); }

    params::Octets* invert(const params::Octets& v) override {
        params::Octets_var result = new params::Octets;
        result->length(v.length());
        for (CORBA::ULong i = 0; i < v.length(); ++i) result[i] = ~v[i];
        return result._retn();
    }
    CORBA::Long fail(CORBA::Long how) override {
        if (how == 0) return 0;
        if (how == 1) throw params::Empty();
        params::Detailed detailed;
        detailed.code = -2;
        detailed.reason = "gr\xfc\xdf";
        detailed.where.kind = 7;
        detailed.where.x = -0.5;
        detailed.where.mark = 'm';
        detailed.where.y = -3;
        detailed.trail.length(2);
        detailed.trail[0] = "one";
        detailed.trail[1] = "";
        throw detailed;
    }
    void fail_system(const char* kind, CORBA::ULong minor, CORBA::ULong completed) override {
        raise_system(kind, minor, completed);
    }
    void post(CORBA::Long value) override {
        omni_mutex_lock lock(mutex_);
        posted_ += value;
    }
    CORBA::Long posted() override {
        omni_mutex_lock lock(mutex_);
        return posted_;
    }
    char* name_of(params::Named_ptr whom) override {
        return CORBA::is_nil(whom) ? CORBA::string_dup("nil") : whom->name();
    }
    params::Describe_ptr myself() override { return _this(); }
    CORBA::Object_ptr nothing() override { return CORBA::Object::_nil(); }

private:
    omni_mutex mutex_;
    CORBA::Long posted_ = 0;
};

CORBA::Octet cubed(CORBA::Octet o) { return CORBA::Octet(o * o * o); }
CORBA::Short cubed(CORBA::Short s) { return CORBA::Short(s * s * s); }
CORBA::Long cubed(CORBA::Long l) {
    long long wide = l;
    // Beyond this the cube of the cube's own root would overflow the wider type too.
    if (wide < -2097151 || wide > 2097151) throw bench::TooLarge(l);
    wide = wide * wide * wide;
    if (wide < std::numeric_limits<CORBA::Long>::min()
        || wide > std::numeric_limits<CORBA::Long>::max())
        throw bench::TooLarge(l);
    return CORBA::Long(wide);
}

class Cubit_i : public POA_bench::Cubit {
public:
    void cube_void() override {}
    CORBA::Octet cube_octet(CORBA::Octet o) override { return cubed(o); }
    CORBA::Short cube_short(CORBA::Short s) override { return cubed(s); }
    CORBA::Long cube_long(CORBA::Long l) override { return cubed(l); }
    bench::Cube cube_struct(const bench::Cube& v) override {
        bench::Cube result;
        result.o = cubed(v.o);
        result.l = cubed(v.l);
        result.s = cubed(v.s);
        return result;
    }
    bench::OctetSeq* echo_octets(const bench::OctetSeq& v) override {
        return new bench::OctetSeq(v);
    }
    bench::ShortSeq* echo_shorts(const bench::ShortSeq& v) override {
        return new bench::ShortSeq(v);
    }
    bench::LongSeq* echo_longs(const bench::LongSeq& v) override { return new bench::LongSeq(v); }
    bench::CubeSeq* echo_cubes(const bench::CubeSeq& v) override { return new bench::CubeSeq(v); }
    bench::BinStructSeq* echo_bin_structs(const bench::BinStructSeq& v) override {
        return new bench::BinStructSeq(v);
    }
    CORBA::ULongLong echo_64(CORBA::ULongLong v) override { return v; }
    void take_octets(const bench::OctetSeq&) override {}
    void take_longs(const bench::LongSeq&) override {}
    void take_bin_structs(const bench::BinStructSeq&) override {}
    void ping() override { count(); }
    void throw_octets(const bench::OctetSeq&) override { count(); }
    void throw_bin_structs(const bench::BinStructSeq&) override { count(); }
    CORBA::ULongLong pings() override {
        omni_mutex_lock lock(mutex_);
        return pings_;
    }
    void shutdown() override {}

private:
    void count() {
        omni_mutex_lock lock(mutex_);
        ++pings_;
    }
    omni_mutex mutex_;
    CORBA::ULongLong pings_ = 0;
};

/** Sends every caller elsewhere (CORBA 3.3 part 1, 15.3.6: ForwardRequest). */
class Forwarding : public virtual PortableServer::ServantLocator,
                   public virtual CORBA::LocalObject {
public:
    explicit Forwarding(CORBA::Object_ptr to) : to_(CORBA::Object::_duplicate(to)) {}
    PortableServer::Servant preinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr,
                                      const char*, void*&) override {
        throw PortableServer::ForwardRequest(to_);
    }
    void postinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr, const char*, void*,
                    PortableServer::Servant) override {}

private:
    CORBA::Object_var to_;
};

CORBA::Object_ptr forwarder(PortableServer::POA_ptr root, CORBA::Object_ptr to) {
    CORBA::PolicyList policies(3);
    policies.length(3);
    policies[0] = root->create_lifespan_policy(PortableServer::TRANSIENT);
    policies[1] = root->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
    policies[2] = root->create_servant_retention_policy(PortableServer::NON_RETAIN);
    PortableServer::POAManager_var manager = root->the_POAManager();
    PortableServer::POA_var poa = root->create_POA("forwarding", manager, policies);
    PortableServer::ServantLocator_var locator = new Forwarding(to);
    poa->set_servant_manager(locator);
    return poa->create_reference("IDL:params/Describe:1.0");
}

void announce(CORBA::ORB_ptr orb, const char* what, CORBA::Object_ptr object) {
    CORBA::String_var text = orb->object_to_string(object);
    std::cout << what << ' ' << text.in() << std::endl;
}

}  // namespace

int serve(CORBA::ORB_ptr orb, const char* target) {
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var root = PortableServer::POA::_narrow(object);
    object = orb->string_to_object(target);
    params::Parameters_var parameters = params::Parameters::_unchecked_narrow(object);

    PortableServer::Servant_var<relay_params_Parameters> relay =
        new relay_params_Parameters(parameters);
    PortableServer::Servant_var<Describe_i> describe = new Describe_i;
    PortableServer::Servant_var<Cubit_i> cubit = new Cubit_i;
    PortableServer::Servant_var<Describe_i> known = new Describe_i;

    object = relay->_this();
    announce(orb, "parameters", object);
    object = cubit->_this();
    announce(orb, "cubit", object);
    object = describe->_this();
    announce(orb, "describe", object);
    object = forwarder(root, object);
    announce(orb, "forwarder", object);

    // An object with a key that a corbaloc can name.
    object = orb->resolve_initial_references("omniINSPOA");
    PortableServer::POA_var ins = PortableServer::POA::_narrow(object);
    PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("well-known");
    ins->activate_object_with_id(id, known);
    PortableServer::POAManager_var manager = ins->the_POAManager();
    manager->activate();

    // A reference to an object that is no more.
    PortableServer::Servant_var<Describe_i> gone = new Describe_i;
    object = gone->_this();
    announce(orb, "unknown", object);
    id = root->servant_to_id(gone);
    root->deactivate_object(id);

    manager = root->the_POAManager();
    manager->activate();
    std::cout << "ready" << std::endl;
    string line;
    while (std::getline(std::cin, line)) {}
    orb->shutdown(false);
    return 0;
}
