"""Protobuf between regions. `v1` is generated from `proto/`.

- `frames`: frames of a stream to bytes and back, chunks without a copy; `frame_encoders`, `frame_decoders`: the others
- `compression`: zstd for chunks; `parts`: frames that are longer than their receiver's messages
- `administration`: commands; `replies`: their answers, with `recorded`
- `limits`: how long the parts of both may be
"""
