// A JacORB peer: `Main serve TARGET`, `Main visit BANK`, `Main offer`, `Main exchange EXCHANGE`, `Main ask DESCRIBE`,
// `Main answer`, `Main send CLERK HANDLER`, `Main ask-later CLERK`, `Main hurry DESCRIBE`,
// `Main join-group URL`, `Main tell-group URL replies|none`, `Main desk`, `Main tell HANDLER`, `Main channels`, `Main events CHANNEL`, `Main notifications FACTORY CONSTRAINTS`,
// `Main survive-events CHANNEL kept|lost`, `Main survive-notifications FACTORY` or
// `Main call PARAMETERS DESCRIBE WHOLE FORWARDER UNKNOWN CUBIT narrow|wide latin-1|utf-8`, with options of the
// ORB as system properties. `hooked-serve` and `hooked-ask` have interceptors (`Hooks`); `notify` and `listen SUBJECT` are
// `bidirectional-notify` and `bidirectional-listen SUBJECT` where they use one connection both ways.

import java.io.IOException;
import java.util.Arrays;
import java.util.Properties;
import org.omg.CORBA.ORB;

public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        int status = 1;
        try {
            status = run(arguments);
        } catch (Throwable thrown) {
            // Errors too, which would end the process without a word.
            thrown.printStackTrace();
        } finally {
            System.out.flush();
            // Not by the ORB's own shutdown, which may wait for connections.
            Runtime.getRuntime().halt(status);
        }
    }

    private static int run(String[] arguments) throws Exception {
        Properties properties = new Properties();
        properties.put("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.put("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        String role = arguments.length > 0 ? arguments[0] : "";
        if (role.startsWith("hooked-")) {
            properties.put("org.omg.PortableInterceptor.ORBInitializerClass.Hooks", "");
            role = role.substring("hooked-".length());
        }
        boolean both = role.startsWith("bidirectional-");
        if (both) {
            properties.put("org.omg.PortableInterceptor.ORBInitializerClass.bidir_init",
                "org.jacorb.orb.giop.BiDirConnectionInitializer");
            role = role.substring("bidirectional-".length());
        }
        if (role.startsWith("survive-")) {
            // Otherwise it tries again for seconds where nobody listens.
            properties.put("jacorb.retries", "0");
        }
        if (role.endsWith("-group")) {
            properties.put("jacorb.transport.factories",
                "org.jacorb.orb.iiop.IIOPFactories,org.jacorb.orb.miop.MIOPFactories");
            properties.put("jacorb.transport.client.selector", "org.jacorb.orb.miop.MIOPProfileSelector");
        }
        if (role.equals("channels")) {
            // Milliseconds, so that suppliers are pulled from often; spelled so.
            System.setProperty("jacorb.notification.supplier.poll_intervall", "10");
        }
        ORB orb = ORB.init(new String[0], properties);
        String[] rest = Arrays.copyOfRange(arguments, Math.min(1, arguments.length), arguments.length);
        if (role.equals("serve") && rest.length == 1) {
            Server.serve(orb, rest[0]);
            untilInputEnds();
            return 0;
        }
        if (role.equals("visit") && rest.length == 1) return Accounts.visit(orb, rest[0]);
        if (role.equals("offer") && rest.length == 0) {
            Exchanges.offer(orb);
            untilInputEnds();
            return 0;
        }
        if (role.equals("answer") && rest.length == 0) {
            Asynchronous.answer(orb);
            untilInputEnds();
            return 0;
        }
        if (role.equals("ask-later") && rest.length == 1) {
            endWithInput();
            return Later.ask(orb, rest[0]);
        }
        if (role.equals("hurry") && rest.length == 1) {
            endWithInput();
            return Quality.hurry(orb, rest[0]);
        }
        if (role.equals("desk") && rest.length == 0) {
            Desks.serve(orb);
            untilInputEnds();
            return 0;
        }
        if (role.equals("tell") && rest.length == 1) {
            endWithInput();
            return Desks.tell(orb, rest[0]);
        }
        if (role.equals("notify") && rest.length == 0) {
            Callbacks.notify(orb, both);
            untilInputEnds();
            return 0;
        }
        if (role.equals("listen") && rest.length == 1) {
            int status = Callbacks.listen(orb, rest[0], both);
            untilInputEnds();
            return status;
        }
        if (role.equals("send") && rest.length == 2) {
            return Asynchronous.send(orb, rest[0]);
        }
        if (role.equals("exchange") && rest.length == 1) {
            endWithInput();
            return Exchanges.exchange(orb, rest[0]);
        }
        if (role.equals("join-group") && rest.length == 1) {
            Groups.listen(orb, rest[0]);
            untilInputEnds();
            return 0;
        }
        if (role.equals("tell-group") && rest.length == 2) {
            return Groups.tell(orb, rest[0], rest[1]);
        }
        if (role.equals("channels") && rest.length == 0) {
            Channels.serve(orb);
            untilInputEnds();
            return 0;
        }
        if (role.equals("events") && rest.length == 1) {
            endWithInput();
            return EventClients.call(orb, rest[0]);
        }
        if (role.equals("notifications") && rest.length == 2) {
            endWithInput();
            return Notifications.call(orb, rest[0], rest[1]);
        }
        if (role.equals("survive-events") && rest.length == 2) {
            return Survivors.ofEvents(orb, rest[0], rest[1].equals("kept"));
        }
        if (role.equals("survive-notifications") && rest.length == 1) return Survivors.ofNotifications(orb, rest[0]);
        if (role.equals("ask") && rest.length == 1) return Client.ask(orb, rest[0]);
        if (role.equals("call") && rest.length == 8) {
            endWithInput();
            return Client.call(orb, rest);
        }
        System.err.println("see the top of Main.java for the arguments");
        return 2;
    }

    private static void untilInputEnds() throws IOException {
        while (System.in.read() >= 0) {
            // What is written there has no meaning.
        }
    }

    /** It does not outlive who started it. */
    private static void endWithInput() {
        Thread watch = new Thread(() -> {
            try {
                untilInputEnds();
            } catch (IOException gone) {
                // As good as its end.
            }
            Runtime.getRuntime().halt(3);
        }, "end of input");
        watch.setDaemon(true);
        watch.start();
    }
}
