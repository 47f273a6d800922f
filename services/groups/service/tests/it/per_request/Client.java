// A client of JacORB that calls `whoami` of an object a number of times, and prints the answers. Arguments: reference, number.

import java.util.Properties;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Request;
import org.omg.CORBA.TCKind;

public class Client {
  public static void main(String[] arguments) throws Exception {
    Properties properties = new Properties();
    properties.put("jacorb.dns.enable", "off");
    ORB orb = ORB.init(new String[0], properties);
    org.omg.CORBA.Object object = orb.string_to_object(arguments[0]);
    for (int left = Integer.parseInt(arguments[1]); left > 0; --left) {
      Request request = object._request("whoami");
      request.set_return_type(orb.get_primitive_tc(TCKind.tk_string));
      request.invoke();
      if (request.env().exception() != null) {
        System.out.println(request.env().exception());
        System.exit(1);
      }
      System.out.println(request.return_value().extract_string());
    }
    orb.shutdown(true);
  }
}
