"""Protobuf between regions. `v1` is generated from `proto/`; `frames` and `administration` translate."""
