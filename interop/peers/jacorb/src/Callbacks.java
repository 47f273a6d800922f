// Bidirectional GIOP: a server that calls its clients back, and a client with an object for it.

import callbacks.*;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.omg.BiDirPolicy.BIDIRECTIONAL_POLICY_TYPE;
import org.omg.BiDirPolicy.BOTH;
import org.omg.BiDirPolicy.BidirectionalPolicyValueHelper;
import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import org.omg.PortableServer.Servant;

final class Callbacks {
    private static final int PUBLISHED = 50;

    private Callbacks() {}

    private static final class ASubject extends SubjectPOA {
        @Override public int tell(Listener whom, int number) { return whom.told(number); }

        @Override public void publish(Listener whom, int count) {
            Thread publisher = new Thread(() -> {
                for (int number = 1; number <= count; ++number) whom.told(number);
            }, "publisher");
            publisher.setDaemon(true);
            publisher.start();
        }
    }

    private static final class AListener extends ListenerPOA {
        final LinkedBlockingQueue<Integer> told = new LinkedBlockingQueue<>();

        @Override public int told(int number) {
            told.add(number);
            return number + 1;
        }
    }

    private static POA adapter(ORB orb, boolean both) throws Exception {
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        Policy[] policies = {};
        if (both) {
            Any value = orb.create_any();
            BidirectionalPolicyValueHelper.insert(value, BOTH.value);
            policies = new Policy[] {orb.create_policy(BIDIRECTIONAL_POLICY_TYPE.value, value)};
        }
        POA made = root.create_POA("callbacks", root.the_POAManager(), policies);
        root.the_POAManager().activate();
        return made;
    }

    private static org.omg.CORBA.Object activated(POA poa, Servant servant) throws Exception {
        return poa.id_to_reference(poa.activate_object(servant));
    }

    static void notify(ORB orb, boolean both) throws Exception {
        POA poa = adapter(orb, both);
        System.out.println("subject " + orb.object_to_string(activated(poa, new ASubject())));
        System.out.println("ready");
    }

    static int listen(ORB orb, String target, boolean both) throws Exception {
        POA poa = adapter(orb, both);
        AListener listener = new AListener();
        Listener whom = ListenerHelper.narrow(activated(poa, listener));
        Subject subject = SubjectHelper.narrow(orb.string_to_object(target));
        Cases.test("callbacks within a call", () -> {
            for (int number = 7; number < 10; ++number) {
                Cases.same(subject.tell(whom, number), number + 1);
                Cases.same(listener.told.poll(), number);
            }
        });
        Cases.test("callbacks outside of a call", () -> {
            subject.publish(whom, PUBLISHED);
            for (int number = 1; number <= PUBLISHED; ++number) {
                Cases.same(listener.told.poll(20, TimeUnit.SECONDS), number);
            }
        });
        return Cases.done();
    }
}
