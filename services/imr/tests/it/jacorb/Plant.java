// A server of JacORB that registers with an Implementation Repository as servers of TAO do. Arguments: the repository's reference.

import java.util.Properties;
import org.omg.CORBA.BAD_OPERATION;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.InvokeHandler;
import org.omg.CORBA.portable.OutputStream;
import org.omg.CORBA.portable.ResponseHandler;
import org.omg.PortableServer.IdAssignmentPolicyValue;
import org.omg.PortableServer.LifespanPolicyValue;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import org.omg.PortableServer.Servant;

public class Plant {
  static class Works extends Servant implements InvokeHandler {
    int calls = 0;

    public String[] _all_interfaces(POA poa, byte[] id) {
      return new String[] {"IDL:Works:1.0"};
    }

    public OutputStream _invoke(String operation, InputStream in, ResponseHandler handler) {
      OutputStream out = handler.createReply();
      switch (operation) {
        case "count": out.write_long(++calls); break;
        case "process": out.write_long((int) ProcessHandle.current().pid()); break;
        default: throw new BAD_OPERATION(operation);
      }
      return out;
    }
  }

  public static void main(String[] arguments) throws Exception {
    Properties properties = new Properties();
    properties.put("jacorb.implname", "plant");
    properties.put("jacorb.use_tao_imr", "on");
    properties.put("jacorb.dns.enable", "off");
    properties.put("OAIAddr", "127.0.0.1");
    properties.put("ORBInitRef.ImplRepoService", arguments[0]);
    ORB orb = ORB.init(new String[0], properties);
    POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
    POA hall = root.create_POA("hall", root.the_POAManager(), new Policy[] {
      root.create_lifespan_policy(LifespanPolicyValue.PERSISTENT),
      root.create_id_assignment_policy(IdAssignmentPolicyValue.USER_ID)});
    hall.activate_object_with_id("works".getBytes(), new Works());
    root.the_POAManager().activate();
    orb.run();
  }
}
