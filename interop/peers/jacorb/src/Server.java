// The server: a relay of `params.Parameters`, objects of its own, and one that forwards.

import bench.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jacorb.orb.Forwarder;
import org.omg.CORBA.ORB;
import org.omg.CORBA.ServerRequest;
import org.omg.PortableServer.DynamicImplementation;
import org.omg.PortableServer.ForwardRequest;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import params.*;

final class Server {
    private Server() {}

    /** Announces its objects, and serves as long as the process lives. */
    static void serve(ORB orb, String target) throws Exception {
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        Parameters parameters = ParametersHelper.unchecked_narrow(orb.string_to_object(target));
        // A stub has the very methods that a tie delegates to.
        announce(orb, "parameters", root.servant_to_reference(new ParametersPOATie(parameters)));
        announce(orb, "cubit", root.servant_to_reference(new Cubed()));
        org.omg.CORBA.Object known = describe(root);
        announce(orb, "describe", known);
        announce(orb, "forwarder", forwarder(root, known));
        announce(orb, "well-known", known);
        org.omg.CORBA.Object gone = describe(root);
        announce(orb, "unknown", gone);
        root.deactivate_object(root.reference_to_id(gone));
        root.the_POAManager().activate();
        System.out.println("ready");
    }

    private static org.omg.CORBA.Object describe(POA poa) throws Exception {
        Says servant = new Says();
        org.omg.CORBA.Object reference = poa.servant_to_reference(servant);
        servant.myself = DescribeHelper.unchecked_narrow(reference);
        return reference;
    }

    private static void announce(ORB orb, String what, org.omg.CORBA.Object object) {
        // A key that a corbaloc can name is a part of this ORB's configuration, not of its POA.
        if (what.equals("well-known")) {
            ((org.jacorb.orb.ORB) orb).addObjectKey(what, orb.object_to_string(object));
        } else {
            System.out.println(what + " " + orb.object_to_string(object));
        }
    }

    private static org.omg.CORBA.Object forwarder(POA root, org.omg.CORBA.Object to) throws Exception {
        return root.servant_to_reference(new Forwarding(to));
    }

    /**
     * Sends every caller elsewhere. Not by a servant manager: a ForwardRequest of one ends this ORB's
     * thread, which then sets up a servant that there is not.
     */
    private static final class Forwarding extends DynamicImplementation implements Forwarder {
        private final org.omg.CORBA.Object to;

        Forwarding(org.omg.CORBA.Object to) {
            this.to = to;
        }

        @Override
        public void invoke(ServerRequest request) {
            ((org.jacorb.orb.dsi.ServerRequest) request).setLocationForward(new ForwardRequest(to));
        }

        @Override
        public String[] _all_interfaces(POA poa, byte[] id) {
            return new String[] {DescribeHelper.id()};
        }
    }

    /** Natively implemented, so that this ORB's reading of the wire shows. */
    private static final class Says extends DescribePOA {
        private final AtomicInteger posted = new AtomicInteger();
        private volatile Describe myself;

        @Override public String name() { return "JacORB"; }

        @Override public String greet(String who) throws Refused {
            if (who.isEmpty()) throw new Refused("nobody");
            return "hello, " + who;
        }

        @Override public String say_numbers(Numbers v) { return Words.say(v); }
        @Override public String say_longdouble(double v) { return Double.toString(v); }

        @Override public String say_text(char c, String s, String t) {
            return Words.hex(c) + " " + Words.hex(s) + " " + Words.hex(t);
        }

        @Override public String say_wide(char c, String s, String t) {
            return Words.hex(String.valueOf(c)) + " " + Words.hex(s) + " " + Words.hex(t);
        }

        @Override public String say_decimals(
            java.math.BigDecimal a, java.math.BigDecimal b, java.math.BigDecimal c) {
            return Words.say(a) + " " + Words.say(b) + " " + Words.say(c);
        }

        @Override public String say_shapes(Line l, Tree t, int[][] m, String[] w, int[][] r) {
            return Words.say(l) + " " + Words.say(t) + " " + Words.say(m) + " " + Words.hex(w[0]) + "|"
                + Words.hex(w[1]) + " " + Words.all(r, Words::say, "|");
        }

        @Override public String say_by_short(ByShort v) { return Words.say(v); }
        @Override public String say_by_ushort(ByUShort v) { return Words.say(v); }
        @Override public String say_by_long(ByLong v) { return Words.say(v); }
        @Override public String say_by_ulong(ByULong v) { return Words.say(v); }
        @Override public String say_by_longlong(ByLongLong v) { return Words.say(v); }
        @Override public String say_by_ulonglong(ByULongLong v) { return Words.say(v); }
        @Override public String say_by_boolean(ByBoolean v) { return Words.say(v); }
        @Override public String say_by_half(ByHalf v) { return Words.say(v); }
        @Override public String say_by_char(ByChar v) { return Words.say(v); }
        @Override public String say_by_colour(ByColour v) { return Words.say(v); }

        @Override public byte[] invert(byte[] v) {
            byte[] inverted = new byte[v.length];
            for (int i = 0; i < v.length; ++i) inverted[i] = (byte) ~v[i];
            return inverted;
        }

        @Override public int fail(int how) throws Detailed, Empty {
            if (how == 1) throw new Empty();
            if (how == 2) {
                Point where = new Point((byte) 7, -0.5, 'm', (short) -3);
                throw new Detailed(-2, "gr\u00fc\u00df", where, new String[] {"one", ""});
            }
            return how;
        }

        @Override public void fail_system(String kind, int minor, int completed) {
            throw Words.exception(kind, minor, completed);
        }

        @Override public void post(int value) { posted.addAndGet(value); }
        @Override public int posted() { return posted.get(); }
        @Override public String name_of(Named whom) { return whom == null ? "nil" : whom.name(); }
        @Override public Describe myself() { return myself; }
        @Override public org.omg.CORBA.Object nothing() { return null; }
    }

    private static final class Cubed extends CubitPOA {
        private final AtomicLong pings = new AtomicLong();

        private static int cubed(int l) throws TooLarge {
            // Beyond this the cube would overflow the wider type too.
            long wide = Math.abs((long) l) > 2097151 ? Long.MAX_VALUE : (long) l * l * l;
            if (wide != (int) wide) throw new TooLarge(l);
            return (int) wide;
        }

        @Override public void cube_void() {}
        @Override public byte cube_octet(byte o) { return (byte) (o * o * o); }
        @Override public short cube_short(short s) { return (short) (s * s * s); }
        @Override public int cube_long(int l) throws TooLarge { return cubed(l); }

        @Override public Cube cube_struct(Cube v) throws TooLarge {
            return new Cube(cube_octet(v.o), cubed(v.l), cube_short(v.s));
        }

        @Override public byte[] echo_octets(byte[] v) { return v; }
        @Override public short[] echo_shorts(short[] v) { return v; }
        @Override public int[] echo_longs(int[] v) { return v; }
        @Override public Cube[] echo_cubes(Cube[] v) { return v; }
        @Override public BinStruct[] echo_bin_structs(BinStruct[] v) { return v; }
        @Override public long echo_64(long v) { return v; }
        @Override public void take_octets(byte[] v) {}
        @Override public void take_longs(int[] v) {}
        @Override public void take_bin_structs(BinStruct[] v) {}
        @Override public void ping() { pings.incrementAndGet(); }
        @Override public void throw_octets(byte[] v) { pings.incrementAndGet(); }
        @Override public void throw_bin_structs(BinStruct[] v) { pings.incrementAndGet(); }
        @Override public long pings() { return pings.get(); }
        @Override public void shutdown() {}
    }
}
