// Valuetypes, abstract interfaces and Anys: a server of `values::Exchange`, and a client of one.
#include "cases.hh"
#include "roles.hh"
#include "values.hh"
#include <iostream>
#include <sstream>
#include <vector>

using std::string;

namespace {

/** A graph in words: each value the first time with its number, later as a link to it. */
void say(values::Node* node, std::vector<values::Node*>& met, std::ostream& out) {
    if (!node) {
        out << '-';
        return;
    }
    for (size_t i = 0; i < met.size(); ++i)
        if (met[i] == node) {
            out << '#' << i;
            return;
        }
    met.push_back(node);
    out << node->number();
    if (values::Named* named = values::Named::_downcast(node)) out << '=' << named->name();
    if (values::Extended* more = values::Extended::_downcast(node)) out << '/' << more->extra();
    out << '(';
    say(node->next(), met, out);
    const values::Nodes& more = node->more();
    for (CORBA::ULong i = 0; i < more.length(); ++i) {
        out << ',';
        say(more[i], met, out);
    }
    out << ')';
}

string say(values::Node* node) {
    std::vector<values::Node*> met;
    std::ostringstream out;
    say(node, met, out);
    return out.str();
}

void say(const CORBA::Any& any, std::ostream& out) {
    CORBA::TypeCode_var type = any.type();
    out << type->kind();
    try {
        string id = type->id();
        out << ':' << id;
    } catch (const CORBA::TypeCode::BadKind&) {
    }
    out << ' ';
    CORBA::Long number;
    CORBA::Boolean truth;
    CORBA::LongLong large;
    CORBA::Double real;
    const char* text;
    const CORBA::WChar* wide;
    const values::Point* point;
    const values::Tree* tree;
    const values::Choice* choice;
    const values::Points* points;
    const values::Refused* refused;
    const CORBA::Any* inner;
    values::Colour colour;
    values::Money money;
    CORBA::TypeCode_ptr code;
    CORBA::Fixed fixed;
    values::Node* node;
    values::Text* boxed;
    values::Thing* thing;
    CORBA::Object_var object;
    if (any >>= number) {
        out << number;
    } else if (any >>= large) {
        out << large;
    } else if (any >>= real) {
        out << real;
    } else if (any >>= CORBA::Any::to_boolean(truth)) {
        out << (truth ? "true" : "false");
    } else if (any >>= text) {
        out << text;
    } else if (any >>= wide) {
        for (; *wide; ++wide) out << std::hex << unsigned(*wide) << ',' << std::dec;
    } else if (any >>= colour) {
        out << int(colour);
    } else if (any >>= point) {
        out << point->x << '|' << point->y;
    } else if (any >>= tree) {
        out << tree->label << '[' << tree->branches.length() << ']';
    } else if (any >>= choice) {
        if (choice->_d() == values::red) out << "number " << choice->number();
        else if (choice->_d() == values::green) out << "text " << choice->text();
        else out << "none";
    } else if (any >>= points) {
        for (CORBA::ULong i = 0; i < points->length(); ++i)
            out << (*points)[i].x << '|' << (*points)[i].y << ';';
    } else if (any >>= refused) {
        out << refused->why;
    } else if (any >>= inner) {
        say(*inner, out);
    } else if (any >>= code) {
        out << code->kind();
    } else if (any >>= CORBA::Any::to_fixed(fixed, 7, 2)) {
        CORBA::String_var words = fixed.NP_asString();
        out << words;
    } else if (any >>= node) {
        out << say(node);
    } else if (any >>= boxed) {
        out << boxed->_value();
    } else if (any >>= thing) {
        out << thing->what();
    } else if (any >>= CORBA::Any::to_object(object)) {
        out << (CORBA::is_nil(object) ? "nil" : "object");
    }
}

string say(const CORBA::Any& any) {
    std::ostringstream out;
    say(any, out);
    return out.str();
}

class Thing : public virtual OBV_values::Thing, public virtual CORBA::DefaultValueRefCountBase {
public:
    Thing() {}
    explicit Thing(const char* text) { what(text); }
    char* describe() override {
        return CORBA::string_dup((string("their thing ") + what()).c_str());
    }
};

class ThingFactory : public virtual CORBA::ValueFactoryBase {
public:
    CORBA::ValueBase* create_for_unmarshal() override { return new Thing; }
};

class Spot_i : public POA_values::Spot {
public:
    char* describe() override { return CORBA::string_dup("their spot"); }
};

/**
 * A value of that type, with as many in `more`. By modifiers: constructors of derived types forget what is
 * for a base that is virtual, and count nothing that they are given.
 */
template <class T> T* made(CORBA::Long number, values::Node* next, CORBA::ULong more = 0) {
    T* value = new T;
    value->number(number);
    value->next(next);
    value->more().length(more);
    return value;
}

values::Node* node(CORBA::Long number) { return made<OBV_values::Node>(number, 0); }

values::Node* ring(CORBA::Long count) {
    values::Node_var first = node(0), last = values::Node_var(first);
    for (CORBA::Long i = 1; i < count; ++i) {
        values::Node_var next = node(i);
        last->next(next);
        last = next;
    }
    last->next(first);
    return first._retn();
}

values::Named* hidden() {
    values::Node_var round = ring(2);
    OBV_values::Hidden* value = made<OBV_values::Hidden>(8, 0);
    value->name("eight");
    value->factor(0.5);
    value->last(round);
    value->rest().length(2);
    value->rest()[1] = node(5);
    return value;
}

values::Named* named(CORBA::Long number, const char* name, values::Node* next, CORBA::ULong more) {
    OBV_values::Named* value = made<OBV_values::Named>(number, next, more);
    value->name(name);
    return value;
}

template <class T> T* kept(T* value) {
    if (value) value->_add_ref();
    return value;
}

/** Returned is the inout parameter as it came; the in parameter goes back as inout and as out. */
#define TWIST(type)                                                                         \
    type* result = b;                                                                       \
    b = kept(a);                                                                            \
    c = kept(a);                                                                            \
    return result

class Exchange_i : public POA_values::Exchange {
public:
    values::Node* e_node(values::Node* a, values::Node*& b, values::Node_out c) override {
        TWIST(values::Node);
    }
    values::Named* e_named(values::Named* a, values::Named*& b, values::Named_out c) override {
        TWIST(values::Named);
    }
    values::Text* e_text(values::Text* a, values::Text*& b, values::Text_out c) override {
        TWIST(values::Text);
    }
    values::Longs* e_longs(values::Longs* a, values::Longs*& b, values::Longs_out c) override {
        TWIST(values::Longs);
    }
    CORBA::ValueBase* e_base(CORBA::ValueBase* a) override { return kept(a); }
    values::Describable_ptr e_describable(values::Describable_ptr a, values::Describable_ptr& b,
                                          values::Describable_out c) override {
        values::Describable_ptr result = b;
        b = values::Describable::_duplicate(a);
        c = values::Describable::_duplicate(a);
        return result;
    }
    CORBA::Any* e_any(const CORBA::Any& a, CORBA::Any& b, CORBA::Any_OUT_arg c) override {
        CORBA::Any* result = new CORBA::Any(b);
        b = a;
        c = new CORBA::Any(a);
        return result;
    }
    char* say_node(values::Node* value) override {
        return CORBA::string_dup(say(value).c_str());
    }
    char* say_describable(values::Describable_ptr value) override {
        return CORBA::is_nil(value) ? CORBA::string_dup("nil") : value->describe();
    }
    char* say_any(const CORBA::Any& value) override {
        return CORBA::string_dup(say(value).c_str());
    }
    CORBA::Boolean same(values::Node* a, values::Node* b) override { return a == b; }
    values::Node* ring(CORBA::Long count) override { return ::ring(count); }
    values::Named* hidden() override { return ::hidden(); }
};

/** All but `Hidden`. */
void know(CORBA::ORB_ptr orb) {
    CORBA::ValueFactory factories[] = {new values::Node_init, new values::Named_init,
                                       new values::Extended_init, new ThingFactory};
    const char* const names[] = {"Node", "Named", "Extended", "Thing"};
    for (int i = 0; i < 4; ++i) {
        string id = string("IDL:values/") + names[i] + ":1.0";
        CORBA::ValueFactory before = orb->register_value_factory(id.c_str(), factories[i]);
        if (before) before->_remove_ref();
    }
}

void graphs(values::Exchange_ptr object) {
    test("e_node", [&] {
        values::Node_var a = ring(3), b, c;
        values::Node_var result = object->e_node(a, b.inout(), c.out());
        hold(!result.in(), "null came back as something");
        same(say(b), "0(1(2(#0)))");
        same(say(c), "0(1(2(#0)))");
        // What results share is shared.
        hold(b.in() == c.in(), "one value came back as two");
        result = object->e_node(0, b.inout(), c.out());
        same(say(result), "0(1(2(#0)))");
    });
    test("e_node, derived", [&] {
        values::Node_var shared = node(4), b, c;
        OBV_values::Extended* extended = made<OBV_values::Extended>(1, shared, 3);
        values::Node_var a = extended;
        extended->extra(77);
        extended->more()[0] = shared;
        extended->more()[2] = shared;
        values::Node_var result = object->e_node(a, b.inout(), c.out());
        same(say(b), "1/77(4(-),#1,-,#1)");
    });
    test("e_named", [&] {
        values::Node_var after = node(3);
        values::Named_var a = named(2, "two", after, 1), b, c;
        a->more()[0] = named(9, "nine", 0, 0);
        values::Named_var result = object->e_named(a, b.inout(), c.out());
        same(say(b), "2=two(3(-),9=nine(-))");
    });
    test("truncated", [&] {
        values::Named_var a = hidden(), b, c;
        values::Named_var result = object->e_named(a, b.inout(), c.out());
        same(say(b), "8=eight(-)");
        hold(!values::Hidden::_downcast(b.in()), "it was not truncated");
        values::Named_var theirs = object->hidden();
        same(say(theirs), "8=eight(-)");
    });
    test("say_node", [&] {
        values::Node_var a = ring(2);
        same(object->say_node(a), "0(1(#0))");
        same(object->say_node(0), "-");
        values::Named_var cut = hidden();
        same(object->say_node(cut), "8=eight(-)");
    });
    test("same", [&] {
        values::Node_var a = ring(2), b = ring(2);
        hold(object->same(a, a), "one value arrived as two");
        hold(!object->same(a, b), "two values arrived as one");
    });
    test("ring", [&] {
        values::Node_var one = object->ring(1), many = object->ring(1000);
        same(say(one), "0(#0)");
        CORBA::Long count = 0;
        values::Node* at = many;
        do {
            at = at->next();
            ++count;
        } while (at != many.in());
        hold(count == 1000, "the ring has another length");
    });
}

void boxes(values::Exchange_ptr object) {
    test("e_text", [&] {
        values::Text_var a = new values::Text("boxed"), b, c;
        values::Text_var result = object->e_text(a, b.inout(), c.out());
        hold(!result.in(), "null came back as something");
        same(string(b->_value()), "boxed");
    });
    test("e_longs", [&] {
        values::LongSeq longs;
        longs.length(3);
        longs[2] = -7;
        values::Longs_var a = new values::Longs(longs), b, c;
        values::Longs_var result = object->e_longs(a, b.inout(), c.out());
        hold(b->_value().length() == 3 && b->_value()[2] == -7, "other numbers came back");
    });
    test("e_base", [&] {
        values::Node_var node = ring(2);
        CORBA::ValueBase_var result = object->e_base(node);
        same(say(values::Node::_downcast(result.in())), "0(1(#0))");
    });
    test("e_base, boxed", [&] {
        values::Text_var text = new values::Text("base");
        CORBA::ValueBase_var result = object->e_base(text);
        values::Text* boxed = values::Text::_downcast(result.in());
        hold(boxed && !std::string(boxed->_value()).compare("base"), "another box came back");
    });
}

void abstracts(values::Exchange_ptr object) {
    test("e_describable, value", [&] {
        values::Describable_var a = new Thing("mine"), b, c;
        values::Describable_var result = object->e_describable(a, b.inout(), c.out());
        same(b->describe(), "their thing mine");
        same(object->say_describable(a), "our thing mine");
    });
    test("e_describable, object", [&] {
        PortableServer::Servant_var<Spot_i> servant = new Spot_i;
        values::Spot_var spot = servant->_this();
        values::Describable_var a = values::Describable::_narrow(spot), b, c;
        values::Describable_var result = object->e_describable(a, b.inout(), c.out());
        same(b->describe(), "their spot");
        same(object->say_describable(a), "their spot");
        same(object->say_describable(values::Describable::_nil()), "nil");
    });
}

/** It comes back as it was, and in words. */
void there_and_back(values::Exchange_ptr object, const char* name, const CORBA::Any& any,
                    const char* expected) {
    test(name, [&] {
        CORBA::Any b;
        CORBA::Any_var c;
        CORBA::Any_var result = object->e_any(any, b, c.out());
        same(say(result.in()), "0 ");
        same(say(b), expected);
        same(say(c.in()), expected);
        CORBA::TypeCode_var sent = any.type(), got = b.type();
        hold(sent->equal(got), "its TypeCode came back as another");
        same(object->say_any(any), expected);
    });
}

void anys(values::Exchange_ptr object) {
    CORBA::Any any, inner;
    any <<= CORBA::Long(42);
    there_and_back(object, "any of long", any, "3 42");
    any <<= CORBA::LongLong(-1);
    there_and_back(object, "any of long long", any, "23 -1");
    any <<= CORBA::Double(0.5);
    there_and_back(object, "any of double", any, "7 0.5");
    any <<= CORBA::Any::from_boolean(true);
    there_and_back(object, "any of boolean", any, "8 true");
    any <<= "text";
    there_and_back(object, "any of string", any, "18 text");
    const CORBA::WChar wide[] = {0x20ac, 'x', 0};
    any <<= wide;
    test("any of wstring", [&] {
        CORBA::String_var said = object->say_any(any);
        same(said.in(), string("27 20ac,78,"));
    });
    any <<= values::blue;
    there_and_back(object, "any of enum", any, "17:IDL:values/Colour:1.0 2");
    values::Point point = {7, 0.5};
    any <<= point;
    there_and_back(object, "any of struct", any, "15:IDL:values/Point:1.0 7|0.5");
    values::Tree tree;
    tree.label = CORBA::string_dup("root");
    tree.branches.length(2);
    any <<= tree;
    there_and_back(object, "any of recursive struct", any, "15:IDL:values/Tree:1.0 root[2]");
    values::Choice choice;
    choice.text("chosen");
    any <<= choice;
    there_and_back(object, "any of union", any, "16:IDL:values/Choice:1.0 text chosen");
    values::Points points;
    points.length(2);
    points[0].x = 0;
    points[0].y = 0;
    points[1] = point;
    any <<= points;
    there_and_back(object, "any of sequence", any, "21:IDL:values/Points:1.0 0|0;7|0.5;");
    any.replace(values::_tc_Alias, 0);
    any <<= CORBA::Long(7);
    any.type(values::_tc_Alias);
    there_and_back(object, "any of alias", any, "21:IDL:values/Alias:1.0 7");
    any <<= CORBA::Any::from_fixed(CORBA::Fixed("12345.67"), 7, 2);
    there_and_back(object, "any of fixed", any, "28 12345.67");
    any <<= values::Refused("why");
    there_and_back(object, "any of exception", any, "22:IDL:values/Refused:1.0 why");
    inner <<= "inner";
    any <<= inner;
    there_and_back(object, "any of any", any, "11 18 inner");
    any <<= values::_tc_Tree;
    there_and_back(object, "any of TypeCode", any, "12 15");
    any <<= object;
    there_and_back(object, "any of object", any, "14:IDL:values/Exchange:1.0 object");
    values::Node_var round = ring(2);
    any <<= round.in();
    there_and_back(object, "any of recursive value", any, "29:IDL:values/Node:1.0 0(1(#0))");
    values::Thing_var thing = new Thing("in an any");
    any <<= thing.in();
    there_and_back(object, "any of value", any, "29:IDL:values/Thing:1.0 in an any");
    values::Text_var text = new values::Text("boxed");
    any <<= text.in();
    there_and_back(object, "any of boxed value", any, "30:IDL:values/Text:1.0 boxed");
}

}  // namespace

int offer(CORBA::ORB_ptr orb) {
    know(orb);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var root = PortableServer::POA::_narrow(object);
    PortableServer::Servant_var<Exchange_i> servant = new Exchange_i;
    object = servant->_this();
    CORBA::String_var text = orb->object_to_string(object);
    std::cout << "exchange " << text.in() << std::endl;
    PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();
    std::cout << "ready" << std::endl;
    string line;
    while (std::getline(std::cin, line)) {}
    orb->shutdown(false);
    return 0;
}

int exchange(CORBA::ORB_ptr orb, const char* target) {
    know(orb);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var root = PortableServer::POA::_narrow(object);
    PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();
    object = orb->string_to_object(target);
    values::Exchange_var there = values::Exchange::_unchecked_narrow(object);
    graphs(there);
    boxes(there);
    abstracts(there);
    anys(there);
    return done() ? 0 : 1;
}
