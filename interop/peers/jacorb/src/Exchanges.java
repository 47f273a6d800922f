// Valuetypes, abstract interfaces and Anys: a server of `values.Exchange`, and a client of one.

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.omg.CORBA.*;
import org.omg.CORBA.TypeCodePackage.BadKind;
import org.omg.CORBA.portable.ValueFactory;
import org.omg.CORBA_2_3.portable.InputStream;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import values.*;

final class Exchanges {
    private Exchanges() {}

    private static final class ANode extends Node {}
    private static final class ANamed extends Named {}
    private static final class AHidden extends Hidden {}
    private static final class AnExtended extends Extended {}

    private static final class AThing extends Thing {
        AThing(String what) { this.what = what; }
        @Override public String describe() { return "their thing " + what; }
    }

    private static final class ASpot extends SpotPOA {
        @Override public String describe() { return "their spot"; }
    }

    /** A graph in words: each value the first time with its number, later as a link to it. */
    private static void say(Node node, List<Node> met, StringBuilder out) {
        if (node == null) {
            out.append('-');
            return;
        }
        for (int i = 0; i < met.size(); ++i) {
            if (met.get(i) == node) {
                out.append('#').append(i);
                return;
            }
        }
        met.add(node);
        out.append(node.number);
        if (node instanceof Named) out.append('=').append(((Named) node).name);
        if (node instanceof Extended) out.append('/').append(((Extended) node).extra);
        out.append('(');
        say(node.next, met, out);
        for (Node one : node.more) {
            out.append(',');
            say(one, met, out);
        }
        out.append(')');
    }

    private static String say(Node node) {
        StringBuilder out = new StringBuilder();
        say(node, new ArrayList<>(), out);
        return out.toString();
    }

    private static String real(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }

    private static String say(Point point) { return point.x + "|" + real(point.y); }

    private static String say(Any any) {
        TypeCode type = any.type();
        String id = "";
        try {
            id = ":" + type.id();
        } catch (BadKind none) {
            // It has none.
        }
        return type.kind().value() + id + " " + value(any, type);
    }

    private static String value(Any any, TypeCode type) {
        try {
            while (type.kind() == TCKind.tk_alias) {
                if (type.id().equals(PointsHelper.id())) {
                    StringBuilder out = new StringBuilder();
                    for (Point point : PointsHelper.extract(any)) out.append(say(point)).append(';');
                    return out.toString();
                }
                type = type.content_type();
            }
            switch (type.kind().value()) {
            case TCKind._tk_long: return Integer.toString(any.extract_long());
            case TCKind._tk_longlong: return Long.toString(any.extract_longlong());
            case TCKind._tk_double: return real(any.extract_double());
            case TCKind._tk_boolean: return Boolean.toString(any.extract_boolean());
            case TCKind._tk_string: return any.extract_string();
            case TCKind._tk_wstring:
                return any.extract_wstring().chars().mapToObj(c -> Integer.toHexString(c) + ",")
                    .collect(Collectors.joining());
            case TCKind._tk_enum: return Integer.toString(ColourHelper.extract(any).value());
            case TCKind._tk_struct:
                if (type.id().equals(PointHelper.id())) return say(PointHelper.extract(any));
                Tree tree = TreeHelper.extract(any);
                return tree.label + "[" + tree.branches.length + "]";
            case TCKind._tk_union:
                Choice choice = ChoiceHelper.extract(any);
                if (choice.discriminator() == Colour.red) return "number " + choice.number();
                return choice.discriminator() == Colour.green ? "text " + choice.text() : "none";
            case TCKind._tk_except: return RefusedHelper.extract(any).why;
            case TCKind._tk_any: return say(any.extract_any());
            case TCKind._tk_TypeCode:
                return Integer.toString(any.extract_TypeCode().kind().value());
            case TCKind._tk_fixed: return any.extract_fixed().toPlainString();
            case TCKind._tk_objref: return any.extract_Object() == null ? "nil" : "object";
            case TCKind._tk_value:
                Serializable value = any.extract_Value();
                return value instanceof Thing ? ((Thing) value).what : say((Node) value);
            case TCKind._tk_value_box: return TextHelper.extract(any);
            default: return "";
            }
        } catch (BadKind other) {
            return other.toString();
        }
    }

    private static <T extends Node> T made(T node, int number, Node next, Node... more) {
        node.number = number;
        node.next = next;
        node.more = more;
        return node;
    }

    private static Node node(int number) { return made(new ANode(), number, null); }

    private static Node ring(int count) {
        Node first = node(0), last = first;
        for (int number = 1; number < count; ++number) {
            last.next = node(number);
            last = last.next;
        }
        last.next = first;
        return first;
    }

    private static Named hidden() {
        AHidden value = made(new AHidden(), 8, null);
        value.name = "eight";
        value.factor = 0.5;
        value.last = ring(2);
        value.rest = new Node[] {null, node(5)};
        return value;
    }

    private static Named named(int number, String name, Node next, Node... more) {
        ANamed value = made(new ANamed(), number, next, more);
        value.name = name;
        return value;
    }

    /** All but `Hidden`. */
    private static void know(ORB orb) {
        org.omg.CORBA_2_3.ORB values = (org.omg.CORBA_2_3.ORB) orb;
        values.register_value_factory(NodeHelper.id(), new Makes() {
            @Override Serializable make() { return new ANode(); }
        });
        values.register_value_factory(NamedHelper.id(), new Makes() {
            @Override Serializable make() { return new ANamed(); }
        });
        values.register_value_factory(ExtendedHelper.id(), new Makes() {
            @Override Serializable make() { return new AnExtended(); }
        });
        values.register_value_factory(ThingHelper.id(), new Makes() {
            @Override Serializable make() { return new AThing(""); }
        });
    }

    private abstract static class Makes implements ValueFactory {
        abstract Serializable make();
        @Override public Serializable read_value(InputStream is) { return is.read_value(make()); }
    }

    private static final class Served extends ExchangePOA {
        @Override public Node e_node(Node a, NodeHolder b, NodeHolder c) {
            Node result = b.value;
            b.value = c.value = a;
            return result;
        }
        @Override public Named e_named(Named a, NamedHolder b, NamedHolder c) {
            Named result = b.value;
            b.value = c.value = a;
            return result;
        }
        @Override public String e_text(String a, TextHolder b, TextHolder c) {
            String result = b.value;
            b.value = c.value = a;
            return result;
        }
        @Override public int[] e_longs(int[] a, LongsHolder b, LongsHolder c) {
            int[] result = b.value;
            b.value = c.value = a;
            return result;
        }
        @Override public Serializable e_base(Serializable a) { return a; }
        @Override public Describable e_describable(Describable a, DescribableHolder b, DescribableHolder c) {
            Describable result = b.value;
            b.value = c.value = a;
            return result;
        }
        @Override public Any e_any(Any a, AnyHolder b, AnyHolder c) {
            Any result = b.value;
            b.value = c.value = a;
            return result;
        }
        @Override public String say_node(Node value) { return say(value); }
        @Override public String say_describable(Describable value) {
            return value == null ? "nil" : value.describe();
        }
        @Override public String say_any(Any value) { return say(value); }
        @Override public boolean same(Node a, Node b) { return a == b; }
        @Override public Node ring(int count) { return Exchanges.ring(count); }
        @Override public Named hidden() { return Exchanges.hidden(); }
    }

    static void offer(ORB orb) throws Exception {
        know(orb);
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        Exchange exchange = new Served()._this(orb);
        System.out.println("exchange " + orb.object_to_string(exchange));
        root.the_POAManager().activate();
        System.out.println("ready");
    }

    static int exchange(ORB orb, String target) throws Exception {
        know(orb);
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        root.the_POAManager().activate();
        Exchange there = ExchangeHelper.unchecked_narrow(orb.string_to_object(target));
        graphs(there);
        boxes(there);
        abstracts(orb, there);
        anys(orb, there);
        return Cases.done();
    }

    private static void graphs(Exchange there) {
        Cases.test("e_node", () -> {
            NodeHolder b = new NodeHolder(), c = new NodeHolder();
            Cases.hold(there.e_node(ring(3), b, c) == null, "null came back as something");
            Cases.same(say(b.value), "0(1(2(#0)))");
            Cases.same(say(c.value), "0(1(2(#0)))");
            Cases.hold(b.value == c.value, "one value came back as two");
            Cases.same(say(there.e_node(null, b, c)), "0(1(2(#0)))");
        });
        Cases.test("e_node, derived", () -> {
            Node shared = node(4);
            AnExtended a = made(new AnExtended(), 1, shared, shared, null, shared);
            a.extra = 77;
            NodeHolder b = new NodeHolder();
            there.e_node(a, b, new NodeHolder());
            Cases.same(say(b.value), "1/77(4(-),#1,-,#1)");
        });
        Cases.test("e_named", () -> {
            Named a = named(2, "two", node(3), named(9, "nine", null));
            NamedHolder b = new NamedHolder();
            there.e_named(a, b, new NamedHolder());
            Cases.same(say(b.value), "2=two(3(-),9=nine(-))");
        });
        Cases.test("truncated", () -> {
            NamedHolder b = new NamedHolder();
            there.e_named(hidden(), b, new NamedHolder());
            for (Named cut : new Named[] {b.value, there.hidden()}) {
                Cases.same(say(cut), "8=eight(-)");
                Cases.hold(!(cut instanceof Hidden), "it was not truncated");
            }
        });
        Cases.test("say_node", () -> {
            Cases.same(there.say_node(ring(2)), "0(1(#0))");
            Cases.same(there.say_node(null), "-");
            Cases.same(there.say_node(hidden()), "8=eight(-)");
        });
        Cases.test("same", () -> {
            Node a = ring(2), b = ring(2);
            Cases.hold(there.same(a, a), "one value arrived as two");
            Cases.hold(!there.same(a, b), "two values arrived as one");
        });
        Cases.test("ring", () -> {
            Cases.same(say(there.ring(1)), "0(#0)");
            Node many = there.ring(1000), at = many;
            int count = 0;
            do {
                at = at.next;
                ++count;
            } while (at != many);
            Cases.same(count, 1000);
        });
    }

    private static void boxes(Exchange there) {
        Cases.test("e_text", () -> {
            TextHolder b = new TextHolder();
            Cases.hold(there.e_text("boxed", b, new TextHolder()) == null, "null came back as something");
            Cases.same(b.value, "boxed");
        });
        Cases.test("e_longs", () -> {
            LongsHolder b = new LongsHolder();
            there.e_longs(new int[] {0, 0, -7}, b, new LongsHolder());
            Cases.same(b.value.length + " " + b.value[2], "3 -7");
        });
        Cases.test("e_base", () -> {
            Cases.same(say((Node) there.e_base(ring(2))), "0(1(#0))");
        });
    }

    private static void abstracts(ORB orb, Exchange there) {
        Cases.test("e_describable, value", () -> {
            DescribableHolder b = new DescribableHolder();
            Describable a = new AThing("mine");
            there.e_describable(a, b, new DescribableHolder());
            Cases.same(b.value.describe(), "their thing mine");
            Cases.same(there.say_describable(a), "our thing mine");
        });
        Cases.test("e_describable, object", () -> {
            DescribableHolder b = new DescribableHolder();
            Describable a = new ASpot()._this(orb);
            there.e_describable(a, b, new DescribableHolder());
            Cases.same(b.value.describe(), "their spot");
            Cases.same(there.say_describable(a), "their spot");
            Cases.same(there.say_describable(null), "nil");
        });
    }

    /** What puts a value into an Any. */
    interface Fills {
        void fill(Any any) throws Exception;
    }

    /** It comes back as it was, and in words. */
    private static void any(ORB orb, Exchange there, String name, String expected, Fills fills) {
        Cases.test(name, () -> {
            Any a = orb.create_any();
            fills.fill(a);
            AnyHolder b = new AnyHolder(orb.create_any()), c = new AnyHolder();
            Cases.same(say(there.e_any(a, b, c)), "0 ");
            Cases.same(say(b.value), expected);
            Cases.same(say(c.value), expected);
            // A TypeCode of a valuetype that JacORB reads is not equal to the one that it wrote.
            Cases.hold(b.value.type().equivalent(a.type()), "its TypeCode came back as another");
            Cases.same(there.say_any(a), expected);
        });
    }

    private static void anys(ORB orb, Exchange there) {
        any(orb, there, "any of long", "3 42", any -> any.insert_long(42));
        any(orb, there, "any of long long", "23 -1", any -> any.insert_longlong(-1));
        any(orb, there, "any of double", "7 0.5", any -> any.insert_double(0.5));
        any(orb, there, "any of boolean", "8 true", any -> any.insert_boolean(true));
        any(orb, there, "any of string", "18 text", any -> any.insert_string("text"));
        Cases.test("any of wstring", () -> {
            Any any = orb.create_any();
            any.insert_wstring("\u20acx");
            Cases.same(there.say_any(any), "27 20ac,78,");
        });
        any(orb, there, "any of enum", "17:IDL:values/Colour:1.0 2",
            any -> ColourHelper.insert(any, Colour.blue));
        Point point = new Point((short) 7, 0.5);
        any(orb, there, "any of struct", "15:IDL:values/Point:1.0 7|0.5",
            any -> PointHelper.insert(any, point));
        any(orb, there, "any of recursive struct", "15:IDL:values/Tree:1.0 root[2]", any -> {
            Tree leaf = new Tree("", new Tree[0]);
            TreeHelper.insert(any, new Tree("root", new Tree[] {leaf, leaf}));
        });
        any(orb, there, "any of union", "16:IDL:values/Choice:1.0 text chosen", any -> {
            Choice choice = new Choice();
            choice.text("chosen");
            ChoiceHelper.insert(any, choice);
        });
        any(orb, there, "any of sequence", "21:IDL:values/Points:1.0 0|0;7|0.5;",
            any -> PointsHelper.insert(any, new Point[] {new Point((short) 0, 0), point}));
        any(orb, there, "any of alias", "21:IDL:values/Alias:1.0 7",
            any -> {
                // AliasHelper would insert a long.
                org.omg.CORBA.portable.OutputStream out = any.create_output_stream();
                AliasHelper.write(out, 7);
                any.read_value(out.create_input_stream(), AliasHelper.type());
            });
        any(orb, there, "any of fixed", "28 12345.67",
            any -> any.insert_fixed(new BigDecimal("12345.67"), orb.create_fixed_tc((short) 7, (short) 2)));
        any(orb, there, "any of exception", "22:IDL:values/Refused:1.0 why",
            any -> RefusedHelper.insert(any, new Refused("why")));
        any(orb, there, "any of any", "11 18 inner", any -> {
            Any inner = orb.create_any();
            inner.insert_string("inner");
            any.insert_any(inner);
        });
        any(orb, there, "any of TypeCode", "12 15", any -> any.insert_TypeCode(TreeHelper.type()));
        any(orb, there, "any of object", "14:IDL:values/Exchange:1.0 object",
            any -> ExchangeHelper.insert(any, there));
        any(orb, there, "any of value", "29:IDL:values/Thing:1.0 in an any",
            any -> ThingHelper.insert(any, new AThing("in an any")));
        any(orb, there, "any of recursive value", "29:IDL:values/Node:1.0 0(1(#0))",
            any -> NodeHelper.insert(any, ring(2)));
    }
}
