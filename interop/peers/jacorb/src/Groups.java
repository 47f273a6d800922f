// A member of a multicast group, and a client of a group.

import groups.Listener;
import groups.ListenerHelper;
import groups.ListenerPOA;
import org.jacorb.orb.util.CorbaLoc;
import org.omg.CORBA.ORB;
import org.omg.PortableGroup.GOA;
import org.omg.PortableGroup.GOAHelper;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

public final class Groups {
    /** Octets of the messages that are sent: one packet, and several. */
    private static final int[] SIZES = {10, 20000};

    private Groups() {}

    /** Makes an object a member of a group, and says what it hears. */
    static void listen(ORB orb, String url) throws Exception {
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        root.the_POAManager().activate();
        Heard heard = new Heard();
        byte[] id = root.activate_object(heard);
        GOA goa = GOAHelper.narrow(root);
        goa.associate_reference_with_id(orb.string_to_object(url), id);
        System.out.println("group " + url + ";" + CorbaLoc.generateCorbaloc(orb, root.id_to_reference(id)));
        System.out.flush();
    }

    /** Sends to a group and, where its reference has an IIOP profile, asks how much was heard. */
    static int tell(ORB orb, String url, String replies) throws Exception {
        Listener group = ListenerHelper.unchecked_narrow(orb.string_to_object(url));
        for (int size : SIZES) {
            byte[] data = new byte[size];
            for (int at = 0; at < size; at++) {
                data[at] = (byte) (at % 251);
            }
            group.hear("from JacORB", data);
        }
        if (replies.equals("replies")) {
            System.out.println("count " + group.heard());
        }
        return 0;
    }

    private static final class Heard extends ListenerPOA {
        private int count;

        @Override public synchronized void hear(String text, byte[] data) {
            count++;
            boolean intact = true;
            for (int at = 0; at < data.length; at++) {
                intact &= data[at] == (byte) (at % 251);
            }
            System.out.println("heard " + text + " " + data.length + " " + intact);
            System.out.flush();
        }

        @Override public synchronized int heard() {
            return count;
        }
    }
}
