"""Writes a Python wheel that carries the program, as `pip` puts it on the PATH:

    wheel.py BINARY GLIBC VERSION LICENCES FOLDER

The wheel has no Python code: `refract` is the binary, and `refract-server` starts it, because uvx and pipx run the
command that is called like the package. All times in it are the same.
"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
NAME = "refract_server"
STARTER = """#!/bin/sh
exec "$(dirname -- "$(readlink -f -- "$0")")/refract" "$@"
"""
METADATA = """Metadata-Version: 2.4
Name: refract-server
Version: {version}
Summary: Answers typed questions about a text, with probabilities and a memory.
License-Expression: MIT
License-File: LICENSE
License-File: licences.txt
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}"""
WHEEL = """Wheel-Version: 1.0
Generator: refract
Root-Is-Purelib: false
Tag: {tag}
"""


def main():
    binary, glibc, version, licences, folder = sys.argv[1:]
    # 1.0.0-rc.1 is 1.0.0rc1 in Python
    version = version.replace("-rc.", "rc")
    tag = f"py3-none-manylinux_{glibc.replace('.', '_')}_x86_64"
    scripts, info = f"{NAME}-{version}.data/scripts", f"{NAME}-{version}.dist-info"
    readme = (HERE / "README.md").read_text()
    files = {
        f"{scripts}/refract": Path(binary).read_bytes(),
        f"{scripts}/refract-server": STARTER.encode(),
        f"{info}/licenses/LICENSE": (HERE.parents[2] / "LICENSE").read_bytes(),
        f"{info}/licenses/licences.txt": Path(licences).read_bytes(),
        f"{info}/WHEEL": WHEEL.format(tag=tag).encode(),
        f"{info}/METADATA": METADATA.format(version=version, readme=readme).encode(),
    }
    record = [f"{name},sha256={checksum(content)},{len(content)}\n" for name, content in files.items()]
    files[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    with zipfile.ZipFile(Path(folder) / f"{NAME}-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.startswith(scripts) else 0o100644) << 16
            wheel.writestr(entry, content)


def checksum(content):
    """As RECORD wants it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


if __name__ == "__main__":
    main()
