// Policies of Messaging, which the other side sees in the captured bytes.

import org.jacorb.orb.policies.RelativeRoundtripTimeoutPolicy;
import org.jacorb.orb.policies.RequestEndTimePolicy;
import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.CORBA.SetOverrideType;
import org.omg.Messaging.SYNC_NONE;
import org.omg.Messaging.SYNC_SCOPE_POLICY_TYPE;
import org.omg.Messaging.SYNC_WITH_SERVER;
import org.omg.Messaging.SYNC_WITH_TARGET;
import org.omg.Messaging.SYNC_WITH_TRANSPORT;
import org.omg.TimeBase.UtcT;
import params.Describe;
import params.DescribeHelper;

final class Quality {
    /** The second 4,000,000,000 after the beginning of 1970, in tenths of a microsecond after that of 15 October 1582. */
    private static final long END = 162_192_928_000_000_000L;
    private static final long A_MINUTE = 600_000_000L;

    private Quality() {}

    private static Describe under(Describe describe, Policy policy) {
        return DescribeHelper.unchecked_narrow(
            describe._set_policy_override(new Policy[] {policy}, SetOverrideType.ADD_OVERRIDE));
    }

    static int hurry(ORB orb, String reference) {
        Describe describe = DescribeHelper.unchecked_narrow(orb.string_to_object(reference));
        int before = describe.posted();
        Cases.test("one-ways with each SyncScope", () -> {
            int posted = before;
            for (short scope : new short[] {
                SYNC_NONE.value, SYNC_WITH_TRANSPORT.value, SYNC_WITH_SERVER.value, SYNC_WITH_TARGET.value}) {
                Any value = orb.create_any();
                value.insert_short(scope);
                under(describe, orb.create_policy(SYNC_SCOPE_POLICY_TYPE.value, value)).post(scope + 1);
                posted += scope + 1;
                // This ORB sends under SYNC_NONE by a thread of its own, so that the call behind may overtake it.
                for (int tries = 0; tries < 2000 && describe.posted() != posted; ++tries) Thread.sleep(5);
                Cases.same(describe.posted(), posted);
            }
        });
        Cases.test("calls with end times", () -> {
            UtcT end = new UtcT(END, 0, (short) 0, (short) 0);
            Cases.same(under(describe, new RequestEndTimePolicy(end)).name(), "Punctual");
            Cases.same(under(describe, new RelativeRoundtripTimeoutPolicy(A_MINUTE)).name(), "Punctual");
        });
        return Cases.done();
    }
}
