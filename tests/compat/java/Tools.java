import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs Kafka's tools one after another in one process, for starting one takes longer than what it does.
 *
 * A line of words with tabs between them names a main class and its arguments; the answer is a line with the exit code
 * and a number of bytes, and then so many bytes that it printed.
 */
class Tools {
    /** What a tool ends with instead of the process. Some catch it and end once more: the first time counts. */
    static class Ended extends Error {
        Ended() {
            super(null, null, false, false);
        }
    }

    /** Scala and log4j keep the stream that they find first, so it is always this one. */
    static class Printed extends OutputStream {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private int code;
        private boolean isOver;

        @Override
        public synchronized void write(int one) {
            if (!isOver) {
                bytes.write(one);
            }
        }

        @Override
        public synchronized void write(byte[] some, int from, int count) {
            if (!isOver) {
                bytes.write(some, from, count);
            }
        }

        synchronized void end(int with) {
            if (!isOver) {
                code = with;
                isOver = true;
            }
        }

        synchronized void answer(PrintStream answers) throws IOException {
            answers.println(code + " " + bytes.size());
            bytes.writeTo(answers);
            answers.flush();
            bytes.reset();
            isOver = false;
        }
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        Printed printed = new Printed();
        PrintStream stream = new PrintStream(printed, true, StandardCharsets.UTF_8);
        System.setOut(stream);
        System.setErr(stream);
        Exit.Procedure end = (code, message) -> {
            if (message != null) {
                stream.println(message);
            }
            stream.flush();
            printed.end(code);
            throw new Ended();
        };
        Exit.setExitProcedure(end);
        Exit.setHaltProcedure(end);
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            int code = run(line.split("\t", -1));
            stream.flush();
            printed.end(code);
            printed.answer(answers);
        }
    }

    static int run(String[] words) {
        try {
            Object arguments = Arrays.copyOfRange(words, 1, words.length);
            Class.forName(words[0]).getMethod("main", String[].class).invoke(null, arguments);
            return 0;
        } catch (InvocationTargetException thrown) {
            thrown.getCause().printStackTrace();
            return 70;
        } catch (ReflectiveOperationException missing) {
            missing.printStackTrace();
            return 71;
        }
    }
}
