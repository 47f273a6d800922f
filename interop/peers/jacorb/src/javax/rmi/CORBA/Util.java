// JacORB asks RMI-IIOP, which Java lost with version 11, for the repository id that a value's class would
// have there, and makes no use of the answer for valuetypes of IDL.

package javax.rmi.CORBA;

public final class Util {
    private Util() {}

    public static ValueHandler createValueHandler() { return new Handler(); }

    public static String getCodebase(Class<?> type) { return null; }

    public static Class<?> loadClass(String name, String codebase, ClassLoader loader)
            throws ClassNotFoundException {
        return Class.forName(name, true, loader != null ? loader : Util.class.getClassLoader());
    }

    private static final class Handler implements ValueHandler {
        @Override public void writeValue(
                org.omg.CORBA.portable.OutputStream out, java.io.Serializable value) {
            throw new org.omg.CORBA.NO_IMPLEMENT();
        }

        @Override public java.io.Serializable readValue(
                org.omg.CORBA.portable.InputStream in, int offset, Class<?> type, String id,
                org.omg.SendingContext.RunTime sender) {
            throw new org.omg.CORBA.NO_IMPLEMENT();
        }

        @Override public String getRMIRepositoryID(Class<?> type) {
            return "RMI:" + type.getName() + ":0000000000000000";
        }

        @Override public boolean isCustomMarshaled(Class<?> type) { return false; }
        @Override public org.omg.SendingContext.RunTime getRunTimeCodeBase() { return null; }
        @Override public java.io.Serializable writeReplace(java.io.Serializable value) { return value; }
    }
}
