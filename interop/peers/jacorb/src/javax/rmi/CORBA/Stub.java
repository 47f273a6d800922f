// JacORB asks of each reference whether it is a stub of RMI-IIOP, a class that Java lost with version
// 11. None is.

package javax.rmi.CORBA;

public abstract class Stub extends org.omg.CORBA_2_3.portable.ObjectImpl {}
