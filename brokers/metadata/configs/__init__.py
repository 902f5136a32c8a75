"""Configuration keys and values.

- `config_def`: types and validation (Kafka's ConfigDef); `config_keys`: the keys of topics, and brokers' dynamic keys
- `effective_configs`: effective values and where they are set (KIP-226); `broker_configs`: a broker's own keys
"""
