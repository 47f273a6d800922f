// Values in words. Text is given as hexadecimal code points, floating point as bits.

import java.math.BigDecimal;
import java.util.function.Function;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.SystemException;
import params.*;

final class Words {
    private Words() {}

    static String bits(double v) {
        return String.format("%016x", Double.doubleToRawLongBits(v));
    }

    static String hex(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints().forEach(point -> out.append(String.format("%02x,", point)));
        return out.toString();
    }

    static String hex(char c) {
        return String.format("%02x", (int) c);
    }

    static String say(BigDecimal v) {
        return v.toPlainString();
    }

    static String say(Colour v) {
        return switch (v.value()) {
            case Colour._red -> "red";
            case Colour._green -> "green";
            case Colour._blue -> "blue";
            default -> "?";
        };
    }

    static String say(Numbers v) {
        return "b=" + (v.b ? 1 : 0) + " o=" + (v.o & 0xff) + " s=" + v.s
            + " us=" + Short.toUnsignedInt(v.us) + " l=" + v.l
            + " ul=" + Integer.toUnsignedString(v.ul) + " ll=" + v.ll
            + " ull=" + Long.toUnsignedString(v.ull)
            + String.format(" f=%08x d=", Float.floatToRawIntBits(v.f)) + bits(v.d);
    }

    static String say(Point v) {
        return "(" + (v.kind & 0xff) + " " + bits(v.x) + " " + hex(v.mark) + " " + v.y + ")";
    }

    static String say(Person v) {
        return "(" + hex(v.name) + " " + hex(v.label) + " " + say(v.favourite) + ")";
    }

    static String say(Line v) {
        return say(v.origin) + say(v.goal) + say(v.owner);
    }

    static String say(Tree v) {
        return hex(v.label) + "[" + all(v.branches, Words::say, "") + "]";
    }

    static String say(int[] v) {
        StringBuilder out = new StringBuilder();
        for (int number : v) out.append(number).append(',');
        return out.toString();
    }

    static String say(int[][] v) {
        return all(v, Words::say, "");
    }

    static <T> String all(T[] values, Function<T, String> words, String end) {
        StringBuilder out = new StringBuilder();
        for (T value : values) out.append(words.apply(value)).append(end);
        return out.toString();
    }

    static String say(ByShort v) {
        return v.discriminator() + switch (v.discriminator()) {
            case -1 -> ":minus=" + v.minus();
            case 0, 1 -> ":few=" + hex(v.few());
            case 100 -> ":many=" + say(v.many());
            default -> ":";
        };
    }

    static String say(ByUShort v) {
        String which = Integer.toString(Short.toUnsignedInt(v.discriminator()));
        return which + (v.discriminator() == -1 ? ":most=" + (v.most() & 0xff) : ":other=" + hex(v.other()));
    }

    static String say(ByLong v) {
        boolean one = v.discriminator() == 1;
        return v.discriminator() + (one ? ":one=" + bits(v.one()) : ":rest=" + hex(v.rest()));
    }

    static String say(ByULong v) {
        return Integer.toUnsignedString(v.discriminator()) + switch (v.discriminator()) {
            case -1 -> ":large=" + say(v.large());
            case 0 -> ":list=" + say(v.list());
            default -> ":";
        };
    }

    static String say(ByLongLong v) {
        if (v.discriminator() == -5) return "-5:d=" + bits(v.d());
        if (v.discriminator() == 5) return String.format("5:f=%08x", Float.floatToRawIntBits(v.f()));
        return v.discriminator() + ":";
    }

    static String say(ByULongLong v) {
        String which = Long.toUnsignedString(v.discriminator());
        return which + (v.discriminator() == -1 ? ":b=" + (v.b() ? 1 : 0) : ":s=" + v.s());
    }

    static String say(ByBoolean v) {
        return v.discriminator() ? "1:yes=" + v.yes() : "0:no=" + hex(v.no());
    }

    static String say(ByHalf v) {
        return v.discriminator() ? "1:yes=" + v.yes() : "0:";
    }

    static String say(ByChar v) {
        return v.discriminator() + switch (v.discriminator()) {
            case 'a' -> ":a=" + v.a();
            case 'b', 'c' -> ":b=" + hex(v.b());
            default -> ":rest=" + (v.rest() & 0xff);
        };
    }

    static String say(ByColour v) {
        boolean owner = v.discriminator().value() == Colour._red;
        return say(v.discriminator())
            + (owner ? ":owner=" + say(v.owner()) : ":others=" + all(v.others(), Words::say, ","));
    }

    /** A system exception, as the other peers put it. */
    static String say(SystemException exception) {
        String[] completed = {"YES", "NO", "MAYBE"};
        return exception.getClass().getSimpleName()
            + String.format(" minor 0x%x completed ", exception.minor)
            + completed[exception.completed.value()];
    }

    /** The system exception of that name. */
    static SystemException exception(String kind, int minor, int completed) {
        try {
            return (SystemException) Class.forName("org.omg.CORBA." + kind)
                .getConstructor(int.class, CompletionStatus.class)
                .newInstance(minor, CompletionStatus.from_int(completed));
        } catch (ReflectiveOperationException unknown) {
            return new org.omg.CORBA.BAD_PARAM(unknown.toString());
        }
    }
}
