// What JacORB asks of RMI-IIOP about values: see Util.

package javax.rmi.CORBA;

public interface ValueHandler {
    void writeValue(org.omg.CORBA.portable.OutputStream out, java.io.Serializable value);
    java.io.Serializable readValue(
        org.omg.CORBA.portable.InputStream in, int offset, Class<?> type, String id,
        org.omg.SendingContext.RunTime sender);
    String getRMIRepositoryID(Class<?> type);
    boolean isCustomMarshaled(Class<?> type);
    org.omg.SendingContext.RunTime getRunTimeCodeBase();
    java.io.Serializable writeReplace(java.io.Serializable value);
}
