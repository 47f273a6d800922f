// Asynchronous calls: a server of `ami.Clerk` with a reply handler, and a client of one. What their handlers are told is a
// line `told WHAT`.

import ami.*;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.ORB;
import org.omg.Messaging.ExceptionHolder;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

final class Asynchronous {
    private Asynchronous() {}

    private static final class AClerk extends ClerkPOA {
        private volatile int rate;
        @Override public int rate() { return rate; }
        @Override public void rate(int value) { rate = value; }
        @Override public int add(int a, int b) { return a + b; }
        @Override public String copies(String text, IntHolder number, BooleanHolder many) throws Refused {
            int times = number.value;
            if (times == 0) throw new Refused("no copies of " + text);
            number.value = 0;
            many.value = times > 1;
            return text.repeat(times);
        }
    }

    /** Hands on what it is told, as words. */
    static class AHandler extends AMI_ClerkHandlerPOA {
        final LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();

        void tell(String what) { told.add(what); }

        private void excep(String what, ExceptionHolder holder) {
            try {
                holder.raise_exception();
                tell(what + " raised nothing");
            } catch (Refused refused) {
                tell(what + " Refused " + refused.why);
            } catch (org.omg.CORBA.UserException other) {
                tell(what + " " + other);
            } catch (org.omg.CORBA.SystemException exception) {
                tell(what + " " + exception.getClass().getSimpleName());
            }
        }

        @Override public void _get_rate(int value) { tell("get_rate " + value); }
        @Override public void _get_rate_excep(ExceptionHolder holder) { excep("get_rate", holder); }
        @Override public void _set_rate() { tell("set_rate"); }
        @Override public void _set_rate_excep(ExceptionHolder holder) { excep("set_rate", holder); }
        @Override public void add(int sum) { tell("add " + sum); }
        @Override public void add_excep(ExceptionHolder holder) { excep("add", holder); }
        @Override public void copies(String text, int number, boolean many) {
            tell("copies " + text + " " + number + " " + many);
        }
        @Override public void copies_excep(ExceptionHolder holder) { excep("copies", holder); }

        String next() throws InterruptedException {
            String what = told.poll(20, TimeUnit.SECONDS);
            return what == null ? "nothing" : what;
        }
    }

    /** Prints what it is told. */
    private static final class APrinter extends AHandler {
        @Override void tell(String what) {
            System.out.println("told " + what);
            System.out.flush();
        }
    }

    /**
     * Has exceptions for handlers read. JacORB registers a factory of its own for them when it makes its first asynchronous
     * call; a process that has a handler and makes none needs this.
     */
    private static void readsExceptionHolders(ORB orb) {
        ((org.omg.CORBA_2_3.ORB) orb).register_value_factory(
            "IDL:omg.org/Messaging/ExceptionHolder:1.0",
            in -> ((org.omg.CORBA_2_3.portable.InputStream) in).read_value(
                new org.jacorb.orb.ExceptionHolderImpl((org.jacorb.orb.ORB) orb)));
    }

    static void answer(ORB orb) throws Exception {
        readsExceptionHolders(orb);
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        System.out.println("clerk " + orb.object_to_string(new AClerk()._this(orb)));
        System.out.println("handler " + orb.object_to_string(new APrinter()._this(orb)));
        root.the_POAManager().activate();
        System.out.println("ready");
    }

    static int send(ORB orb, String target) throws Exception {
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        root.the_POAManager().activate();
        _ClerkStub clerk = (_ClerkStub) ClerkHelper.narrow(orb.string_to_object(target));
        AHandler handler = new AHandler();
        AMI_ClerkHandler own = handler._this(orb);
        Cases.test("results, to the caller's handler", () -> {
            clerk.sendc_add(own, 40, 2);
            Cases.same(handler.next(), "add 42");
            clerk.sendc_copies(own, "ab", 3);
            Cases.same(handler.next(), "copies ababab 0 true");
        });
        Cases.test("an exception, to the caller's handler", () -> {
            clerk.sendc_copies(own, "ab", 0);
            Cases.same(handler.next(), "copies Refused no copies of ab");
        });
        Cases.test("attributes, to the caller's handler", () -> {
            clerk.sendc_set_rate(own, 7);
            Cases.same(handler.next(), "set_rate");
            clerk.sendc_get_rate(own);
            Cases.same(handler.next(), "get_rate 7");
        });
        // JacORB calls no handler of another process.
        return Cases.done();
    }
}
