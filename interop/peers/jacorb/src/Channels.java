// JacORB's event channel and its factory of notification channels, served.

import java.util.Properties;
import org.jacorb.events.EventChannelImpl;
import org.jacorb.notification.AbstractChannelFactory;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

final class Channels {
    private Channels() {}

    /** Prints references to both, and that they are served. */
    static void serve(ORB orb) throws Exception {
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        root.the_POAManager().activate();
        System.out.println("events " + orb.object_to_string(new EventChannelImpl(orb, root)._this(orb)));
        System.out.println("notifications " + AbstractChannelFactory.newFactory(new Properties()).getIOR());
        System.out.println("ready");
    }
}
