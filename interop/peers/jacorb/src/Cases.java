// Cases: a line `ok CASE` or `FAIL CASE: why` for each.

import java.io.IOException;
import org.omg.CORBA.SystemException;

final class Cases {
    private static int failures;

    private Cases() {}

    /** What is tried. */
    interface Body {
        void run() throws Exception;
    }

    static void test(String name, Body body) {
        String why = null;
        try {
            body.run();
        } catch (AssertionError wrong) {
            why = wrong.getMessage();
        } catch (SystemException exception) {
            why = Words.say(exception) + " " + exception.getMessage();
        } catch (Exception exception) {
            why = exception.toString();
        }
        if (why == null) {
            System.out.println("ok " + name);
        } else {
            ++failures;
            System.out.println("FAIL " + name + ": " + why.replace('\n', ' '));
        }
    }

    /** The last line, and the status of the process. */
    static int done() {
        System.out.println("done");
        return failures == 0 ? 0 : 1;
    }

    /** Has the server take its next step, such as to stop or to start again: a line `restart`, answered by one on standard input. */
    static void nextStep() throws IOException {
        System.out.println("restart");
        int octet;
        do {
            octet = System.in.read();
            if (octet < 0) throw new IOException("nobody has answered");
        } while (octet != '\n');
    }

    static void hold(boolean condition, String what) {
        if (!condition) throw new AssertionError(what);
    }

    static void same(Object got, Object expected) {
        if (!expected.equals(got)) {
            throw new AssertionError("got `" + got + "` instead of `" + expected + "`");
        }
    }

    /** The body raises that exception. */
    static <E extends Throwable> E raises(Class<E> expected, Body body) {
        try {
            body.run();
        } catch (Exception exception) {
            if (expected.isInstance(exception)) return expected.cast(exception);
            throw new AssertionError(exception + " instead of " + expected.getSimpleName());
        }
        throw new AssertionError(expected.getSimpleName() + " was not raised");
    }
}
