// What arrives at objects of this process, from any thread.

import java.util.ArrayList;
import java.util.List;

final class Arrivals<T> {
    private static final long LIMIT_MS = 30_000;

    private final List<T> all = new ArrayList<>();

    synchronized void add(T one) {
        all.add(one);
        notifyAll();
    }

    /** The first ones, as soon as there are so many. */
    synchronized List<T> first(int count) throws InterruptedException {
        long end = System.nanoTime() + LIMIT_MS * 1_000_000;
        while (all.size() < count) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) throw new AssertionError("only " + all + " came, not " + count);
            wait(left);
        }
        return new ArrayList<>(all.subList(0, count));
    }

    /** Takes the first one away, as soon as there is one. */
    synchronized T take() {
        try {
            first(1);
        } catch (InterruptedException interrupted) {
            throw new org.omg.CORBA.TRANSIENT();
        }
        return all.remove(0);
    }

    /** Takes the first one away, if there is one. */
    synchronized T poll() {
        return all.isEmpty() ? null : all.remove(0);
    }

    synchronized int size() {
        return all.size();
    }
}
