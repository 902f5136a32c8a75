import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.server.config.AbstractKafkaConfig;

/** Prints Kafka's broker keys: name, type and default of each. */
public class BrokerKeys {
    public static void main(String[] words) {
        Map<String, ConfigDef.ConfigKey> keys = new TreeMap<>(AbstractKafkaConfig.CONFIG_DEF.configKeys());
        keys.forEach((name, key) -> System.out.println(name + " " + key.type + " " + shown(key)));
    }

    private static String shown(ConfigDef.ConfigKey key) {
        if (key.defaultValue == ConfigDef.NO_DEFAULT_VALUE) return "<required>";
        return key.defaultValue == null ? "<null>" : ConfigDef.convertToString(key.defaultValue, key.type);
    }
}
