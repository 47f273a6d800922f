// Reply handlers from implied IDL that is compiled as ordinary IDL: a handler that replies of the other side's calls are delivered
// to, with the desk that they come from, and a client that tells a handler what it likes.

import Implied_Messaging.ExceptionState;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.NO_PERMISSION;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.POAHelper;
import plain.*;

final class Desks {
    private Desks() {}

    /** An exception as it travels: its repository id, then its members, in either byte order. */
    private static final class State extends ExceptionState {
        State() {}

        /** In little-endian order. */
        State(boolean isSystem, String id) {
            is_system_exception = isSystem;
            byte_order = true;
            marshaled_exception = new byte[0];
            put(id);
        }

        void put(int number) {
            int at = (marshaled_exception.length + 3) / 4 * 4;
            marshaled_exception = Arrays.copyOf(marshaled_exception, at + 4);
            ByteBuffer.wrap(marshaled_exception).order(ByteOrder.LITTLE_ENDIAN).putInt(at, number);
        }

        void put(String text) {
            byte[] octets = (text + "\0").getBytes(StandardCharsets.US_ASCII);
            put(octets.length);
            int at = marshaled_exception.length;
            marshaled_exception = Arrays.copyOf(marshaled_exception, at + octets.length);
            System.arraycopy(octets, 0, marshaled_exception, at, octets.length);
        }

        private static int number(ByteBuffer octets) {
            octets.position((octets.position() + 3) / 4 * 4);
            return octets.getInt();
        }

        private static String text(ByteBuffer octets) {
            byte[] text = new byte[number(octets)];
            octets.get(text);
            return new String(text, 0, text.length - 1, StandardCharsets.US_ASCII);
        }

        String words() {
            ByteBuffer octets = ByteBuffer.wrap(marshaled_exception);
            octets.order(byte_order ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
            String id = text(octets);
            if (is_system_exception) return id + " " + number(octets);
            return id.equals("IDL:plain/Refused:1.0") ? "Refused " + text(octets) : id;
        }
    }

    private static final class AHandler extends AMI_DeskHandlerPOA {
        private void tell(String what) {
            System.out.println("told " + what);
            System.out.flush();
        }

        private void excep(String what, ExceptionState holder) {
            tell(what + " " + (holder == null ? "nil" : ((State) holder).words()));
        }

        @Override public void get_rate(int value) { tell("get_rate " + value); }
        @Override public void get_rate_excep(ExceptionState holder) { excep("get_rate", holder); }
        @Override public void set_rate() { tell("set_rate"); }
        @Override public void set_rate_excep(ExceptionState holder) { excep("set_rate", holder); }
        @Override public void half(int value) { tell("half " + value); }
        @Override public void half_excep(ExceptionState holder) { excep("half", holder); }
    }

    private static final class ADesk extends DeskPOA {
        private volatile int rate;
        @Override public int rate() { return rate; }
        @Override public void rate(int value) { rate = value; }
        @Override public int half(int number) throws Refused {
            if (number < 0) throw new NO_PERMISSION(5, CompletionStatus.COMPLETED_NO);
            if (number % 2 != 0) throw new Refused(number + " is odd");
            return number / 2;
        }
    }

    static void serve(ORB orb) throws Exception {
        ((org.omg.CORBA_2_3.ORB) orb).register_value_factory(
            "IDL:omg.org/Messaging/ExceptionHolder:1.0",
            in -> ((org.omg.CORBA_2_3.portable.InputStream) in).read_value(new State()));
        System.out.println("desk " + orb.object_to_string(new ADesk()._this(orb)));
        System.out.println("handler " + orb.object_to_string(new AHandler()._this(orb)));
        POAHelper.narrow(orb.resolve_initial_references("RootPOA")).the_POAManager().activate();
        System.out.println("ready");
    }

    static int tell(ORB orb, String target) {
        AMI_DeskHandler handler = AMI_DeskHandlerHelper.narrow(orb.string_to_object(target));
        Cases.test("results to a handler", () -> {
            handler.half(21);
            handler.set_rate();
            handler.get_rate(9);
        });
        Cases.test("exceptions to a handler", () -> {
            State refused = new State(false, "IDL:plain/Refused:1.0");
            refused.put("7 is odd");
            handler.half_excep(refused);
            State system = new State(true, "IDL:omg.org/CORBA/NO_PERMISSION:1.0");
            system.put(5);
            system.put(CompletionStatus._COMPLETED_NO);
            handler.get_rate_excep(system);
        });
        return Cases.done();
    }
}
