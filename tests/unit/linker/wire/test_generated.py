"""What is committed is what the sources in `proto/` say."""

from pathlib import Path

import grpc_tools
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[4]
SOURCES = sorted((ROOT / "proto").rglob("*.proto"))


def test_generated_code_is_up_to_date(tmp_path: Path) -> None:
    included = Path(grpc_tools.__file__).parent / "_proto"
    status = protoc.main(
        [
            "protoc",
            f"-I{ROOT / 'proto'}",
            f"-I{included}",
            f"--python_out={tmp_path}",
            f"--pyi_out={tmp_path}",
            f"--grpc_python_out={tmp_path}",
            *map(str, SOURCES),
        ]
    )
    assert status == 0
    fresh = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.py*")}
    assert fresh
    stale = [str(path) for path, text in fresh.items() if (ROOT / path).read_text() != text]
    assert not stale, f"generate them again (CONTRIBUTING.md): {stale}"


def test_proto_holds_sources_only() -> None:
    others = [
        path for path in (ROOT / "proto").rglob("*") if path.is_file() and path.suffix != ".proto"
    ]
    assert not others, "a package named proto would shadow proto-plus"
