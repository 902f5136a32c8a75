"""Configuration keys and values.

- `config_keys`: the keys of topics and the brokers' dynamic keys, with types, defaults and ranges
- `configs`: which value is in force, and where it was set (KIP-226); `broker_configs`: a broker's own keys
"""
