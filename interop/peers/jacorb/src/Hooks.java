// Interceptors of both ends: each sends a service context, and says what the other end has made of it.

import java.nio.charset.StandardCharsets;
import org.omg.CORBA.LocalObject;
import org.omg.IOP.ServiceContext;
import org.omg.PortableInterceptor.ClientRequestInfo;
import org.omg.PortableInterceptor.ClientRequestInterceptor;
import org.omg.PortableInterceptor.ORBInitInfo;
import org.omg.PortableInterceptor.ORBInitInfoPackage.DuplicateName;
import org.omg.PortableInterceptor.ORBInitializer;
import org.omg.PortableInterceptor.ServerRequestInfo;
import org.omg.PortableInterceptor.ServerRequestInterceptor;

/** Registered by the property that the standard has for it. */
public final class Hooks extends LocalObject implements ORBInitializer {
    /** Of requests of this ORB's, and of Punctual's. */
    private static final int REQUEST = 0x4a414301, PUNCTUALS = 0x50554e98;
    /** Of replies of this ORB's, and of Punctual's. */
    private static final int REPLY = 0x4a414302, PUNCTUALS_REPLY = 0x50554e99;

    @Override public void pre_init(ORBInitInfo info) {
        try {
            info.add_client_request_interceptor(new AtClient());
            info.add_server_request_interceptor(new AtServer());
        } catch (DuplicateName name) {
            throw new IllegalStateException(name);
        }
    }

    @Override public void post_init(ORBInitInfo info) {}

    private static ServiceContext context(int id, String text) {
        return new ServiceContext(id, text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String text(ServiceContext context) {
        return new String(context.context_data, StandardCharsets.US_ASCII);
    }

    private static final class AtClient extends LocalObject implements ClientRequestInterceptor {
        @Override public String name() { return "at client"; }
        @Override public void destroy() {}

        @Override public void send_request(ClientRequestInfo info) {
            info.add_request_service_context(context(REQUEST, "from JacORB"), false);
        }

        @Override public void send_poll(ClientRequestInfo info) {}

        @Override public void receive_reply(ClientRequestInfo info) {
            System.out.println("context " + text(info.get_reply_service_context(PUNCTUALS_REPLY)));
        }

        @Override public void receive_exception(ClientRequestInfo info) {}
        @Override public void receive_other(ClientRequestInfo info) {}
    }

    private static final class AtServer extends LocalObject implements ServerRequestInterceptor {
        @Override public String name() { return "at server"; }
        @Override public void destroy() {}
        @Override public void receive_request_service_contexts(ServerRequestInfo info) {}
        @Override public void receive_request(ServerRequestInfo info) {}

        @Override public void send_reply(ServerRequestInfo info) {
            String came = text(info.get_request_service_context(PUNCTUALS));
            info.add_reply_service_context(context(REPLY, "seen " + came), false);
        }

        @Override public void send_exception(ServerRequestInfo info) {}
        @Override public void send_other(ServerRequestInfo info) {}
    }
}
